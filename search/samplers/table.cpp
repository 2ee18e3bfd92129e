#include <array>

#include "core/error.hpp"
#include "search/sampler.hpp"

namespace halmark {

std::unique_ptr<Sampler> make_grid(const Space& space, std::uint64_t seed);
std::unique_ptr<Sampler> make_nsga2(const Space& space, std::uint64_t seed);

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Sampler> (*make)(const Space&, std::uint64_t);
};

constexpr std::array table = {
    Entry{"grid", make_grid},
    Entry{"nsga2", make_nsga2},
};

}  // namespace

std::vector<std::string> sampler_names() {
  std::vector<std::string> out;
  for (const Entry& entry : table) out.emplace_back(entry.name);
  return out;
}

std::unique_ptr<Sampler> make_sampler(std::string_view name, const Space& space,
                                      std::uint64_t seed) {
  for (const Entry& entry : table) {
    if (entry.name == name) return entry.make(space, seed);
  }
  throw refused("unknown sampler '" + std::string(name) + "'", {},
                suggestion(name, sampler_names()));
}

}  // namespace halmark
