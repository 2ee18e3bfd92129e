// Kernels where they stand: real workers, scripted plugin, through a campaign.
#include "measure/campaign/stack/measure_in_stack.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "fake_campaign.hpp"
#include "host/partition.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {
namespace {

KernelCase standing(KernelCase k, const char* neighbours) {
  k.mode = CacheMode::in_stack;
  k.neighbours = neighbours;
  return k;
}

// copy, gemm, gemm of another place, copy of another place
Stack short_stack(int parts = 1) {
  Stack stack;
  stack.kernels = {standing(copy_case(4096), "a"), standing(gemm_case(4, 16, 8, 3), "b"),
                   standing(gemm_case(4, 16, 8, 3), "c")};
  for (KernelCase& k : stack.kernels) k.parts = k.shards_at_once = parts;
  stack.instances = {1, 3, 3};
  stack.steps = {{0, 0, "norm", "decoder"},
                 {1, 0, "q", "decoder"},
                 {2, 0, "kv", "decoder"},
                 {1, 1, "q", "decoder"}};
  return stack;
}

struct InCampaign {
  std::vector<Stack> stacks{short_stack()};
  CampaignOptions options;

  explicit InCampaign(const std::string& script) : options(fake_options(script)) {
    options.rule.max_samples = 40;
    options.stacks_of = [this](const KernelCase& k) {
      const bool is_held = std::ranges::any_of(stacks, [&](const Stack& s) {
        return std::ranges::find(s.kernels, k) != s.kernels.end();
      });
      return is_held ? std::span<const Stack>(stacks) : std::span<const Stack>();
    };
  }
  std::vector<Measurement> run(const std::vector<KernelCase>& cases) {
    return Campaign(options).run(cases);
  }
  std::vector<Measurement> run() { return run(stacks.front().kernels); }
};

TEST(MeasureInStack, every_kernel_of_the_stack_is_a_row_with_a_sample_per_repetition) {
  InCampaign campaign("latency_ns=200000");
  campaign.options.rounds = 2;
  const auto rows = campaign.run();
  ASSERT_EQ(rows.size(), 6U);
  std::map<std::string, int> rounds;
  std::map<int, std::set<std::size_t>> repetitions;  // by round: its kernels share them
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    ++rounds[row.kernel_case.key()];
    EXPECT_GE(row.samples.size(), 5U);
    EXPECT_EQ(row.repeat, row.kernel_case.neighbours == "b" ? 2 : 1);
    EXPECT_GE(row.duration_ns_median, 200'000);
    EXPECT_LT(row.duration_ns_median, 20'000'000);
    EXPECT_GT(row.correctness.checked, 0);
    EXPECT_EQ(row.plugin_hash, "abc");
    EXPECT_FALSE(row.implementation.name.empty());
    EXPECT_GT(row.one_time.first_ns, 0);
    EXPECT_GT(row.wall_s, 0);
    repetitions[row.round].insert(row.samples.size());
  }
  for (const auto& [round, different] : repetitions) EXPECT_EQ(different.size(), 1U) << round;
  EXPECT_EQ(rounds.size(), 3U);
  for (const auto& [key, times] : rounds) EXPECT_EQ(times, 2) << key;
}

TEST(MeasureInStack, stored_rows_are_taken_and_only_the_others_are_measured) {
  InCampaign campaign("latency_ns=100000");
  const auto known = campaign.run();
  campaign.options.lookup = [&](const KernelCase& k, int) -> std::optional<Measurement> {
    return k.neighbours == "b" ? std::optional(known.at(1)) : std::nullopt;
  };
  std::set<std::string> written;
  campaign.options.sink = [&](const Measurement& m) { written.insert(m.kernel_case.neighbours); };
  const auto rows = campaign.run();
  EXPECT_EQ(rows.size(), 3U);
  EXPECT_EQ(written, (std::set<std::string>{"a", "c"}));
}

TEST(MeasureInStack, a_case_without_a_stack_is_refused) {
  InCampaign campaign("latency_ns=1000");
  const auto rows = campaign.run({standing(copy_case(64), "elsewhere")});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].status, Status::refused);
  EXPECT_EQ(rows[0].reason, "no stack in which it stands is known");
}

TEST(MeasureInStack, a_wrong_answer_leaves_no_time_of_any_kernel) {
  for (const char* script : {"wrong=last_element", "wrong=nan"}) {
    InCampaign campaign(script);
    int wrong = 0;
    for (const Measurement& row : campaign.run()) {
      if (row.status == Status::wrong_result || row.status == Status::nan_result) {
        ++wrong;
      } else {
        EXPECT_EQ(row.status, Status::refused) << row.reason;
        EXPECT_EQ(row.reason.rfind("another kernel of its stack: ", 0), 0U) << row.reason;
      }
      EXPECT_TRUE(row.samples.empty());
      EXPECT_EQ(row.duration_ns_median, 0);
    }
    EXPECT_EQ(wrong, 1) << script << ": only what was found wrong is said to be";
  }
}

// The first answer is right, and kept for all inputs that come later.
TEST(MeasureInStack, an_answer_that_goes_wrong_later_is_found_after_the_repetitions) {
  InCampaign campaign("wrong=cached");
  int wrong = 0;
  for (const Measurement& row : campaign.run()) {
    EXPECT_NE(row.reason.find("after the repetitions: "), std::string::npos) << row.reason;
    EXPECT_TRUE(row.samples.empty());
    wrong += row.status == Status::wrong_result ? 1 : 0;
  }
  EXPECT_EQ(wrong, 1);
}

