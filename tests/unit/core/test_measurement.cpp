#include "core/measured/measurement.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/text/enum_names.hpp"

namespace halmark {
namespace {

constexpr int statuses = static_cast<int>(enumerators<Status>());

TEST(Status, names_are_distinct_and_read_back) {
  std::set<std::string_view> names;
  for (int i = 0; i < statuses; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_TRUE(names.insert(status_name(status)).second);
    EXPECT_EQ(parse_status(status_name(status)), status);
  }
  EXPECT_EQ(status_name(Status::quarantined), "quarantined");
  EXPECT_EQ(status_name(Status::cancelled), "cancelled");
  EXPECT_EQ(parse_status("fine"), std::nullopt);
  EXPECT_EQ(parse_status(""), std::nullopt);
}

TEST(Status, only_ok_and_suspect_carry_a_latency) {
  for (int i = 0; i < statuses; ++i) {
    const auto status = static_cast<Status>(i);
    EXPECT_EQ(has_latency(status), status == Status::ok || status == Status::suspect);
  }
}

TEST(Status, noise_and_refusals_are_no_failures) {
  for (const char* name : {"ok", "suspect", "unsupported", "invalid", "refused", "cancelled"}) {
    EXPECT_FALSE(counts_as_failure(*parse_status(name))) << name;
  }
  for (const char* name :
       {"out_of_memory", "compile_failed", "launch_failed", "device_lost", "wrong_result",
        "nan_result", "quarantined", "crashed", "timed_out", "worker_lost"}) {
    EXPECT_TRUE(counts_as_failure(*parse_status(name))) << name;
  }
}

TEST(Measurement, one_that_nothing_happened_to_is_no_success) {
  EXPECT_EQ(Measurement{}.status, Status::cancelled);
}

}  // namespace
}  // namespace halmark
