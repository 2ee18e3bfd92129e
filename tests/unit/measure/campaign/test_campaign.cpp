// Campaigns end to end: real workers, scripted plugin.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <utility>

#include "fake_campaign.hpp"
#include "host/partition.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

TEST(Campaign, measures_every_case_in_every_round_and_commits_each_row_once) {
  CampaignOptions options = fake_options("");
  options.rounds = 2;
  std::vector<std::string> committed;
  std::int64_t last_done = 0;
  options.sink = [&](const Measurement& m) {
    committed.push_back(m.kernel_case.key() + "#" + std::to_string(m.round));
  };
  options.progress = [&](const CampaignProgress& p) {
    EXPECT_EQ(p.done, ++last_done);
    EXPECT_EQ(p.total, 4);
  };
  const std::vector<KernelCase> cases{gemm_case(), copy_case(4096)};
  const auto rows = Campaign(std::move(options)).run(cases);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::set<std::string>(committed.begin(), committed.end()).size(), 4U);
  std::set<std::uint64_t> seeds;
  for (const Measurement& row : rows) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_GE(row.samples.size(), 5U);
    EXPECT_GT(row.duration_ns_median, 0);
    EXPECT_GT(row.correctness.checked, 0);
    EXPECT_LE(row.correctness.worst_ratio, 1);
    EXPECT_FALSE(row.implementation.name.empty());
    EXPECT_FALSE(row.stop_rule.empty());
    EXPECT_FALSE(row.environment.empty());
    EXPECT_GT(row.one_time.first_ns, 0);
    EXPECT_EQ(row.plugin_hash, "abc");
    seeds.insert(row.seed);
  }
  EXPECT_EQ(seeds.size(), 4U);
}

// No worker is started for it, and what fits is measured.
TEST(Campaign, what_needs_more_than_the_machine_has_is_refused_with_its_need) {
  CampaignOptions options = fake_options("");
  options.plugin_path_by_backend["cpu"] = fake_plugin_path;
  KernelCase large = copy_case(std::int64_t{1} << 40), small = copy_case(64);
  large.backend = small.backend = "cpu";
  const auto rows = Campaign(std::move(options)).run(std::vector{large, small});
  ASSERT_EQ(rows.size(), 2u);
  for (const Measurement& row : rows) {
    if (row.kernel_case == small) {
      EXPECT_EQ(row.status, Status::ok) << row.reason;
      continue;
    }
    EXPECT_EQ(row.status, Status::refused);
    EXPECT_NE(row.reason.find("needs 2097152 MiB of memory for one argument set"),
              std::string::npos)
        << row.reason;
    EXPECT_EQ(row.wall_s, 0);
  }
}

TEST(Campaign, a_stored_round_is_not_measured_again) {
  CampaignOptions options = fake_options("");
  options.rounds = 2;
  int committed = 0;
  options.sink = [&](const Measurement& m) {
    ++committed;
    EXPECT_EQ(m.round, 1);
  };
  options.lookup = [](const KernelCase& c, int round) -> std::optional<Measurement> {
    if (round != 0) return std::nullopt;
    Measurement stored;
    stored.kernel_case = c;
    stored.status = Status::suspect;
    stored.reason = "stored";
    return stored;
  };
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128)};
  const auto rows = Campaign(std::move(options)).run(cases);
  EXPECT_EQ(committed, 2);
  EXPECT_EQ(std::count_if(rows.begin(), rows.end(),
                          [](const Measurement& m) { return m.reason == "stored"; }),
            2);
}

TEST(Campaign, stops_between_trials_when_asked) {
  CampaignOptions options = fake_options("");
  int committed = 0;
  options.sink = [&](const Measurement&) { ++committed; };
  options.should_stop = [&] { return committed >= 2; };
  options.retries_per_case = 0;  // a disturbed row would be committed at the end of its round
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128), copy_case(256),
                                      copy_case(512)};
  EXPECT_EQ(Campaign(std::move(options)).run(cases).size(), 2U);
}

struct Attack {
  const char* script;
  Status status;
  const char* words;
};
class CampaignAttacks : public testing::TestWithParam<Attack> {};