void expect_found_wrong(const char* script) {
  InCampaign campaign(script);
  int wrong = 0;
  for (const Measurement& row : campaign.run()) {
    EXPECT_NE(row.status, Status::ok) << script << ": " << row.kernel_case.problem.text();
    EXPECT_TRUE(row.samples.empty()) << script;
    wrong += row.status == Status::wrong_result ? 1 : 0;
  }
  EXPECT_EQ(wrong, 1) << script;
}

// A single further execution of each would miss all of them, or nine in ten.
TEST(MeasureInStack, an_answer_that_is_seldom_wrong_is_found_behind_the_repetitions) {
  for (const char* script :
       {"wrong=every_tenth;latency_ns=30000", "wrong=every_tenth_element;latency_ns=30000",
        "wrong=last_element_later;latency_ns=30000", "wrong=first_buffer;latency_ns=30000"}) {
    expect_found_wrong(script);
  }
}

TEST(MeasureInStack, an_answer_that_is_late_is_found_behind_the_repetitions) {
  expect_found_wrong("wrong=soon_late;latency_ns=30000");
}

// However long the first one of a kernel took.
TEST(MeasureInStack, says_how_many_executions_were_compared) {
  InCampaign campaign("latency_ns=30000;nap=enqueue;nap_every=0;nap_ns=8000000");
  for (const Measurement& row : campaign.run()) {
    ASSERT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_NE(row.correctness.method.find(" executions behind the repetitions against the first"),
              std::string::npos)
        << row.correctness.method;
    EXPECT_GT(std::ranges::count(row.signals, "cpu_share_after_wait", &Signal::name), 0)
        << row.one_time.first_ns;
  }
}

TEST(MeasureInStack, a_lost_worker_is_replaced_once) {
  const auto once =
      std::filesystem::temp_directory_path() / ("halmark-in-stack-" + std::to_string(::getpid()));
  std::filesystem::remove(once);
  InCampaign campaign("crash=enqueue;once_file=" + once.string());
  for (const Measurement& row : campaign.run()) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_EQ(std::ranges::count(row.signals, "worker_replaced", &Signal::name), 1);
  }
  std::filesystem::remove(once);
  InCampaign broken("crash=enqueue");
  for (const Measurement& row : broken.run()) EXPECT_EQ(row.status, Status::crashed) << row.reason;
}

TEST(MeasureInStack, a_disturbed_stack_is_tried_again_as_a_whole) {
  const auto once = std::filesystem::temp_directory_path() /
                    ("halmark-in-stack-nap-" + std::to_string(::getpid()));
  std::filesystem::remove(once);
  InCampaign campaign("latency_ns=100000;nap=enqueue;once_file=" + once.string());
  campaign.options.thresholds.disturbed_samples = {0.9, ValidityThresholds::never};
  campaign.options.retries_per_case = 3;
  campaign.options.retry_budget_s = 100;
  campaign.options.rule.max_samples = 10;
  for (const Measurement& row : campaign.run()) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_LT(row.duration_ns_median, 1'000'000);
    EXPECT_EQ(std::ranges::count(row.signals, "tried_again", &Signal::name), 1);
  }
  std::filesystem::remove(once);
}

TEST(MeasureInStack, shards_run_at_once) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  InCampaign campaign("latency_ns=200000");
  campaign.stacks = {short_stack(2), short_stack(2)};
  for (const Measurement& row : campaign.run()) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_GE(row.duration_ns_median, 200'000);
  }
}

// Peaks of nobody: 10 kB/s of memory, and 10 GB/s where the time contradicts nothing.
TEST(MeasureInStack, rows_are_judged_by_their_bounds) {
  Device device;
  device.bandwidths.push_back({.level = "memory",
                               .threads = 1,
                               .bytes_per_s = 1e4,
                               .working_set_bytes = 32 << 20,
                               .access = "read",
                               .source = "measured 2026-11-22T09:00:00Z, read"});
  RunPeaks peaks(device, [] { return std::string("2026-11-22T15:00:00Z"); });
  InCampaign campaign("kind=cpu;latency_ns=2000");
  campaign.options.peaks = &peaks;
  int probed = 0;
  for (const Measurement& row : campaign.run()) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    probed += static_cast<int>(std::ranges::count(row.signals, "fresh_probe", &Signal::name));
  }
  EXPECT_GE(probed, 1);
  EXPECT_TRUE(peaks.has_seen());
}

TEST(MeasureInStack, a_run_takes_turns_with_its_short_stack) {
  const std::vector<Stack> stacks{short_stack()};
  StackRunOptions o;
  o.plugin_path = fake_plugin_path;
  o.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=300000";
  o.thresholds = blind_thresholds();
  o.block_s = 0.02;
  o.pairs = 5;
  o.pairs_more = 0;  // of a machine that is busy with others
  o.beside = stacks.front().kernels;
  o.short_stacks = stacks;
  const StackRunResult run = run_stacks(stacks, o);
  ASSERT_EQ(run.status, Status::ok) << run.reason;
  ASSERT_EQ(run.pairs.size(), 5U);
  // Means: a busy machine makes blocks longer and none shorter, so the least disturbed tells.
  std::vector<double> least_ns(3, 1e18);
  double least_stack_ns = 1e18;
  for (const StackPair& pair : run.pairs) {
    ASSERT_EQ(pair.kernel_ns.size(), 3U);
    least_stack_ns = std::min(least_stack_ns, pair.stack_ns);
    for (std::size_t k = 0; k < 3; ++k) least_ns[k] = std::min(least_ns[k], pair.kernel_ns[k]);
  }
  EXPECT_GE(least_stack_ns, 4 * 300000.0);
  for (const double ns : least_ns) {
    EXPECT_GE(ns, 300000.0);
    EXPECT_NEAR(ns, least_stack_ns / 4, 0.5 * ns);
  }
}

}  // namespace
}  // namespace halmark
