#include "core/json/json.hpp"
#include "journal/rows/row_codec.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>

#include "journal_fixture.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::journal {
namespace {

std::string doubles(std::initializer_list<double> values) {
  std::string out;
  for (const double value : values) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out.append(bytes, sizeof value);
  }
  return out;
}

TEST(PackSamples, the_layout_is_counts_then_samples_then_shards) {
  Measurement m;
  m.samples = {{.wall_ns = 1, .cpu_ns = 2, .device_ns = 3, .set = 4},
               {.wall_ns = 5, .cpu_ns = 6, .device_ns = {}, .set = 7}};
  m.shard_wall_ns = {{8, 9}, {10}};
  EXPECT_EQ(pack_samples(m), doubles({2, 2, 1, 2, 3, 4, 5, 6, -1, 7, 2, 8, 9, 1, 10}));
}

// Rows without labels end where all rows did before there were any.
TEST(PackSamples, labels_follow_as_runs_of_equal_ones) {
  Measurement m;
  for (const auto label : {SampleLabel::clean, SampleLabel::clean, SampleLabel::disturbed}) {
    m.samples.push_back({.wall_ns = 1, .cpu_ns = 2, .label = label});
  }
  EXPECT_EQ(pack_samples(m), doubles({3, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 2, -1, 0, 2, 1, 2, 2, 1}));
  Measurement back;
  unpack_samples(pack_samples(m), back);
  ASSERT_EQ(back.samples.size(), 3u);
  EXPECT_EQ(back.samples[1].label, SampleLabel::clean);
  EXPECT_EQ(back.samples[2].label, SampleLabel::disturbed);
  unpack_samples(doubles({1, 0, 1, 2, -1, 0}), back);
  EXPECT_EQ(back.samples.at(0).label, SampleLabel::unlabelled) << "a row of an earlier version";
}

TEST(UnpackSamples, gives_back_what_was_packed) {
  Measurement m = test::numbered_measurement(1, 50);
  m.samples[3].device_ns = 0.0;
  Measurement back;
  unpack_samples(pack_samples(m), back);
  ASSERT_EQ(back.samples.size(), 50u);
  EXPECT_EQ(back.samples[7].wall_ns, m.samples[7].wall_ns);
  EXPECT_EQ(back.samples[7].cpu_ns, m.samples[7].cpu_ns);
  EXPECT_EQ(back.samples[7].set, 7);
  EXPECT_EQ(back.samples[3].device_ns, 0.0) << "zero is a time, absent is not";
  EXPECT_EQ(back.samples[4].device_ns, std::nullopt);
  EXPECT_EQ(back.shard_wall_ns, m.shard_wall_ns);
}

TEST(UnpackSamples, a_measurement_without_samples_stays_without) {
  Measurement back = test::numbered_measurement(1);
  unpack_samples(pack_samples(Measurement{}), back);
  EXPECT_TRUE(back.samples.empty());
  EXPECT_TRUE(back.shard_wall_ns.empty());
}

class BadBlocks : public testing::TestWithParam<std::string> {};

TEST_P(BadBlocks, whose_counts_and_length_disagree_are_refused_before_memory_is_taken) {
  Measurement m;
  EXPECT_THROW(unpack_samples(GetParam(), m), std::invalid_argument);
}

INSTANTIATE_TEST_SUITE_P(
    Blocks, BadBlocks,
    testing::Values(std::string(), std::string(7, 'x'), doubles({0}), doubles({1, 0, 1, 2, 3}),
                    doubles({0, 1}), doubles({0, 1, 2, 8}), doubles({0, 0, 0}), doubles({-1, 0}),
                    doubles({0.5, 0}), doubles({1e9, 0}), doubles({0, 9e8, 0}),
                    doubles({0, 1, 1e300}), doubles({1, 0, 1, 2, -1, 0, 1, 1, 2}),
                    doubles({1, 0, 1, 2, -1, 0, 1, 1, 0}), doubles({1, 0, 1, 2, -1, 0, 1, 1, 0.5}),
                    doubles({1, 0, 1, 2, -1, 0, 1, 3, 1}), doubles({1, 0, 1, 2, -1, 0, 1, 0.5, 1}),
                    doubles({1, 0, 1, 2, -1, 0, 0}), doubles({1, 0, 1, 2, -1, 0, 1, 1, 1, 7}),
                    doubles({0, 0, 1, 1, 1}), doubles({1, 0, 1, 2, -1, -1}),
                    doubles({1, 0, 1, 2, -1, 0.5}), doubles({1, 0, 1, 2, -1, 2147483648.0})),
    [](const auto& info) {
      return test::case_name({info.index, "of", info.param.size(), "bytes"});
    });

TEST(ValidationJson, reads_back_whole) {
  Validation v = test::full_validation();
  v.bubble_share = 0.3;
  v.is_oversubscribed = false;
  const Validation back = validation_from(parse_json(dump_json(validation_json(v)), "v"));
  EXPECT_EQ(dump_json(validation_json(back)), dump_json(validation_json(v)));
  EXPECT_EQ(back.deployment_key, v.deployment_key);
  EXPECT_EQ(back.status, Status::suspect);
  EXPECT_EQ(back.operators.at(1).name, "attention");
  EXPECT_DOUBLE_EQ(*back.prediction_error(), 100.5 / 110.25 - 1);
  EXPECT_EQ(back.composition_error(), -0.01);
  EXPECT_EQ(back.composition->pairs, 5);
  EXPECT_EQ(back.composition->apart, 1);
  EXPECT_EQ(back.memory, v.memory);
  EXPECT_EQ(back.memory->ranks.at(0).roles.at(0).unexplained_bytes(), 5);
  EXPECT_EQ(back.memory_reason, "none");
  EXPECT_EQ(back.bubble_share, 0.3);
  EXPECT_EQ(back.executions, v.executions);
  EXPECT_FALSE(back.is_oversubscribed);
  v.is_oversubscribed = true;
  EXPECT_TRUE(validation_from(parse_json(dump_json(validation_json(v)), "v")).is_oversubscribed);
}

// Rows before there were pairs: their figure is the sum of kernels near the run, and what had been
// printed was not kept.
TEST(ValidationJson, reads_rows_without_pairs) {
  const Validation v = validation_from(parse_json(
      R"({"deployment_key": "k", "predicted_ns": 90, "measured_ns": 100,
          "predicted_interval_ns": [80, 95],
          "measured_interval_ns": [99, 101], "status": "ok", "reason": "",
          "operators": [{"name": "lm_head", "predicted_ns": 10, "measured_ns": 11}]})",
      "v"));
  EXPECT_DOUBLE_EQ(v.composition_error().value(), -0.1);
  EXPECT_EQ(v.composition->composed_ns, 90);
  EXPECT_EQ(v.composition->pairs, 0);
  EXPECT_FALSE(v.prediction_error());
  EXPECT_EQ(v.operators.at(0).composed_ns, 10);
  EXPECT_FALSE(v.memory);
  EXPECT_EQ(v.memory_reason, "") << "nobody measured it";
}

}  // namespace
}  // namespace halmark::journal