TEST_P(CampaignAttacks, are_rows_without_a_time_and_with_the_reason) {
  const Attack attack = GetParam();
  const Measurement row = measure_one(attack.script, gemm_case());
  EXPECT_EQ(row.status, attack.status) << status_name(row.status) << ": " << row.reason;
  EXPECT_NE(row.reason.find(attack.words), std::string::npos) << row.reason;
  EXPECT_EQ(row.duration_ns_median, 0);
  EXPECT_FALSE(has_latency(row.status));
}

INSTANTIATE_TEST_SUITE_P(Table, CampaignAttacks,
                         testing::Values(Attack{"wrong=zeros", Status::wrong_result, "expected"},
                                         Attack{"wrong=last_element", Status::wrong_result, "dst["},
                                         Attack{"wrong=half", Status::wrong_result, "dst["},
                                         Attack{"wrong=nan", Status::nan_result, "NaN"},
                                         Attack{"wrong=cached", Status::wrong_result, "dst["},
                                         Attack{"wrong=late", Status::wrong_result, "dst["},
                                         Attack{"overrun=1", Status::wrong_result, "out of bounds"},
                                         Attack{"mutate_inputs=1", Status::wrong_result,
                                                "mutated its inputs"},
                                         Attack{"oom=prepare", Status::out_of_memory, ""},
                                         Attack{"unsupported=gemm", Status::unsupported, ""},
                                         Attack{"throw=prepare", Status::launch_failed, ""}),
                         [](const auto& info) { return test::case_name({info.param.script}); });

TEST(Campaign, skipped_repeats_are_found_after_the_sample_loop) {
  CampaignOptions options = fake_options("wrong=skip_repeats");
  options.rule.repeat = 6;
  const std::vector<KernelCase> cases{gemm_case()};
  const Measurement row = Campaign(std::move(options)).run(cases).at(0);
  EXPECT_EQ(row.status, Status::wrong_result) << row.reason;
}

TEST(Campaign, a_device_timer_that_lies_is_quarantined) {
  for (const std::string lie :
       {"elapsed_scale=0.1", "elapsed=constant", "elapsed=negative", "elapsed=nan"}) {
    const Measurement row =
        measure_one("timer=device_event;latency_ns=100000;" + lie, copy_case(4096));
    EXPECT_EQ(row.status, Status::quarantined) << lie << ": " << row.reason;
    EXPECT_NE(row.reason.find("timer"), std::string::npos) << lie << ": " << row.reason;
  }
}

TEST(Campaign, a_plugin_that_frees_a_buffer_of_the_host_loses_its_worker) {
  const Measurement row = measure_one("free_buffer=1", gemm_case());
  EXPECT_TRUE(row.status == Status::crashed || row.status == Status::worker_lost)
      << status_name(row.status) << ": " << row.reason;
}

TEST(Campaign, one_crash_is_retried_in_a_new_worker_and_noted) {
  const auto once =
      std::filesystem::temp_directory_path() / ("halmark-once-" + std::to_string(::getpid()));
  std::filesystem::remove(once);
  const Measurement row = measure_one("crash=enqueue;once_file=" + once.string(), copy_case(64));
  std::filesystem::remove(once);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  const auto noted = std::find_if(row.signals.begin(), row.signals.end(),
                                  [](const Signal& s) { return s.name == "worker_replaced"; });
  ASSERT_NE(noted, row.signals.end());
  EXPECT_NE(noted->reason.find("crashed"), std::string::npos) << noted->reason;
}

TEST(Campaign, three_losses_in_a_row_disable_the_kernel_and_no_other) {
  CampaignOptions options = fake_options("crash=enqueue");
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128), copy_case(256)};
  const auto rows = Campaign(std::move(options)).run(cases);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0].status, Status::crashed) << rows[0].reason;
  EXPECT_EQ(rows[0].phase, "first");
  EXPECT_EQ(rows[1].status, Status::crashed);
  EXPECT_EQ(rows[2].status, Status::refused);
  EXPECT_NE(rows[2].reason.find("3 lost workers"), std::string::npos) << rows[2].reason;
}

