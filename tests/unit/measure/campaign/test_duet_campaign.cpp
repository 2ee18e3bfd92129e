// Duets over real workers and the scripted plugin: the same library twice, each with a script of
// its own.
#include "measure/campaign/duet/duet_campaign.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "core/numeric/statistics.hpp"
#include "fake_campaign.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

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

TEST(DuetCampaign, one_bad_case_leaves_the_others_their_duets) {
  const std::vector<KernelCase> cases{gemm_case(), copy_case(4096)};
  DuetOptions options = duet_options("latency_ns=200000;unsupported=copy", "latency_ns=200000");
  options.pairs = 1;
  const auto duets = run_duets(cases, options);
  EXPECT_EQ(duets.at(0).status, Status::ok) << duets[0].reason;
  EXPECT_EQ(duets[0].log_ratios.size(), 1U);
  EXPECT_EQ(duets.at(1).status, Status::unsupported);
  EXPECT_THAT(duets[1].reason, HasSubstr("the old build: "));
  EXPECT_EQ(duets[1].old_ns, 0);
}

class NamedSide : public testing::Test {
 protected:
  NamedSide() {
    test::write_file(folder_ / "hm_p.so", "plugin");
    test::write_file(folder_ / "worker", "worker");
    const auto build = keep_build({.plugin_name = "p",
                                   .plugin_path = folder_ / "hm_p.so",
                                   .worker_program = folder_ / "worker",
                                   .libraries = {}},
                                  folder_ / "builds", "2026-11-27T00:00:00Z");
    EXPECT_TRUE(build) << build.failure;
    if (build) kept_ = *build;
    known_ = {
        .now_path = "/now.so", .now_hash = "0123456789abcdef", .builds_folder = folder_ / "builds"};
  }
  std::string refusal(const std::string& name) const {
    return test::error_of([&] { (void)named_side(name, known_); }).line();
  }
  const test::ScratchFolder folder_;
  KeptBuild kept_;
  SideNames known_;
};

TEST_F(NamedSide, now_is_the_plugin_as_it_is_installed) {
  const DuetSide side = named_side("now", known_);
  EXPECT_EQ(side.build, "0123456789ab");
  EXPECT_EQ(side.plugin_path, "/now.so");
  EXPECT_EQ(side.worker_program, "");
  EXPECT_TRUE(side.environment.empty());
}

TEST_F(NamedSide, a_kept_build_runs_with_its_own_worker_and_libraries) {
  const DuetSide side = named_side(kept_.id.substr(0, 8), known_);
  EXPECT_EQ(side.build, kept_.id.substr(0, 12));
  EXPECT_EQ(side.plugin_path, kept_.plugin_path);
  EXPECT_EQ(side.worker_program, kept_.worker_program);
  EXPECT_EQ(side.environment.at("LD_LIBRARY_PATH"), kept_.library_folder);
}

TEST_F(NamedSide, a_plugin_s_file_is_one_where_it_can_be_used) {
  const DuetSide side = named_side(fake_plugin_path, known_);
  EXPECT_EQ(side.build.size(), 12U);
  EXPECT_TRUE(std::filesystem::equivalent(side.plugin_path, fake_plugin_path));
  EXPECT_THAT(refusal(folder_ / "worker"), HasSubstr("this plugin cannot be used: "));
}

TEST_F(NamedSide, another_name_is_refused_with_the_builds_that_are_kept) {
  EXPECT_THAT(refusal("nothing"), HasSubstr("'nothing' is neither a plugin file, a kept build nor "
                                            "'now'"));
  EXPECT_THAT(refusal("nothing"),
              HasSubstr("kept here: p " + kept_.id.substr(0, 12) + " (ran 2026-11-27T00:00:00Z)"));
  known_.builds_folder = folder_ / "none";
  EXPECT_THAT(refusal("nothing"), HasSubstr("no build is kept here yet"));
}

TEST_F(NamedSide, the_running_build_is_kept_with_what_it_loads) {
  const auto build =
      keep_running_build(fake_plugin_path, {}, folder_ / "running", "2026-11-28T00:00:00Z");
  ASSERT_TRUE(build) << build.failure;
  EXPECT_EQ(build->plugin_name, "fake");
  EXPECT_EQ(build->last_ran_utc, "2026-11-28T00:00:00Z");
  EXPECT_FALSE(keep_running_build("/no/such.so", {}, folder_ / "running", "x"));
}

}  // namespace
}  // namespace halmark
