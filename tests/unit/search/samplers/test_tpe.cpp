// Parzen estimators: they learn where failures are.
#include <gtest/gtest.h>

#include <algorithm>

#include "problem.hpp"
#include "sample_spaces.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using namespace test;

TEST(Tpe, begins_with_ten_sobol_points) {
  const Space space({continuum("x"), continuum("y")}, {});
  EXPECT_EQ(sobol_trials("tpe", space, 30, {.seed = 3, .trials = 100}, sum_told), 10u);
}

// One point in eight runs at all.
TEST(Tpe, asks_mostly_for_what_does_not_fail) {
  const Space space({levels("a", 16), levels("b", 16), levels("c", 16)}, {});
  const auto value = [](const Point& p) {
    const bool runs = p[0] >= 8 && p[1] < 8 && p[2] >= 8;
    if (runs) return Told{.point = p, .objectives = {p[0] + p[1] + p[2]}};
    return Told{.point = p, .outcome = TrialOutcome::failed, .reason = "crash"};
  };
  std::size_t ok = 0;
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    const auto sampler = make_sampler("tpe", space, {.seed = seed, .trials = 200});
    const std::vector<Told> told = search(*sampler, 200, value);
    for (std::size_t i = 100; i < told.size(); ++i) {
      ok += told[i].outcome == TrialOutcome::complete ? 1 : 0;
    }
  }
  EXPECT_GT(ok, 150u) << "of 300; 38 by chance";
}

// Without the known constraints most combinations fail; a sampler that does not learn from failures
// asks for them again and again (10 of 1500 in a well-known one).
struct Trap {
  const char* problem;
  bool is_hidden;
  std::size_t ok_min;  // of 1500
};

class TpeTrap : public testing::TestWithParam<Trap> {};

TEST_P(TpeTrap, most_trials_succeed) {
  const auto problem = problems::replay(GetParam().problem, GetParam().is_hidden);
  if (!problem) GTEST_SKIP() << "data not found: recorded files in " << problems::data_folder();
  const Space space(problem->description);
  const auto sampler = make_sampler("tpe", space, {.seed = 0, .trials = 1500});
  const std::vector<Told> told = problems::run(*problem, space, *sampler, 1500);
  ASSERT_EQ(told.size(), 1500u);
  const auto ok =
      static_cast<std::size_t>(std::ranges::count(told, TrialOutcome::complete, &Told::outcome));
  EXPECT_GE(ok, GetParam().ok_min);
}

INSTANTIATE_TEST_SUITE_P(
    Files, TpeTrap,
    testing::Values(Trap{"convres3", false, 1400}, Trap{"gemmres3", false, 1400},
                    Trap{"convres3", true, 1000}, Trap{"gemmres3", true, 750}),
    [](const auto& info) {
      return test::case_name({info.param.problem, info.param.is_hidden ? "hidden" : "known"});
    });

}  // namespace
}  // namespace halmark