TEST(Campaign, a_hang_is_timed_out_with_its_phase) {
  CampaignOptions options = fake_options("hang=prepare");
  options.limits.create_s = 0.3;
  const std::vector<KernelCase> cases{copy_case(64)};
  const Measurement row = Campaign(std::move(options)).run(cases).at(0);
  EXPECT_EQ(row.status, Status::timed_out) << row.reason;
  EXPECT_EQ(row.phase, "create");
}

TEST(Campaign, a_case_that_hangs_costs_its_limit_once_and_others_are_tried) {
  CampaignOptions options = fake_options("hang=prepare");
  options.limits.create_s = 0.5;
  options.rounds = 3;
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128)};
  const auto rows = Campaign(std::move(options)).run(cases);
  ASSERT_EQ(rows.size(), 6U);
  const auto with = [&](Status status) {
    return std::ranges::count(rows, status, &Measurement::status);
  };
  EXPECT_EQ(with(Status::timed_out), 2) << "each case once, without a second try";
  EXPECT_EQ(with(Status::refused), 4);
  EXPECT_NE(rows.back().reason.find("hung in create in round 0"), std::string::npos)
      << rows.back().reason;
}

TEST(Campaign, a_device_that_hangs_in_open_is_opened_once) {
  CampaignOptions options = fake_options("hang=open");
  options.limits.open_s = 0.5;
  options.rounds = 2;
  const std::vector<KernelCase> cases{copy_case(64), gemm_case(16, 32, 16, 1)};
  const auto rows = Campaign(std::move(options)).run(cases);
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(std::ranges::count(rows, Status::timed_out, &Measurement::status), 1);
  EXPECT_EQ(rows.front().phase, "open");
}

TEST(Campaign, impossible_cases_are_refused_rows) {
  KernelCase nowhere = copy_case(64);
  nowhere.backend = "gone";
  KernelCase unknown = fake_case({"gemn", {{"m", 1}}});
  KernelCase absent = copy_case(64);
  absent.device = "17";
  for (const KernelCase& c : {nowhere, unknown, absent}) {
    const Measurement row = measure_one("", c);
    EXPECT_EQ(row.status, Status::refused) << row.reason;
    EXPECT_FALSE(row.reason.empty());
  }
}

TEST(Campaign, shards_at_once_start_together_and_the_slowest_counts) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  KernelCase pair = gemm_case(16, 32, 16, 2);
  pair.parts = 2;
  pair.shards_at_once = 2;
  CampaignOptions options = fake_options("latency_ns=200000");
  options.rule.min_samples = 12;
  const std::vector<KernelCase> cases{pair};
  const Measurement row = Campaign(std::move(options)).run(cases).at(0);
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  ASSERT_EQ(row.shard_wall_ns.size(), 2U);
  ASSERT_EQ(row.shard_wall_ns[0].size(), row.samples.size());
  for (std::size_t i = 0; i < row.samples.size(); ++i) {
    EXPECT_EQ(row.samples[i].wall_ns, std::max(row.shard_wall_ns[0][i], row.shard_wall_ns[1][i]));
  }
  EXPECT_GE(row.samples.size() + static_cast<std::size_t>(row.samples_dropped), 12U);
}

// Blocks after the first write other slots than it did; the check after the loop must know which.
TEST(Campaign, shards_at_once_are_checked_in_a_slot_that_the_last_block_wrote) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  KernelCase pair = gemm_case(8, 16, 8, 24);
  pair.parts = 2;
  pair.shards_at_once = 2;
  CampaignOptions options = fake_options("latency_ns=100000;noise=0.3");
  options.rule.ci_half_width = 0;  // the budget ends it, in several blocks
  options.rule.min_samples = 4;
  options.rule.budget_s = 0.01;
  options.rounds = 3;
  const std::vector<KernelCase> cases{pair};
  for (const Measurement& row : Campaign(std::move(options)).run(cases)) {
    EXPECT_EQ(row.status, Status::ok) << row.reason;
    EXPECT_GT(row.samples.size() + static_cast<std::size_t>(row.samples_dropped), 4U);
  }
}

