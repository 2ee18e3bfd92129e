#include "core/latency.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace halmark {
namespace {

Measurement round_of(double median_ns, Status status = Status::ok) {
  Measurement m;
  m.status = status;
  m.reason = status == Status::ok ? "" : "because";
  m.duration_ns_median = median_ns;
  m.duration_ns_interval = {median_ns - 1, median_ns + 2};
  m.implementation.name = "brg";
  return m;
}

TEST(FoldRounds, is_the_median_of_the_medians_of_the_processes) {
  const std::vector<Measurement> rounds{round_of(30), round_of(10), round_of(11)};
  const auto got = fold_rounds(rounds, 5);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->ns, 11);
  EXPECT_EQ(got->low_ns, 10);
  EXPECT_EQ(got->high_ns, 30);
  EXPECT_EQ(got->lower_bound_ns, 5);
  EXPECT_EQ(got->rounds, 3);
  EXPECT_EQ(got->provenance, Provenance::measured);
  EXPECT_EQ(got->status, Status::ok);
  EXPECT_EQ(got->implementation, "brg");
}

TEST(FoldRounds, nine_rounds_give_the_interval_of_their_ranks) {
  std::vector<Measurement> rounds;
  for (int i = 9; i >= 1; --i) rounds.push_back(round_of(i * 10.0));
  const auto got = fold_rounds(rounds, 0);
  EXPECT_EQ(got->ns, 50);
  EXPECT_EQ(got->low_ns, 20);
  EXPECT_EQ(got->high_ns, 80);
}

TEST(FoldRounds, one_round_keeps_the_interval_of_its_samples) {
  const auto got = fold_rounds(std::vector{round_of(10)}, 0);
  EXPECT_EQ(got->low_ns, 9);
  EXPECT_EQ(got->high_ns, 12);
  EXPECT_EQ(got->rounds, 1);
}

TEST(FoldRounds, rows_without_a_latency_do_not_count) {
  const std::vector<Measurement> rounds{round_of(10), round_of(1, Status::crashed),
                                        round_of(1, Status::invalid),
                                        round_of(1, Status::quarantined), round_of(12)};
  const auto got = fold_rounds(rounds, 0);
  EXPECT_EQ(got->rounds, 2);
  EXPECT_EQ(got->ns, 11);
  EXPECT_EQ(got->low_ns, 10);
}

TEST(FoldRounds, nothing_usable_gives_nothing) {
  EXPECT_FALSE(fold_rounds({}, 0));
  EXPECT_FALSE(fold_rounds(std::vector{round_of(10, Status::wrong_result)}, 0));
}

TEST(FoldRounds, a_suspect_round_that_counts_makes_the_latency_suspect) {
  const auto got = fold_rounds(std::vector{round_of(10), round_of(12, Status::suspect)}, 0);
  EXPECT_EQ(got->status, Status::suspect);
  EXPECT_EQ(got->reason, "because");
  EXPECT_EQ(got->rounds, 2);
}

// Two undisturbed processes outvote a suspect one; one does not.
TEST(FoldRounds, suspect_rounds_count_until_two_are_ok) {
  const Measurement suspect = round_of(50, Status::suspect);
  const auto one = fold_rounds(std::vector{suspect, round_of(10), suspect}, 0);
  EXPECT_EQ(one->rounds, 3);
  EXPECT_EQ(one->ns, 50);
  EXPECT_EQ(one->status, Status::suspect);
  const auto two = fold_rounds(std::vector{suspect, round_of(10), suspect, round_of(12)}, 0);
  EXPECT_EQ(two->rounds, 2);
  EXPECT_EQ(two->ns, 11);
  EXPECT_EQ(two->high_ns, 12);
  EXPECT_EQ(two->status, Status::ok);
  EXPECT_EQ(two->reason, "");
  EXPECT_EQ(process_medians_ns(std::vector{suspect, round_of(10)}), (std::vector<double>{50, 10}));
  EXPECT_EQ(process_medians_ns(std::vector{suspect, round_of(10), round_of(12)}),
            (std::vector<double>{10, 12}));
}

TEST(FoldRounds, the_first_doubt_is_named) {
  Measurement first = round_of(10, Status::suspect), second = round_of(12, Status::suspect);
  first.reason = "first";
  second.reason = "second";
  EXPECT_EQ(fold_rounds(std::vector{round_of(9), first, second}, 0)->reason, "first");
}

