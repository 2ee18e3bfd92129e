// Which rows are tried again, which of two tries is the row, and what it tells of the other.
#include "measure/campaign/gate/retry.hpp"

#include <gtest/gtest.h>

#include "measure/campaign/bandwidth_state.hpp"
#include "measure/campaign/fresh_probe.hpp"

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
