// Shards on devices that are named for them: two devices of one plugin, two plugins at once.
#include <gmock/gmock.h>

#include "fake_campaign.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/stack/stack_run.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;

const std::string fake_two_path = test::in_build("/tests/plugins/hm_fake_two.so");

// Two products and a copy on the device of `place`.
Stack stack_on(const ShardPlace& place) {
  Stack stack;
  stack.kernels = {copy_case(4096), gemm_case(4, 16, 8, 1)};
  for (KernelCase& k : stack.kernels) {
    k.backend = place.backend;
    k.device = place.device;
    k.parts = place.parts;
  }
  stack.instances = {1, 2};
  stack.steps = {
      {0, 0, "embedding", "embedding"}, {1, 0, "proj", "decoder"}, {1, 1, "proj", "decoder"}};
  stack.place = place;
  return stack;
}

StackRunOptions options(const std::string& script, const std::string& script_of_two) {
  StackRunOptions o;
  o.plugin_path = fake_plugin_path;
  o.plugin_path_by_backend = {{"fake", fake_plugin_path}, {"fake_two", fake_two_path}};
  o.environment["HALMARK_FAKE_SCRIPT"] = script;
  o.environment["HALMARK_FAKE_TWO_SCRIPT"] = script_of_two;
  o.thresholds = blind_thresholds();
  o.block_s = 0.05;
  return o;
}

const ShardPlace fake_0{.backend = "fake", .device = "0"};
const ShardPlace fake_1{.backend = "fake", .device = "1"};
const ShardPlace two_0{.backend = "fake_two", .device = "0"};

TEST(NamedPlaces, two_devices_of_a_plugin_are_two_shards) {
  const std::vector<Stack> stacks{stack_on(fake_0), stack_on(fake_1)};
  const StackRunResult run = run_stacks(stacks, options("devices=2;latency_ns=300000", ""));
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_GE(run.median_ns, 3 * 300000.0);
}

TEST(NamedPlaces, a_device_that_is_not_there_ends_the_run_with_its_name) {
  const std::vector<Stack> stacks{stack_on(fake_0), stack_on(fake_1)};
  const StackRunResult run = run_stacks(stacks, options("latency_ns=300000", ""));
  EXPECT_EQ(run.status, Status::refused);
  EXPECT_THAT(run.reason, HasSubstr("has no device 1"));
}

// The step is that of the slower backend: 3 x 900 us, not the sum of both nor the faster one's.
TEST(NamedPlaces, a_whole_stack_over_two_backends_takes_as_long_as_the_slower) {
  const std::vector<Stack> stacks{stack_on(fake_0), stack_on(two_0)};
  StackRunOptions o = options("latency_ns=300000", "latency_ns=900000");
  o.pairs = 3;
  o.beside = {stacks[0].kernels[1], stacks[1].kernels[1]};
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  EXPECT_GE(run.median_ns, 3 * 900000.0);
  EXPECT_GT(run.correctness.checked, 0);
  ASSERT_EQ(run.pairs.size(), 3U);
  for (const StackPair& pair : run.pairs) {
    EXPECT_GE(pair.kernel_ns[0], 300000.0);
    EXPECT_LT(pair.kernel_ns[0], 900000.0) << "each kernel is timed on its own backend";
    EXPECT_GE(pair.kernel_ns[1], 900000.0);
  }
}

TEST(NamedPlaces, wrong_answers_of_either_backend_end_the_run) {
  const std::vector<Stack> stacks{stack_on(fake_0), stack_on(two_0)};
  const StackRunResult run =
      run_stacks(stacks, options("latency_ns=300000", "latency_ns=300000;wrong=zeros"));
  EXPECT_EQ(run.status, Status::wrong_result) << run.reason;
}

TEST(NamedPlaces, collectives_between_two_plugins_are_not_executable) {
  CrewOptions crew{.group = {.backend = "fake",
                             .device = "0",
                             .shards_at_once = 2,
                             .is_collective = true,
                             .places = {fake_0, two_0}},
                   .plugin_path = fake_plugin_path,
                   .plugin_path_by_backend = {{"fake_two", fake_two_path}}};
  crew.needs_group = true;
  const auto started = Crew::start(crew);
  ASSERT_FALSE(started);
  if (started.failure.reason.find("mpirun") != std::string::npos) GTEST_SKIP() << "no mpirun";
  EXPECT_EQ(started.failure.status, Status::unsupported);
  EXPECT_THAT(started.failure.reason, HasSubstr("not executable here"));
}