TEST(FoldUsableRounds, takes_noisy_rows_where_there_is_no_other) {
  Measurement noisy = round_of(20, Status::invalid), empty = noisy;
  noisy.samples.push_back({.wall_ns = 20});
  const auto only = fold_usable_rounds(std::vector{noisy, empty}, 3);
  ASSERT_TRUE(only);
  EXPECT_EQ(only->rounds, 1) << "a row without samples measured nothing";
  EXPECT_EQ(only->status, Status::suspect);
  EXPECT_EQ(only->reason, "only noisy measurements: because");
  EXPECT_EQ(only->lower_bound_ns, 3);
  const auto beside = fold_usable_rounds(std::vector{noisy, round_of(10)}, 0);
  EXPECT_EQ(beside->ns, 10);
  EXPECT_EQ(beside->status, Status::ok);
  EXPECT_FALSE(fold_usable_rounds(std::vector{empty, round_of(1, Status::crashed)}, 0));
  EXPECT_EQ(process_medians_ns(std::vector{noisy, empty}), (std::vector<double>{20}));
  EXPECT_EQ(process_medians_ns(std::vector{noisy, round_of(10)}), (std::vector<double>{10}));
  EXPECT_TRUE(process_medians_ns({}).empty());
}

TEST(FoldRounds, the_interval_always_holds_the_latency) {
  Measurement odd = round_of(10);
  odd.duration_ns_interval = {11, 12};
  const auto got = fold_rounds(std::vector{odd}, 0);
  EXPECT_LE(got->low_ns, got->ns);
  EXPECT_GE(got->high_ns, got->ns);
}

Measurement metered(std::vector<Signal> signals, const std::string& device = "0", int at_once = 1) {
  Measurement m = round_of(10);
  m.kernel_case.backend = "cuda";
  m.kernel_case.device = device;
  m.kernel_case.shards_at_once = at_once;
  m.signals = std::move(signals);
  return m;
}

// A meter counts what all shards of its device take: 6 J of three at once are 2 J of one.
TEST(FoldRounds, energy_is_of_one_shard_and_by_the_devices_own_meter_first) {
  const Signal own{.name = "device_energy_uj", .value = 6e6},
      rapl{.name = "package_energy_uj", .value = 9e6};
  const auto fold = [](const Measurement& m) { return fold_rounds(std::vector{m}, 0).value(); };
  EXPECT_DOUBLE_EQ(fold(metered({rapl, own})).energy_j.value(), 6);
  EXPECT_EQ(fold(metered({rapl, own})).energy_origin, "cuda:0");
  EXPECT_DOUBLE_EQ(fold(metered({rapl})).energy_j.value(), 9);
  EXPECT_EQ(fold(metered({rapl})).energy_origin, "rapl");
  EXPECT_DOUBLE_EQ(fold(metered({own}, "0", 3)).energy_j.value(), 2);
  EXPECT_DOUBLE_EQ(fold(metered({own}, "0+1+2", 3)).energy_j.value(), 6) << "a shard a device";
  EXPECT_DOUBLE_EQ(fold(metered({own}, "0+1+2+3", 2)).energy_j.value(), 6);
  Measurement collective = metered({own});
  collective.kernel_case.problem.params.set("ranks", 2);
  EXPECT_DOUBLE_EQ(fold(collective).energy_j.value(), 3);
  EXPECT_FALSE(fold(metered({})).energy_j);
  EXPECT_FALSE(fold(metered({{.name = "device_energy_uj", .value = {}}})).energy_j);
  const std::vector<Measurement> three = {metered({own}), metered({{own.name, 2e6, {}}}),
                                          metered({{own.name, 3e6, {}}})};
  EXPECT_DOUBLE_EQ(fold_rounds(three, 0)->energy_j.value(), 3) << "the median";
}

TEST(FoldRounds, the_state_of_the_machine_is_the_median_of_what_its_probes_said) {
  Measurement a = round_of(10), b = round_of(11);
  EXPECT_FALSE(fold_rounds(std::vector{a}, 0)->bytes_per_s);
  EXPECT_FALSE(fold_rounds(std::vector{a}, 0)->flops_per_s);
  a.bandwidth.before = 1, a.bandwidth.after = 2;
  b.bandwidth.after = 9;
  a.peak_flops_before = 10, a.peak_flops_after = 40;
  b.peak_flops_before = 20;
  const auto got = fold_rounds(std::vector{a, b}, 0);
  EXPECT_EQ(got->bytes_per_s, 2);
  EXPECT_EQ(got->flops_per_s, 20);
}

TEST(Provenance, has_a_name_for_each_source) {
  EXPECT_EQ(provenance_name(Provenance::measured), "measured");
  EXPECT_EQ(provenance_name(Provenance::interpolated), "interpolated");
  EXPECT_EQ(provenance_name(Provenance::fabric), "fabric");
  EXPECT_EQ(provenance_name(Provenance::roofline), "roofline");
  EXPECT_EQ(provenance_name(Provenance::imported), "imported");
}

}  // namespace
}  // namespace halmark
