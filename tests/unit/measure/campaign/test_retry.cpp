// Which rows are tried again, which of two tries is the row, and what it tells of the other.
#include "measure/campaign/gate/retry.hpp"

#include <gtest/gtest.h>

#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/fresh_probe.hpp"
#include "measure/campaign/losses.hpp"
#include "measure/campaign/stack/staged_stacks.hpp"
#include "measure/campaign/trial_gate.hpp"

namespace halmark {
namespace {

Measurement row_of(Status status, int clean, int disturbed, double wall_s = 1) {
  Measurement out;
  out.status = status;
  out.reason = std::string(status_name(status)) + " row";
  out.wall_s = wall_s;
  for (int i = 0; i < clean + disturbed; ++i) {
    out.samples.push_back(
        {.wall_ns = 10, .label = i < clean ? SampleLabel::clean : SampleLabel::disturbed});
  }
  return out;
}

TEST(Loss, is_a_worker_that_has_to_be_replaced) {
  for (const Status lost :
       {Status::crashed, Status::timed_out, Status::device_lost, Status::worker_lost}) {
    EXPECT_TRUE(is_loss(lost));
  }
  for (const Status kept : {Status::ok, Status::suspect, Status::invalid, Status::refused,
                            Status::wrong_result, Status::out_of_memory, Status::launch_failed}) {
    EXPECT_FALSE(is_loss(kept));
  }
}

TEST(Disturbed, is_a_noisy_row_with_samples_that_no_deadline_ended) {
  EXPECT_TRUE(is_disturbed(row_of(Status::suspect, 1, 1)));
  EXPECT_TRUE(is_disturbed(row_of(Status::invalid, 1, 1)));
  EXPECT_FALSE(is_disturbed(row_of(Status::ok, 1, 1)));
  EXPECT_FALSE(is_disturbed(row_of(Status::crashed, 1, 1)));
  EXPECT_FALSE(is_disturbed(row_of(Status::suspect, 0, 0)));
  Measurement late = row_of(Status::suspect, 1, 1);
  late.stop_rule = "deadline";
  EXPECT_FALSE(is_disturbed(late));
  late.stop_rule = "budget";
  EXPECT_TRUE(is_disturbed(late));
}

// What a busy machine can show once, a plugin that cheats shows twice.
TEST(Unconfirmed, is_a_contradiction_to_the_clocks_that_was_seen_once) {
  const auto quarantined = [](const std::string& reason) {
    Measurement out = row_of(Status::quarantined, 2, 0);
    out.reason = reason;
    return out;
  };
  const Measurement lying = quarantined("timer: new inputs take 1.7 times as long");
  EXPECT_TRUE(is_unconfirmed(lying));
  EXPECT_FALSE(is_unconfirmed(quarantined("faster_than_roofline: 120 % of the memory bound")));
  EXPECT_FALSE(is_unconfirmed(row_of(Status::ok, 2, 0)));
  EXPECT_FALSE(is_unconfirmed(better_of(lying, lying, 1)));
  EXPECT_TRUE(is_unconfirmed(better_of(row_of(Status::invalid, 0, 2), lying, 1)))
      << "the first try was noisy, so only one has contradicted itself";
  const Measurement honest = better_of(lying, row_of(Status::ok, 2, 0), 1);
  EXPECT_EQ(honest.status, Status::ok);
  EXPECT_EQ(honest.signals.front().reason, "quarantined before: " + lying.reason);
}

// Told apart by how long they took.
bool takes_again(const Measurement& first, const Measurement& again) {
  const Measurement out = better_of(first, again, 2);
  EXPECT_EQ(out.wall_s, first.wall_s + again.wall_s) << "a row says what all its tries have cost";
  const bool is_noted = !out.signals.empty() && out.signals.front().name == "tried_again";
  if (is_noted) {
    EXPECT_EQ(out.signals.front().value, 2);
    EXPECT_EQ(out.signals.front().reason,
              std::string(status_name(first.status)) + " before: " + first.reason);
  }
  EXPECT_EQ(out.reason, is_noted ? again.reason : first.reason);
  return is_noted;
}

TEST(BetterOf, is_the_status_first_and_then_the_share_that_was_disturbed) {
  const auto of = [](Status status, int clean, int disturbed) {
    Measurement out = row_of(status, clean, disturbed);
    out.reason += " " + std::to_string(clean) + "/" + std::to_string(disturbed);
    return out;
  };
  EXPECT_TRUE(takes_again(of(Status::suspect, 9, 1), of(Status::ok, 1, 9)));
  EXPECT_FALSE(takes_again(of(Status::suspect, 1, 9), of(Status::invalid, 9, 1)));
  EXPECT_TRUE(takes_again(of(Status::invalid, 9, 1), of(Status::suspect, 1, 9)));
  EXPECT_TRUE(takes_again(of(Status::invalid, 9, 1), of(Status::ok, 1, 9)));
  EXPECT_FALSE(takes_again(of(Status::suspect, 9, 1), of(Status::quarantined, 9, 1)) &&
               !counts_as_failure(Status::quarantined));
  EXPECT_TRUE(takes_again(of(Status::suspect, 8, 2), of(Status::suspect, 9, 1)));
  EXPECT_FALSE(takes_again(of(Status::suspect, 8, 2), of(Status::suspect, 7, 3)));
  EXPECT_FALSE(takes_again(of(Status::suspect, 8, 2), of(Status::suspect, 8, 2))) << "the first";
}

TEST(BetterOf, of_two_without_labels_or_all_disturbed_is_the_first) {
  Measurement unlabelled = row_of(Status::suspect, 3, 0);
  for (Sample& sample : unlabelled.samples) sample.label = SampleLabel::unlabelled;
  Measurement again = unlabelled;
  again.reason += " again";
  EXPECT_FALSE(takes_again(unlabelled, again));
  EXPECT_FALSE(takes_again(unlabelled, row_of(Status::suspect, 0, 3)));
}

TEST(BetterOf, is_a_failure_whatever_was_before_and_never_a_try_without_samples) {
  EXPECT_TRUE(takes_again(row_of(Status::suspect, 9, 1), row_of(Status::wrong_result, 0, 0)));
  EXPECT_FALSE(takes_again(row_of(Status::invalid, 0, 9), row_of(Status::invalid, 0, 0)));
}

TEST(BetterOf, tells_every_fresh_probe_once_at_its_end) {
  Measurement first = row_of(Status::suspect, 1, 9), again = row_of(Status::ok, 9, 1);
  first.signals = {{fresh_probe_signal, std::nullopt, "earlier"}, {"steal", 1, ""}};
  again.signals = {{fresh_probe_signal, std::nullopt, "later"}, {"load", 2, ""}};
  const Measurement out = better_of(first, again, 1);
  ASSERT_EQ(out.signals.size(), 4u);
  EXPECT_EQ(out.signals[0].name, "load");
  EXPECT_EQ(out.signals[1].name, "tried_again");
  EXPECT_EQ(out.signals[2].reason, "earlier");
  EXPECT_EQ(out.signals[3].reason, "later");
  const Measurement kept = better_of(first, row_of(Status::invalid, 9, 1), 1);
  ASSERT_EQ(kept.signals.size(), 2u);
  EXPECT_EQ(kept.signals[1].reason, "earlier");
}

KernelCase kernel_of(const std::string& kernel, std::int64_t m = 1,
                     const std::string& device = "0") {
  return {.problem = {"gemm", {{"m", m}}}, .kernel = kernel, .backend = "fake", .device = device};
}

Measurement lost_row(const KernelCase& kernel_case, Status status,
                     const std::string& phase = "first", const std::string& reason = "gone") {
  Measurement out{.kernel_case = kernel_case, .round = 2, .status = status};
  out.phase = phase;
  out.reason = reason;
  return out;
}

TEST(Losses, of_three_in_a_row_disable_a_kernel_on_its_device) {
  Losses losses(nullptr);
  const KernelCase a = kernel_of("a");
  for (int i = 0; i < 2; ++i) {
    losses.note(lost_row(a, Status::crashed));
    EXPECT_EQ(losses.why_not(a), "");
  }
  losses.note(lost_row(a, Status::ok));
  for (const char* reason : {"one", "two", "three"}) {
    EXPECT_EQ(losses.why_not(a), "") << "a good row begins anew";
    losses.note(lost_row(a, Status::worker_lost, "first", reason));
  }
  const std::string why = "disabled after 3 lost workers in a row: three";
  EXPECT_EQ(losses.why_not(a), why);
  EXPECT_EQ(losses.why_not(kernel_of("a", 7)), why) << "whatever its sizes";
  EXPECT_EQ(losses.why_not(kernel_of("b")), "");
  EXPECT_EQ(losses.why_not(kernel_of("a", 1, "1")), "");
  EXPECT_EQ(losses.why_hung(a), "");
}

TEST(Losses, of_a_hang_end_its_case_or_its_device) {
  Losses losses(nullptr);
  const KernelCase a = kernel_of("a");
  losses.note_hang(lost_row(a, Status::crashed, "sample"));
  EXPECT_EQ(losses.why_hung(a), "");
  losses.note(lost_row(a, Status::timed_out, "sample", "no answer"));
  EXPECT_EQ(losses.why_not(a), "not tried again: hung in sample in round 2: no answer");
  EXPECT_EQ(losses.why_not(kernel_of("a", 7)), "") << "another case";
  for (const char* phase : {"start", "hello", "load", "open", "token", "join"}) {
    EXPECT_TRUE(is_of_device(phase));
    Losses others(nullptr);
    others.note_hang(lost_row(a, Status::timed_out, phase));
    EXPECT_NE(others.why_hung(kernel_of("b", 9)), "") << "every case of the device";
    EXPECT_EQ(others.why_hung(kernel_of("b", 9, "1")), "");
  }
  for (const char* phase : {"", "create", "first", "sample"}) EXPECT_FALSE(is_of_device(phase));
  EXPECT_EQ(device_key(a), "fake:0");
}

TEST(Losses, of_a_hang_are_known_to_the_next_campaign) {
  Hangs kept;
  Losses(&kept).note(lost_row(kernel_of("a"), Status::timed_out, "sample"));
  EXPECT_NE(Losses(&kept).why_hung(kernel_of("a")), "");
  EXPECT_EQ(Losses(nullptr).why_hung(kernel_of("a")), "");
}

// 131072 samples: of a stack of three steps 43690 repetitions.
TEST(StackMemory, is_for_as_many_repetitions_as_samples_are_kept) {
  std::vector<Stack> stacks(2);
  EXPECT_EQ(repetitions_max(stacks), 131'072);
  stacks[1].steps.resize(3);
  EXPECT_EQ(repetitions_max(stacks), 43'690);
  stacks[0].steps.resize(200'000);
  EXPECT_EQ(repetitions_max(stacks), 1);
}

TEST(StackMemory, has_a_set_for_each_instance_of_a_kernel_once) {
  KernelCase copy{.problem = {"copy", {{"bytes", 4096}}}, .backend = "fake"};
  KernelCase larger = copy;
  larger.problem.params.set("bytes", 8192);
  const auto of_sets = [](KernelCase k, int sets) {
    k.sets = sets;
    return arena_bytes(k);
  };
  std::vector<Stack> stacks(2);
  stacks[0].kernels = {copy, larger, copy};
  stacks[0].instances = {3, 2, 3};
  stacks[1].kernels = {copy};
  stacks[1].instances = {0};
  const auto bytes = stack_arena_bytes(stacks);
  ASSERT_EQ(bytes.size(), 2u);
  EXPECT_EQ(bytes[0], of_sets(copy, 3) + of_sets(larger, 2));
  EXPECT_EQ(bytes[1], of_sets(copy, 1)) << "one at least";
}

// A constant has an eighth more for its packing, and its plain source beside it; each buffer has
// 8 KiB around it, each kernel 16 MiB to work in: gemm of 8 x 16 x 32 in f32, of 3 sets.
TEST(StackMemory, counts_what_lies_around_buffers) {
  KernelCase gemm{
      .problem =
          {"gemm",
           {{"m", 8}, {"n", 16}, {"k", 32}, {"src_dtype", 2}, {"wei_dtype", 2}, {"dst_dtype", 2}}},
      .backend = "fake"};
  gemm.sets = 3;
  constexpr std::int64_t around = 8192, src = 8 * 32 * 4, wei = 32 * 16 * 4, dst = 8 * 16 * 4;
  EXPECT_EQ(staged_bytes(gemm),
            (src + around) + 3 * (wei + wei / 8 + around) + (wei + around) + 3 * (dst + around));
  EXPECT_EQ(arena_bytes(gemm), staged_bytes(gemm) + (16 << 20));
  gemm.mode = CacheMode::rotate_all;
  EXPECT_EQ(staged_bytes(gemm), 3 * (src + around) + 3 * (wei + wei / 8 + around) + (wei + around) +
                                    3 * (dst + around));
}

// One set of each kernel, and the plain constants of one of them at a time.
TEST(StackMemory, at_the_least_is_a_set_of_each_kernel_and_the_largest_plain_constants) {
  const auto gemm = [](std::int64_t n) {
    KernelCase out{
        .problem =
            {"gemm",
             {{"m", 8}, {"n", n}, {"k", 32}, {"src_dtype", 2}, {"wei_dtype", 2}, {"dst_dtype", 2}}},
        .backend = "fake"};
    out.sets = 5;
    return out;
  };
  const auto one_set = [&](std::int64_t n) {
    KernelCase k = gemm(n);
    k.sets = 1;
    return staged_bytes(k);
  };
  constexpr std::int64_t around = 8192, small_plain = 16 * 32 * 4;
  const std::vector<KernelCase> both{gemm(16), gemm(64)};
  EXPECT_EQ(least_bytes(both), one_set(16) + one_set(64) - (small_plain + around));
  EXPECT_EQ(least_bytes(std::span(both).first(1)), one_set(16));
  EXPECT_EQ(least_bytes({}), 0);

  Stack stack{.kernels = both, .instances = {7, 7}};
  stack.kernels.push_back(both[0]);  // again: on the same sets
  stack.instances.push_back(7);
  ArenaNeed need;
  need.add(std::vector{stack, Stack{.kernels = {both[0]}, .instances = {7}}});
  EXPECT_EQ(need.least, (std::vector{least_bytes(both), one_set(16)}));
  EXPECT_EQ(need.least_at_once, least_bytes(both) + one_set(16));
  EXPECT_EQ(need.wanted_bytes(), need.wanted[0] + need.wanted[1]);
  need.add(both[0]);
  EXPECT_EQ(need.least_at_once, least_bytes(both) + one_set(16)) << "not at the same time";
  EXPECT_EQ(need.wanted.size(), 2u);
}

TEST(StackMemory, beyond_the_limit_is_refused_with_what_it_needs) {
  constexpr std::int64_t mib = 1 << 20;
  const RunMemory limited{.machine_bytes = 8192 * mib,
                          .limit_bytes = 1024 * mib,
                          .free_bytes = 300 * mib,
                          .limited_by = "/sys/fs/cgroup/job"};
  EXPECT_FALSE(memory_refusal(960 * mib, 2, limited)) << "what others hold now may go";
  EXPECT_EQ(memory_refusal(961 * mib, 2, limited),
            "needs 961 MiB of memory for one argument set of each kernel on 2 shards, and this run "
            "may use 960 MiB (limit of /sys/fs/cgroup/job)");
}

TEST(SignalsOfChecks, keep_the_largest_cost_of_new_inputs) {
  std::vector<Signal> signals;
  keep_most(signals, std::nullopt);
  EXPECT_TRUE(signals.empty());
  for (const double cost : {1.5, 3.0, 2.0}) keep_most(signals, cost);
  ASSERT_EQ(signals.size(), 1u);
  EXPECT_EQ(signals[0].name, "new_inputs_cost");
  EXPECT_EQ(signals[0].value, 3.0);
}

TEST(SignalsOfChecks, have_a_seed_that_is_new_and_exact_in_a_double) {
  std::uint64_t all = 0;
  for (int i = 0; i < 64; ++i) {
    const std::uint64_t seed = fresh_seed();
    EXPECT_LT(seed, std::uint64_t{1} << 53);
    all |= seed;
  }
  EXPECT_GE(all, std::uint64_t{1} << 52) << "of 64 one has the highest bit";
  EXPECT_NE(fresh_seed(), fresh_seed());
}

TEST(MemoryWalk, is_the_plateau_of_a_memory_that_is_known_and_half_a_gibibyte_at_most) {
  constexpr std::int64_t mib = 1 << 20;
  Device device;
  EXPECT_EQ(memory_walk_bytes(device), 0);
  device.bandwidths.push_back({.level = "l1", .threads = 1, .bytes_per_s = 1e9});
  EXPECT_EQ(memory_walk_bytes(device), 0);
  device.bandwidths.push_back({.level = "memory", .threads = 1, .bytes_per_s = 1e9});
  EXPECT_EQ(memory_walk_bytes(device), 256 * mib);
  for (const auto& [plateau, walk] :
       {std::pair(64, 64), std::pair(511, 511), std::pair(512, 512), std::pair(600, 512)}) {
    device.ring_plateau_bytes = plateau * mib;
    EXPECT_EQ(memory_walk_bytes(device), walk * mib);
  }
}

}  // namespace
}  // namespace halmark
