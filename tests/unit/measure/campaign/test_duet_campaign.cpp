// Duets over real workers and the scripted plugin: the same library twice, each with a script of
// its own.
#include "measure/campaign/duet/duet_campaign.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/numeric/statistics.hpp"
#include "fake_campaign.hpp"

namespace halmark {
namespace {

using testing::Each;
using testing::HasSubstr;
using testing::SizeIs;

DuetOptions duet_options(const std::string& old_script, const std::string& new_script) {
  const CampaignOptions usual = fake_options("");
  DuetOptions out{
      .sides = {DuetSide{"old", fake_plugin_path, {}, {{"HALMARK_FAKE_SCRIPT", old_script}}},
                DuetSide{"new", fake_plugin_path, {}, {{"HALMARK_FAKE_SCRIPT", new_script}}}},
      .pairs = 3};
  out.rule = usual.rule;
  out.thresholds = usual.thresholds;
  out.seed = 5;
  return out;
}

TEST(DuetCampaign, the_ratio_is_that_of_the_builds) {
  const std::vector<KernelCase> cases{gemm_case(), copy_case(4096)};
  const auto duets = run_duets(cases, duet_options("latency_ns=200000;timer=device_event",
                                                   "latency_ns=220000;timer=device_event"));
  ASSERT_THAT(duets, SizeIs(2));
  for (std::size_t i = 0; i < duets.size(); ++i) {
    const Duet& duet = duets[i];
    EXPECT_EQ(duet.status, Status::ok) << duet.reason;
    EXPECT_EQ(duet.kernel_case.key(), cases[i].key());
    EXPECT_EQ(duet.old_build, "old");
    EXPECT_EQ(duet.new_build, "new");
    EXPECT_FALSE(duet.plugin_name.empty());
    ASSERT_THAT(duet.log_ratios, SizeIs(3));
    EXPECT_THAT(duet.log_ratios, Each(testing::DoubleNear(std::log(1.1), 1e-3)));
    EXPECT_NEAR(duet.old_ns, 2.0e5, 200);
    EXPECT_NEAR(duet.new_ns, 2.2e5, 200);
  }
}

TEST(DuetCampaign, a_build_that_is_wrong_ends_its_duet_alone) {
  const std::vector<KernelCase> cases{gemm_case(), copy_case(4096)};
  const auto duets =
      run_duets(cases, duet_options("latency_ns=200000", "latency_ns=200000;crash=create"));
  ASSERT_THAT(duets, SizeIs(2));
  for (const Duet& duet : duets) {
    EXPECT_EQ(duet.status, Status::crashed) << duet.reason;
    EXPECT_THAT(duet.reason, HasSubstr("the new build: "));
    EXPECT_THAT(duet.log_ratios, testing::IsEmpty());
  }
}

TEST(DuetCampaign, a_plugin_that_is_not_there_is_a_reason) {
  DuetOptions options = duet_options("", "");
  options.sides[0].plugin_path = "/no/such/hm_old.so";
  const std::vector<KernelCase> cases{gemm_case()};
  const auto duets = run_duets(cases, options);
  ASSERT_THAT(duets, SizeIs(1));
  EXPECT_NE(duets[0].status, Status::ok);
  EXPECT_THAT(duets[0].reason, HasSubstr("the old build: "));
}

TEST(DuetCampaign, a_kernel_of_a_stack_runs_in_a_loop_and_keeps_its_name) {
  KernelCase in_stack = gemm_case();
  in_stack.mode = CacheMode::in_stack;
  in_stack.neighbours = "0123456789ab";
  const std::vector<KernelCase> cases{in_stack};
  const auto duets = run_duets(cases, duet_options("latency_ns=200000", "latency_ns=200000"));
  ASSERT_THAT(duets, SizeIs(1));
  EXPECT_EQ(duets[0].status, Status::ok) << duets[0].reason;
  EXPECT_EQ(duets[0].kernel_case.key(), in_stack.key());
}

TEST(DuetCampaign, it_stops_between_cases_when_asked) {
  DuetOptions options = duet_options("latency_ns=200000", "latency_ns=200000");
  std::size_t done = 0;
  options.progress = [&](std::size_t now, std::size_t total, const std::string&) {
    done = now;
    EXPECT_EQ(total, 6U);
  };
  options.should_stop = [&] { return done >= 2; };
  const std::vector<KernelCase> cases{gemm_case(), copy_case(4096)};
  const auto duets = run_duets(cases, options);
  EXPECT_EQ(done, 2U);
  for (const Duet& duet : duets) EXPECT_LE(duet.log_ratios.size(), 1U);
}

}  // namespace
}  // namespace halmark