// A limit that no sample meets disturbs every trial. What is disturbed is asked about before each
// further trial and once more when there is none: one question a case is no trial.
TEST(Campaign, a_disturbed_case_is_tried_again_at_the_end_of_its_round_while_the_budget_lasts) {
  CampaignOptions options =
      fake_options("latency_ns=100000;nap=prepare;nap_ns=100000000;nap_every=1");
  int questions = 0;
  options.should_stop = [&] { return ++questions < 0; };
  options.retry_share = 1000;
  options.thresholds.disturbed_samples = {-1, ValidityThresholds::never};
  options.retries_per_case = 2;
  options.retry_budget_s = 100;
  std::vector<std::string> committed;
  options.sink = [&](const Measurement& m) { committed.push_back(m.kernel_case.key()); };
  const std::vector<KernelCase> cases{copy_case(64), copy_case(128)};
  const auto tried = Campaign(options).run(cases);
  const int with_retries = std::exchange(questions, 0);
  ASSERT_EQ(tried.size(), 2U);
  EXPECT_EQ(std::set<std::string>(committed.begin(), committed.end()).size(), 2U);
  options.retries_per_case = 0;
  const auto once = Campaign(options).run(cases);
  const int without = std::exchange(questions, 0);
  ASSERT_EQ(once.size(), 2U);
  options.retries_per_case = 2;
  options.retry_budget_s = 0;
  const auto broke = Campaign(options).run(cases);
  ASSERT_EQ(broke.size(), 2U);
  for (const auto* rows : {&tried, &once, &broke}) {
    for (const Measurement& row : *rows) {
      EXPECT_EQ(row.status, Status::suspect) << row.reason;
      EXPECT_GT(row.duration_ns_median, 0) << "its figure is shown with its label";
    }
  }
  EXPECT_EQ(with_retries - without, 2 * (2 + 1)) << "two further trials of each case";
  EXPECT_EQ(questions - without, 2) << "none: no budget";
  for (const Measurement& row : tried) {
    EXPECT_GT(row.wall_s, 3 * 0.1) << "a row says what all its trials have cost";
  }
}

std::filesystem::path absent_file(const std::string& name) {
  const auto path = std::filesystem::temp_directory_path() / (name + std::to_string(::getpid()));
  std::filesystem::remove(path);
  return path;
}

std::optional<Signal> signal_of(const Measurement& row, const std::string& name) {
  const auto found = std::ranges::find(row.signals, name, &Signal::name);
  return found == row.signals.end() ? std::nullopt : std::optional(*found);
}

// The first worker is off its CPU in every call, the second is not.
TEST(Campaign, a_retry_that_is_better_is_the_row_and_says_what_was_before) {
  const auto once = absent_file("halmark-nap-");
  CampaignOptions options =
      fake_options("latency_ns=100000;nap=enqueue;once_file=" + once.string());
  options.thresholds.disturbed_samples = {0.9, ValidityThresholds::never};
  options.retries_per_case = 3;
  options.retry_budget_s = 100;
  const std::vector<KernelCase> cases{copy_case(64)};
  const Measurement row = Campaign(options).run(cases).at(0);
  std::filesystem::remove(once);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  EXPECT_LT(row.duration_ns_median, 500e3);
  const auto again = signal_of(row, "tried_again");
  ASSERT_TRUE(again);
  EXPECT_EQ(again->reason, "suspect before: share of disturbed samples 1 above 0.9");
}

