// NSGA-II (Deb et al. 2002), steady-state: non-dominated ranks and crowding, binary tournaments,
// uniform crossover, per-kind mutation; never proposes a point twice.
#include <algorithm>
#include <optional>
#include <unordered_set>

#include "core/random.hpp"
#include "search/pareto.hpp"
#include "search/sampler.hpp"

namespace halmark {
namespace {

constexpr std::size_t population_size = 50;
constexpr double crossover_probability = 0.9;
constexpr double swap_probability = 0.5;
constexpr int attempts_max = 64;  // children that repeat a point before a fresh one is drawn

class Nsga2 : public Sampler {
 public:
  Nsga2(const Space& space, std::uint64_t seed)
      : space_(space), seed_(seed), fresh_(make_sampler("grid", space, seed)) {}

  std::string_view name() const override { return "nsga2"; }

  std::vector<Point> ask(std::size_t count) override {
    std::vector<Point> out;
    while (out.size() < count) {
      std::optional<Point> next;
      if (proposed_.size() >= population_size && population_.size() >= 2) next = child();
      if (!next) next = fresh();
      if (!next) break;
      proposed_.insert(space_.rank(*next));
      out.push_back(std::move(*next));
    }
    return out;
  }

  void tell(const std::vector<Told>& outcomes) override {
    for (const Told& told : outcomes) {
      if (told.is_feasible) population_.push_back(told);
    }
    if (population_.size() > 2) select();
  }

 private:
  double uniform() { return uniform_01(hash_u64(seed_, ++draws_)); }
  std::size_t below(std::size_t bound) { return uniform_below(hash_u64(seed_, ++draws_), bound); }

  std::optional<Point> fresh() {
    while (true) {
      std::vector<Point> next = fresh_->ask(1);
      if (next.empty()) return std::nullopt;
      if (!proposed_.contains(space_.rank(next.front()))) return std::move(next.front());
    }
  }

  const Told& tournament() {
    const std::size_t a = below(population_.size()), b = below(population_.size());
    // The population is kept best first by (rank, crowding), so the lower index wins.
    return population_[std::min(a, b)];
  }

  std::optional<Point> child() {
    for (int attempt = 0; attempt < attempts_max; ++attempt) {
      Point out = tournament().point;
      if (uniform() < crossover_probability) {
        const Point& other = tournament().point;
        for (std::size_t d = 0; d < out.size(); ++d) {
          if (uniform() < swap_probability) out[d] = other[d];
        }
      }
      mutate(out);
      if (space_.contains(out) && !proposed_.contains(space_.rank(out))) return out;
    }
    return std::nullopt;
  }

  void mutate(Point& point) {
    const auto domains = space_.domains();
    for (std::size_t d = 0; d < point.size(); ++d) {
      const auto size = static_cast<std::int32_t>(domains[d].values.size());
      if (size < 2 || uniform() >= 1.0 / static_cast<double>(point.size())) continue;
      if (domains[d].kind == DomainKind::ordinal) {
        const std::int32_t step = uniform() < 0.5 ? -1 : 1;
        point[d] = std::clamp(point[d] + step, 0, size - 1);
      } else {
        point[d] = static_cast<std::int32_t>(below(static_cast<std::size_t>(size)));
      }
    }
  }

  // Keeps the best population_size, best first.
  void select() {
    std::vector<std::vector<double>> values;
    for (const Told& told : population_) values.push_back(told.objectives);
    const std::vector<int> ranks = non_dominated_ranks(values);
    const std::vector<double> crowding = crowding_distances(values, ranks);
    std::vector<std::size_t> order(population_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      return ranks[a] != ranks[b] ? ranks[a] < ranks[b] : crowding[a] > crowding[b];
    });
    std::vector<Told> kept;
    for (std::size_t i = 0; i < std::min(order.size(), population_size); ++i) {
      kept.push_back(std::move(population_[order[i]]));
    }
    population_ = std::move(kept);
  }

  const Space& space_;
  std::uint64_t seed_, draws_ = 0;
  std::unique_ptr<Sampler> fresh_;
  std::unordered_set<std::uint64_t> proposed_;
  std::vector<Told> population_;
};

}  // namespace

std::unique_ptr<Sampler> make_nsga2(const Space& space, std::uint64_t seed) {
  return std::make_unique<Nsga2>(space, seed);
}

}  // namespace halmark
