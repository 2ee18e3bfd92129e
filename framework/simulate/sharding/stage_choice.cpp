// Two passes: the least period by dynamic programming over (stage, layers so far), then, among cuts
// within it, the least sum. O(stages x layers^2).
#include "simulate/sharding/stage_choice.hpp"

#include <algorithm>
#include <limits>

#include "core/lists.hpp"

namespace halmark::simulate {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();

class Cutter {
 public:
  explicit Cutter(const StageQuestion& question)
      : q_(question),
        stages_(question.layer_ns.size()),
        layers_(question.layer_ns.empty() ? 0 : question.layer_ns.front().size()) {
    ns_.resize(stages_);
    bytes_.resize(stages_);
    for (const auto s : indices(stages_)) {
      ns_[s].assign(layers_ + 1, 0);
      bytes_[s].assign(layers_ + 1, 0);
      for (const auto l : indices(layers_)) {
        ns_[s][l + 1] = ns_[s][l] + q_.layer_ns[s][l];
        bytes_[s][l + 1] = bytes_[s][l] + q_.layer_bytes[s][l];
      }
    }
  }

  std::optional<ChosenStages> choose() const {
    if (stages_ == 0 || layers_ < stages_) return std::nullopt;
    const auto least = solve(never, [](double a, double b) { return std::max(a, b); });
    if (!least) return std::nullopt;
    const double period = slowest(*least);
    const auto sums = solve(period, [](double a, double b) { return a + b; });
    ChosenStages out{.layers = sums ? *sums : *least};
    out.slowest_ns = slowest(out.layers);
    std::size_t first = 0;
    for (const auto s : indices(stages_)) {
      const auto end = first + as_size(out.layers[s]);
      out.sum_ns += stage_ns(s, first, end);
      first = end;
    }
    return out;
  }

 private:
  // Of layers [first, end) on stage s; never where they do not fit.
  double stage_ns(std::size_t s, std::size_t first, std::size_t end) const {
    const std::int64_t bytes = bytes_[s][end] - bytes_[s][first] + q_.own_bytes[s];
    if (!q_.bytes_max.empty() && bytes > q_.bytes_max[s]) return never;
    const double hand_over = s + 1 < stages_ ? q_.hand_over_ns[s] : 0;
    return ns_[s][end] - ns_[s][first] + q_.own_ns[s] + hand_over;
  }

  double slowest(const std::vector<int>& cut) const {
    double out = 0;
    std::size_t first = 0;
    for (const auto s : indices(stages_)) {
      const auto end = first + as_size(cut[s]);
      out = std::max(out, stage_ns(s, first, end));
      first = end;
    }
    return out;
  }

  // The cut of least fold over its stages, none of which takes more than `limit`.
  template <class Fold>
  std::optional<std::vector<int>> solve(double limit, const Fold& fold) const {
    std::vector<std::vector<double>> best(stages_, std::vector<double>(layers_ + 1, never));
    std::vector<std::vector<std::size_t>> from(stages_, std::vector<std::size_t>(layers_ + 1, 0));
    for (std::size_t end = 1; end <= layers_; ++end) {
      const double ns = stage_ns(0, 0, end);
      if (ns <= limit) best[0][end] = ns;
    }
    for (std::size_t s = 1; s < stages_; ++s) {
      for (std::size_t end = s + 1; end <= layers_; ++end) {
        for (std::size_t first = s; first < end; ++first) {
          const double ns = stage_ns(s, first, end);
          if (ns > limit || best[s - 1][first] == never) continue;
          const double all = fold(best[s - 1][first], ns);
          if (all >= best[s][end]) continue;
          best[s][end] = all;
          from[s][end] = first;
        }
      }
    }
    if (best.back()[layers_] == never) return std::nullopt;
    std::vector<int> cut(stages_);
    std::size_t end = layers_;
    for (std::size_t s = stages_; s-- > 0;) {
      cut[s] = as_int(end - (s == 0 ? 0 : from[s][end]));
      end = from[s][end];
    }
    return cut;
  }

  const StageQuestion& q_;
  std::size_t stages_, layers_;
  std::vector<std::vector<double>> ns_;  // sums over the first l layers
  std::vector<std::vector<std::int64_t>> bytes_;
};

}  // namespace

std::optional<ChosenStages> choose_stages(const StageQuestion& question) {
  return Cutter(question).choose();
}

}  // namespace halmark::simulate