// Every fifth sample of 1 ms is off its CPU for 3 ms: set aside, and the rest stands.
TEST(Campaign, samples_that_lost_their_cpu_are_labelled_and_do_not_count) {
  CampaignOptions options =
      fake_options("latency_ns=1000000;nap=enqueue;nap_every=5;nap_ns=3000000");
  options.thresholds.disturbed_samples = {0.9, 0.99};
  options.rule = {.stop = protocol::Stop::count, .count = 40, .repeat = 1, .warmup_cap_s = 0.01};
  const std::vector<KernelCase> cases{copy_case(64)};
  const Measurement row = Campaign(options).run(cases).at(0);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
  ASSERT_EQ(row.samples.size(), 40u);
  int napped = 0;
  for (const Sample& sample : row.samples) {
    EXPECT_NE(sample.label, SampleLabel::unlabelled);
    const bool has_napped = sample.wall_ns - sample.cpu_ns > 2e6;
    napped += has_napped ? 1 : 0;
    EXPECT_TRUE(!has_napped || sample.label == SampleLabel::disturbed) << sample.wall_ns;
  }
  EXPECT_GE(napped, 8);
  EXPECT_LT(row.duration_ns_median, 1.5e6);
  const auto share = signal_of(row, "clean_share");
  ASSERT_TRUE(share && share->value);
  EXPECT_LE(*share->value, 0.8);
}

// Each shard is off its CPU in calls of its own; the sample counts on neither.
TEST(Campaign, shards_at_once_set_aside_the_same_samples) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  KernelCase pair = copy_case(4096);
  pair.parts = 2;
  pair.shards_at_once = 2;
  CampaignOptions options =
      fake_options("latency_ns=600000;nap=enqueue;nap_every=7;nap_ns=4000000");
  options.thresholds.disturbed_samples = {1, 1};
  options.rule.min_samples = 8;
  options.rule.budget_s = 0.02;
  const std::vector<KernelCase> cases{pair};
  const Measurement row = Campaign(options).run(cases).at(0);
  ASSERT_EQ(row.status, Status::ok) << row.reason;
  ASSERT_EQ(row.shard_wall_ns.size(), 2U);
  int napped = 0;
  for (std::size_t i = 0; i < row.samples.size(); ++i) {
    const bool has_napped = std::max(row.shard_wall_ns[0][i], row.shard_wall_ns[1][i]) > 4.5e6;
    napped += has_napped ? 1 : 0;
    EXPECT_TRUE(!has_napped || row.samples[i].label == SampleLabel::disturbed) << i;
  }
  EXPECT_GE(napped, 1);
  EXPECT_LT(row.duration_ns_median, 3e6);
}

TEST(Campaign, a_collective_of_one_rank_needs_no_launcher) {
  KernelCase alone = fake_case({"all_reduce", {{"bytes", 256}, {"ranks", 1}, {"dtype", 2}}});
  const Measurement row = measure_one("", alone);
  EXPECT_EQ(row.status, Status::ok) << row.reason;
}

TEST(Campaign, a_shard_that_crashes_beside_another_ends_the_trial_as_a_row) {
  if (Topology::of_machine().processing_units() < 2) GTEST_SKIP() << "one CPU";
  KernelCase pair = copy_case(4096);
  pair.parts = 2;
  pair.shards_at_once = 2;
  const Measurement row = measure_one("crash=enqueue;after=8", pair);
  EXPECT_EQ(row.status, Status::crashed) << row.reason;
  EXPECT_NE(row.reason.find("shard"), std::string::npos) << row.reason;
}

// A thread that widens its affinity mask shares the work of another worker's CPU.
TEST(Campaign, a_plugin_that_uses_more_cpus_than_it_was_given_has_no_time) {
  if (Topology::of_machine().processing_units() != 2) GTEST_SKIP() << "written for two CPUs";
  KernelCase half = copy_case(4096);
  half.parts = 2;
  CampaignOptions options = fake_options("foreign_cpus=1;latency_ns=200000");
  options.rule.budget_s = 0.1;  // the time of a thread that runs elsewhere is counted by ticks
  const auto rows = Campaign(std::move(options)).run({{half}});
  ASSERT_EQ(rows.size(), 1U);
  const Measurement& row = rows.front();
  const auto used = std::ranges::find(row.signals, "cpus_used", &Signal::name);
  if (used == row.signals.end() || used->value.value_or(0) < 1.3) GTEST_SKIP() << "both are busy";
  EXPECT_EQ(row.status, Status::quarantined) << row.reason;
  EXPECT_NE(row.reason.find("CPUs, and 1 were given to it"), std::string::npos) << row.reason;
}

}  // namespace
}  // namespace halmark
