#include <algorithm>
#include <array>

#include "core/text/error.hpp"
#include "search/sampler.hpp"

namespace halmark {

std::unique_ptr<Sampler> make_anneal(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_auto(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_gp(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_grid(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_nsga2(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_nsga3(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_pls(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_random(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_sobol(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_tpe(const Space& space, const SamplerOptions& options);
std::unique_ptr<Sampler> make_nlopt(const Space& space, const SamplerOptions& options);

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Sampler> (*make)(const Space&, const SamplerOptions&);
  std::string_view what;
};

constexpr std::array table = {
    Entry{"auto", make_auto, "chooses by the size of the space and the budget: models, or a grid"},
    Entry{"grid", make_grid, "every valid point once, evenly spread when cut off"},
    Entry{"random", make_random, "uniform over the valid points, without replacement"},
    Entry{"sobol", make_sobol, "quasi-random: fills wide spaces evenly"},
    Entry{"nsga2", make_nsga2, "evolution by rank and crowding: many cheap trials"},
    Entry{"nsga3", make_nsga3, "evolution by reference directions: four objectives and more"},
    Entry{"tpe", make_tpe, "Parzen estimators of good, rest and failures: mixed spaces"},
    Entry{"gp", make_gp, "Gaussian processes and expected improvement: few, expensive trials"},
    Entry{"pls", make_pls, "local search around the front: polishing"},
    Entry{"anneal", make_anneal, "simulated annealing: rugged single objectives"},
    Entry{"nlopt", make_nlopt, "continuous relaxation of the ordered parameters, by NLopt"},
};

}  // namespace

std::vector<std::string> sampler_names() {
  std::vector<std::string> out;
  for (const Entry& entry : table) out.emplace_back(entry.name);
  return out;
}

std::string sampler_list() {
  std::string out;
  for (const Entry& entry : table) {
    out += std::string(entry.name) +
           std::string(8 - std::min<std::size_t>(7, entry.name.size()), ' ') +
           std::string(entry.what) + '\n';
  }
  return out;
}

std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      const SamplerOptions& options) {
  for (const Entry& entry : table) {
    if (entry.name == name) return entry.make(space, options);
  }
  throw refused("unknown sampler '" + std::string(name) + "'", {},
                suggestion(name, sampler_names()));
}

std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      std::uint64_t seed) {
  return make_sampler(name, space, SamplerOptions{.seed = seed});
}

}  // namespace halmark