TEST(NamedPlaces, rows_of_two_backends_in_one_campaign_are_judged_by_their_own_peaks) {
  Device slow{.id = "fake_two:0", .kind = "gpu"};
  slow.peaks.push_back({.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e3});
  RunPeaks peaks(slow, [] { return std::string("2026-11-26T12:00:00Z"); });
  CampaignOptions options = fake_options("latency_ns=300000;timer=device_event;kind=gpu");
  options.plugin_path_by_backend["fake_two"] = fake_two_path;
  options.plugin_hash_by_backend["fake_two"] = "def";
  options.peaks_by_device["fake_two:0"] = &peaks;  // nothing is so slow
  KernelCase here = gemm_case(), there = here;
  there.backend = "fake_two";
  const std::vector<KernelCase> cases{here, there};
  std::map<std::string, Measurement> rows;
  for (Measurement& row : Campaign(options).run(cases)) rows[row.kernel_case.backend] = row;
  EXPECT_EQ(rows["fake"].status, Status::ok) << rows["fake"].reason;
  EXPECT_EQ(rows["fake"].plugin_hash, "abc");
  EXPECT_EQ(rows["fake_two"].status, Status::quarantined) << rows["fake_two"].reason;
  EXPECT_THAT(rows["fake_two"].reason, HasSubstr("--backend fake_two"));
  EXPECT_EQ(rows["fake_two"].plugin_hash, "def");
  EXPECT_EQ(rows["fake_two"].plugin_name, "fake_two");
}

TEST(NamedPlaces, a_backend_without_a_plugin_is_a_row_and_the_others_go_on) {
  KernelCase here = copy_case(4096), there = here;
  there.backend = "absent";
  const std::vector<KernelCase> cases{there, here};
  std::map<std::string, Measurement> rows;
  for (Measurement& row : Campaign(fake_options("latency_ns=300000")).run(cases)) {
    rows[row.kernel_case.backend] = row;
  }
  EXPECT_EQ(rows["fake"].status, Status::ok) << rows["fake"].reason;
  EXPECT_EQ(rows["absent"].status, Status::refused);
  EXPECT_THAT(rows["absent"].reason, HasSubstr("no plugin for backend 'absent'"));
}

TEST(NamedPlaces, ranks_of_a_collective_lie_each_on_its_device) {
  const CaseGroup group{.backend = "cuda", .device = "0+2+0", .parts = 2, .shards_at_once = 3};
  EXPECT_EQ(group.place(0).text(), "cuda:0/2.0");
  EXPECT_EQ(group.place(1).text(), "cuda:2/2.0");
  EXPECT_EQ(group.place(2).text(), "cuda:0/2.1");
}

TEST(CampaignProgressOfRows, counts_what_was_stored_failed_or_was_no_use) {
  CampaignOptions options = fake_options("unsupported=softmax");
  options.rounds = 2;
  options.lookup = [](const KernelCase& c, int round) -> std::optional<Measurement> {
    if (round != 0) return std::nullopt;
    Measurement stored{.kernel_case = c};
    stored.status = c.problem.params.at("bytes") == 64 ? Status::invalid : Status::crashed;
    stored.reason = "stored";
    return stored;
  };
  std::vector<CampaignProgress> seen;
  options.progress = [&](const CampaignProgress& p) { seen.push_back(p); };
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128)};
  ASSERT_EQ(Campaign(std::move(options)).run(cases).size(), 4U);
  ASSERT_EQ(seen.size(), 4U);
  EXPECT_FALSE(seen[1].left_s) << "nothing was measured yet";
  const CampaignProgress& third = seen[2];
  EXPECT_EQ(third.done, 3);
  EXPECT_EQ(third.total, 4);
  EXPECT_EQ(third.resumed, 2);
  EXPECT_EQ(third.failed, 1) << "of the stored ones";
  EXPECT_EQ(third.invalid, 1);
  EXPECT_EQ(third.round, 1);
  EXPECT_GT(third.elapsed_s, 0);
  EXPECT_DOUBLE_EQ(third.left_s.value(), third.elapsed_s) << "one took so long, one is left";
  EXPECT_EQ(seen[3].left_s, 0);
  EXPECT_TRUE(third.current.starts_with("copy bytes=")) << third.current;
}

TEST(CampaignOverNodes, without_a_job_is_a_row_that_says_what_to_give) {
  KernelCase over_nodes = copy_case(64);
  over_nodes.device = device_over_nodes("0", 2);
  over_nodes.parts = over_nodes.shards_at_once = 2;
  const Measurement row = measure_one("", over_nodes);
  EXPECT_EQ(row.status, Status::refused);
  EXPECT_NE(row.reason.find("lies on nodes of an MPI job: give --mpi-hosts"), std::string::npos)
      << row.reason;
}

}  // namespace
}  // namespace halmark
