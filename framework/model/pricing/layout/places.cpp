// Problems count, not names: two layers of one shape are the same place. The heaviest rank's
// problems stand for all ranks, so that each finds its kernels under the same name.
#include "model/pricing/layout/places.hpp"

#include <array>
#include <map>
#include <optional>

#include "core/numeric/cast.hpp"
#include "core/text/digest.hpp"

namespace halmark {
namespace {

constexpr std::size_t before = 3;
constexpr std::size_t digits = 12;
constexpr std::int32_t nothing = -1;

// Problems by number: those before, nearest last, then the one behind.
using Place = std::array<std::int32_t, before + 1>;

class Places {
 public:
  Places(const OperatorGraph& graph, std::size_t stage) : graph_(graph) {
    std::map<std::string, std::int32_t> numbers;
    for (const Operator& op : graph.operators) {
      const auto [it, is_new] =
          numbers.try_emplace(op.local.text(), static_cast<std::int32_t>(texts_.size()));
      if (is_new) texts_.push_back(it->first);
      problem_.push_back(it->second);
    }
    usual_.resize(graph.operators.size());
    std::vector<std::map<Place, std::int64_t>> seen(graph.operators.size());
    visit(graph.stage_sequence(stage), [&](std::size_t op, const Place& place) {
      if (graph.operators[op].stage_counts[stage] < 2) return;
      const std::int64_t times = ++seen[op][place];
      if (!usual_[op] || times > seen[op][*usual_[op]]) usual_[op] = place;
    });
  }

  std::string hash(std::size_t op) const {
    if (!usual_[op]) return {};
    std::string text;
    for (const std::int32_t problem : *usual_[op]) {
      text += (problem == nothing ? "" : texts_[as_size(problem)]) + '\n';
    }
    return sha256_of(text).substr(0, digits);
  }

  bool keeps_usual(const std::vector<std::int32_t>& sequence) const {
    std::vector<bool> found(usual_.size(), false);
    visit(sequence, [&](std::size_t op, const Place& place) {
      found[op] = found[op] || (usual_[op] && *usual_[op] == place);
    });
    for (std::size_t op = 0; op < usual_.size(); ++op) {
      if (usual_[op] && !found[op]) return false;
    }
    return true;
  }

 private:
  template <class Visit>
  void visit(const std::vector<std::int32_t>& sequence, const Visit& each) const {
    std::vector<std::int32_t> ops;
    for (const std::int32_t type : sequence) {
      const auto& layer = graph_.layer_types[as_size(type)].operators;
      ops.insert(ops.end(), layer.begin(), layer.end());
    }
    const auto problem_at = [&](std::size_t i) {
      return i < ops.size() ? problem_[as_size(ops[i])] : nothing;
    };
    for (std::size_t i = 0; i < ops.size(); ++i) {
      Place place{};
      // Before the first there is nothing: the index wraps beyond the last.
      for (std::size_t b = 0; b < before; ++b) place[b] = problem_at(i - before + b);
      place[before] = problem_at(i + 1);
      each(as_size(ops[i]), place);
    }
  }

  const OperatorGraph& graph_;
  std::vector<std::string> texts_;
  std::vector<std::int32_t> problem_;        // by operator: index into texts_
  std::vector<std::optional<Place>> usual_;  // by operator
};

}  // namespace

std::vector<std::string> usual_neighbours(const OperatorGraph& graph, std::size_t stage) {
  const Places places(graph, stage);
  std::vector<std::string> out;
  for (std::size_t op = 0; op < graph.operators.size(); ++op) out.push_back(places.hash(op));
  return out;
}

std::vector<std::int32_t> short_sequence(const OperatorGraph& graph, std::size_t stage) {
  const Places places(graph, stage);
  const std::vector<std::int32_t> whole = graph.stage_sequence(stage);
  for (std::size_t layers = 0; layers < whole.size(); ++layers) {
    for (auto first = whole.begin(); whole.end() - first >= static_cast<std::ptrdiff_t>(layers);
         ++first) {
      std::vector<std::int32_t> kept(first, first + static_cast<std::ptrdiff_t>(layers));
      if (places.keeps_usual(kept)) return kept;
    }
  }
  return whole;
}

}  // namespace halmark
