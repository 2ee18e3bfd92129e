// Every sampler on spaces drawn at random: each ask returns, with points that are valid and new,
// and equal seeds give equal points. 40 spaces (those with models 12), HALMARK_SPACES of them
// nightly.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "core/text/error.hpp"
#include "random_spaces.hpp"

namespace halmark {
namespace {

using namespace test;

constexpr std::size_t asks = 50;

bool has_model(const std::string& name) {
  return name == "gp" || name == "auto" || name == "nlopt";
}

std::uint64_t spaces(const std::string& name) {
  const char* wished = std::getenv("HALMARK_SPACES");
  if (wished != nullptr) return std::stoul(wished);
  return has_model(name) ? 12 : 40;
}

// The points of one search; what it proposes is told, every third time one trial late.
std::vector<Point> points_of(const std::string& name, const Space& space, std::uint64_t seed,
                             std::size_t objectives) {
  const auto sampler =
      make_sampler(name, space, SamplerOptions{.seed = seed, .objectives = objectives});
  std::vector<Point> out;
  std::vector<Told> late;
  for (std::size_t i = 0; i < asks; ++i) {
    const std::vector<Point> points = sampler->ask(1);
    if (points.empty()) break;
    out.push_back(points.front());
    late.push_back(evaluate_somehow(space, points.front(), objectives));
    if (i % 3 == 0) continue;
    sampler->tell(late);
    late.clear();
  }
  return out;
}

// A condition or a constraint may leave next to nothing of a continuum.
bool has_many_points(const Space& space) {
  std::set<Point> seen;
  for (std::uint64_t i = 0; i < 20 * asks; ++i) {
    if (auto p = space.draw(i)) seen.insert(*p);
  }
  return seen.size() > 4 * asks;
}

class RandomSpaces : public testing::TestWithParam<std::string> {};

TEST_P(RandomSpaces, each_ask_returns_points_that_are_valid_new_and_repeatable) {
  const std::string name = GetParam();
  for (std::uint64_t seed = 0; seed < spaces(name); ++seed) {
    const SpaceDescription description = random_space(seed);
    const Space space(description);
    if (name == "grid" && !space.is_countable()) continue;
    const std::size_t objectives = description.objectives.size();
    const std::vector<Point> points = points_of(name, space, seed, objectives);
    const std::set<Point> distinct(points.begin(), points.end());
    ASSERT_EQ(distinct.size(), points.size()) << "space " << seed;
    for (const Point& p : points) ASSERT_TRUE(space.contains(p)) << "space " << seed;
    if (space.is_countable()) {
      ASSERT_EQ(points.size(), std::min<std::uint64_t>(asks, space.size())) << "space " << seed;
    } else if (has_many_points(space)) {
      ASSERT_EQ(points.size(), asks) << "space " << seed;
    }
    if (seed % 4 == 0) {
      ASSERT_EQ(points_of(name, space, seed, objectives), points) << "space " << seed;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Table, RandomSpaces, testing::ValuesIn(sampler_names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace halmark
