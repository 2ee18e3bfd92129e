// Deployments in the words of a command line, the places of their ranks, and times of two ranks.
#include "tests/unit/expect.hpp"
#include "tune/plan/deployment_options.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/checkout.hpp"
#include "tune/links/rank_times.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/rank_places.hpp"

namespace halmark::tune {
namespace {

using halmark::test::error_of;
using testing::HasSubstr;

ModelSpec spec() { return load_model("tiny-qwen3", {halmark::test::in_source("/tests/data")}); }

TEST(DeploymentOptions, lengths_that_are_not_said_are_those_of_the_phase) {
  const auto workload = [](DeploymentOptions o) {
    return deployment_from(o, spec(), true).workload;
  };
  const Workload decode = workload({});
  EXPECT_EQ(decode.phase, Phase::decode);
  EXPECT_EQ(decode.new_tokens, 1);
  EXPECT_EQ(decode.context, 1024);
  EXPECT_EQ(workload({.new_tokens = 3, .context = 50}).new_tokens, 3);
  EXPECT_EQ(workload({.new_tokens = 3, .context = 50}).context, 50);
  ModelSpec reward = spec();
  reward.has_lm_head = false;
  EXPECT_EQ(deployment_from({}, reward, true).workload.phase, Phase::prefill);
  const Workload prefill = workload({.phase = "prefill"});
  EXPECT_EQ(prefill.new_tokens, 512);
  EXPECT_EQ(prefill.context, 512);
  EXPECT_EQ(workload({.phase = "prefill", .context = 90}).new_tokens, 90);
  EXPECT_EQ(workload({.phase = "prefill", .new_tokens = 20, .context = 90}).new_tokens, 20);
  EXPECT_EQ(workload({.phase = "prefill", .new_tokens = 20, .context = 90}).context, 90);
  halmark::test::expect_error([&] { workload({.phase = "prefil"}); }, "unknown phase");
}

TEST(DeploymentOptions, stages_say_how_many_there_are) {
  const auto parallel = [](DeploymentOptions o) {
    return deployment_from(o, spec(), true).parallel;
  };
  EXPECT_EQ(parallel({.stages = {1, 1}}).pp, 2);
  EXPECT_EQ(parallel({.pp = 3, .stages = {1, 1}}).pp, 3) << "a contradiction is refused later";
  const Parallel all = parallel({.tp = 2, .pp = 3, .dp = 4, .ep = 5});
  EXPECT_EQ(all, (Parallel{.dp = 4, .tp = 2, .pp = 3, .ep = 5}));
}

TEST(DeploymentOptions, an_imbalance_of_experts_is_a_word_or_a_factor_from_one_on) {
  const auto ppm = [](const std::string& text) {
    return deployment_from({.expert_imbalance = text}, spec(), true).workload.expert_imbalance_ppm;
  };
  EXPECT_EQ(ppm("balanced"), Workload::balanced_ppm);
  EXPECT_EQ(ppm("uniform"), 0);
  EXPECT_EQ(ppm("1"), 1'000'000);
  EXPECT_EQ(ppm("1.25"), 1'250'000);
  EXPECT_EQ(ppm("1e6"), 1'000'000'000'000);
  for (const char* text : {"0.99", "1.1e6", "2x", "", "even"}) {
    EXPECT_THAT(error_of([&] { ppm(text); }).what(), HasSubstr("--expert-imbalance")) << text;
  }
}

Configuration placed(Parallel parallel, const std::vector<std::string>& backends) {
  Configuration out{.model = "m", .parallel = parallel};
  for (const std::string& backend : backends) out.places.push_back({.backend = backend});
  return out;
}

TEST(RankPlaces, are_as_many_as_the_ranks) {
  EXPECT_FALSE(check_places(placed({.tp = 2}, {}), true));
  EXPECT_FALSE(check_places(placed({.tp = 2}, {"cpu", "cpu"}), true));
  for (const auto& backends : {std::vector<std::string>{"cpu"}, {"cpu", "cpu", "cpu"}}) {
    const auto refusal = check_places(placed({.tp = 2}, backends), false);
    ASSERT_TRUE(refusal);
    EXPECT_EQ(refusal->reason, "places_do_not_match");
    EXPECT_THAT(refusal->text, HasSubstr("2 ranks do not lie on"));
  }
}

// Replicas never meet; tensor ranks and stages do, in the words of what they meet in.
TEST(RankPlaces, ranks_that_meet_have_one_backend_where_they_are_executed) {
  const std::vector<std::string> mixed{"cpu", "opencl"};
  EXPECT_FALSE(check_places(placed({.dp = 2}, mixed), true));
  EXPECT_FALSE(check_places(placed({.tp = 2}, mixed), false)) << "priced, not executed";
  const auto tensor = check_places(placed({.tp = 2}, mixed), true);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->reason, "not_executable");
  EXPECT_THAT(tensor->text, HasSubstr("tensor parallelism"));
  const auto stages = check_places(placed({.pp = 2}, mixed), true);
  ASSERT_TRUE(stages);
  EXPECT_THAT(stages->text, HasSubstr("a pipeline"));
  // Two replicas of two tensor ranks: each on a backend of its own is fine.
  EXPECT_FALSE(check_places(placed({.dp = 2, .tp = 2}, {"cpu", "cpu", "opencl", "opencl"}), true));
  EXPECT_TRUE(check_places(placed({.dp = 2, .tp = 2}, {"cpu", "opencl", "cpu", "opencl"}), true));
}

// 5 us and 10 GB/s; half of the sizes are fitted, the others predicted.
TEST(FitHalf, predicts_the_sizes_that_it_was_not_given) {
  std::vector<simulate::CollectivePoint> points;
  std::size_t sizes = 0;
  for (double bytes = 1024; bytes <= 1 << 26; bytes *= 2, ++sizes) {
    const double s = 5e-6 + bytes / 2 / 10e9;
    for (const double noise : {0.98, 1.0, 1.02}) points.push_back({2, bytes, s * noise});
  }
  const HalvedFit half = fit_half(simulate::Collective::all_gather, points);
  ASSERT_EQ(half.predicted.size(), sizes / 2);
  double sum = 0, worst = 0;
  for (const PredictedSize& p : half.predicted) {
    EXPECT_NEAR(p.measured_s, 5e-6 + p.bytes / 2 / 10e9, 1e-12) << "the median of the rounds";
    const double error = std::abs(p.modelled_s - p.measured_s) / p.measured_s;
    EXPECT_LT(error, 0.05);
    sum += error;
    worst = std::max(worst, error);
  }
  EXPECT_NEAR(half.mean_error, sum / static_cast<double>(half.predicted.size()), 1e-12);
  EXPECT_NEAR(half.worst_error, worst, 1e-12);
  EXPECT_EQ(half.predicted.front().bytes, 2048);
}

}  // namespace
}  // namespace halmark::tune
