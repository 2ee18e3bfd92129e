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

TEST(UnpackSamples, sets_and_labels_have_their_whole_range) {
  Measurement back;
  unpack_samples(doubles({2, 0, 1, 2, 0.5, 0, 3, 4, -1, 2147483647, 2, 0, 1, 2, 1}), back);
  ASSERT_EQ(back.samples.size(), 2u);
  EXPECT_EQ(back.samples[0].device_ns, 0.5);
  EXPECT_EQ(back.samples[0].set, 0);
  EXPECT_EQ(back.samples[0].label, SampleLabel::unlabelled);
  EXPECT_EQ(back.samples[1].set, 2147483647);
  EXPECT_EQ(back.samples[1].label, SampleLabel::disturbed);
  EXPECT_EQ(pack_samples(back), doubles({2, 0, 1, 2, 0.5, 0, 3, 4, -1, 2147483647, 2, 0, 1, 2, 1}));
}

TEST(UnpackSamples, says_what_does_not_hold) {
  const auto fault = [](const std::string& block) {
    try {
      Measurement m;
      unpack_samples(block, m);
    } catch (const std::invalid_argument& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_EQ(fault(doubles({0})), "sample block is too short");
  EXPECT_EQ(fault(doubles({3, 0, 1})),
            "sample block does not have the number of values that it states");
  EXPECT_EQ(fault(doubles({1, 0, 1, 2, -1, 0.5})),
            "sample block names a set of operands that there is not");
  EXPECT_EQ(fault(doubles({1, 0, 1, 2, -1, 0, 0})), "sample block ends in no labels");
  EXPECT_EQ(fault(doubles({1, 0, 1, 2, -1, 0, 1, 3, 1})),
            "sample block has a label that there is not");
  EXPECT_EQ(fault(doubles({1, 0, 1, 2, -1, 0, 1, 1, 2})),
            "sample block labels more samples than it has");
  EXPECT_EQ(fault(doubles({2, 0, 1, 2, -1, 0, 1, 2, -1, 0, 1, 1, 1})),
            "sample block leaves samples unlabelled");
  EXPECT_EQ(fault(doubles({1, 0, 1, 2, -1, 0, 1, 1, 1, 7})), "sample block is too long");
}

// What a row names: the number of its samples and the digest of their block.
class NamedBlock : public testing::Test {
 protected:
  NamedBlock() {
    block_ = pack_samples(row_);
    body_ = row_;
    name_block(body_, row_, block_);
  }
  SampleBytes::State state_of(const std::optional<std::string>& block) const {
    return sample_bytes(body_, "", block).state;
  }
  Measurement row_ = test::numbered_measurement(1, 4);
  std::string block_;
  Json body_;
};

TEST_F(NamedBlock, is_whole_changed_missing_or_another_ones) {
  using enum SampleBytes::State;
  EXPECT_EQ(state_of(block_), whole);
  EXPECT_EQ(sample_bytes(body_, "", block_).bytes, block_);
  EXPECT_EQ(state_of(block_ + 'x'), changed);
  EXPECT_EQ(state_of(std::nullopt), missing);
  body_.erase("sample_block");
  EXPECT_EQ(state_of(block_), unnamed);
  EXPECT_EQ(state_of(std::nullopt), none);
  EXPECT_EQ(sample_bytes(body_, "old", std::nullopt).state, whole) << "in a row of version 2";
  EXPECT_EQ(sample_bytes(body_, "old", std::nullopt).bytes, "old");
  EXPECT_EQ(fault_of(none), "");
  EXPECT_EQ(fault_of(whole), "");
  EXPECT_EQ(fault_of(missing), "its samples are missing, and no row of its run retires them");
  EXPECT_EQ(fault_of(changed), "its samples are not those that it was stored with");
  EXPECT_EQ(fault_of(unnamed), "samples lie beside it that it does not name");
}

TEST_F(NamedBlock, has_as_many_samples_as_its_row_says) {
  EXPECT_EQ(measurement_from(body_, block_).samples.size(), 4u);
  EXPECT_EQ(measurement_from(body_, block_).retired_samples, 0);
  EXPECT_EQ(measurement_from(body_, "").retired_samples, 4);
  body_["sample_block"]["samples"] = 5;
  EXPECT_THROW(measurement_from(body_, block_), std::invalid_argument);
  body_.erase("sample_block");
  EXPECT_EQ(measurement_from(body_, block_).samples.size(), 4u) << "an earlier version says none";
  EXPECT_EQ(measurement_from(body_, "").retired_samples, 0);
}

TEST(ValidationJson, keeps_the_states_that_figures_are_of) {
  Validation v = test::full_validation();
  v.predicted_state = StateInterval{.state = {4e10, 2e11}, .step_ns = 100, .ns = {95, 105}};
  v.composition->flops_per_s = 1e11;
  v.composition->in_one_state = false;
  Validation back = validation_from(validation_json(v));
  ASSERT_TRUE(back.predicted_state);
  EXPECT_EQ(back.predicted_state->state.bytes_per_s, 4e10);
  EXPECT_EQ(back.predicted_state->step_ns, 100);
  EXPECT_EQ(back.composition->bytes_per_s, 4e10);
  EXPECT_EQ(back.composition->flops_per_s, 1e11);
  EXPECT_FALSE(back.composition->in_one_state);
  EXPECT_EQ(back.composition->composed_ns, 109);
  EXPECT_EQ(back.composition->paired_share, 0.975);
  EXPECT_EQ(back.composition->error_interval.high, 0.02);
  EXPECT_EQ(back.predicted_interval_ns.low, 90);
  EXPECT_EQ(back.measured_interval_ns.high, 130);
  EXPECT_EQ(back.step_ns, (std::vector<double>{100.25, 110.25, 130}));
  EXPECT_EQ(back.composition_reason, "none");
  EXPECT_EQ(back.reason, "noisy");
  EXPECT_EQ(back.operators.at(0).composed_ns, 10);
  EXPECT_EQ(back.operators.at(0).measured_ns, 11);
  v.composition.reset();
  v.memory.reset();
  v.predicted_ns.reset();
  v.predicted_state.reset();
  v.bubble_share.reset();
  v.operators[0].composed_ns.reset();
  back = validation_from(validation_json(v));
  EXPECT_FALSE(back.composition || back.memory || back.predicted_ns || back.predicted_state);
  EXPECT_FALSE(back.bubble_share);
  EXPECT_EQ(back.operators.at(0).composed_ns, std::nullopt);
}

// A rank executes hundreds of kernels: each name stands once, times are whole nanoseconds.
TEST(ValidationJson, executions_name_each_operator_once) {
  Validation v;
  v.executions = {{{"a", 0.4, 4.5}, {"b", 5, 1}, {"a", 6, 2}}};
  const Json json = validation_json(v).at("executions").at(0);
  EXPECT_EQ(json.at("operators"), Json::parse(R"(["a", "b"])"));
  EXPECT_EQ(json.at("of"), Json::parse("[0, 1, 0]"));
  EXPECT_EQ(json.at("begin_ns"), Json::parse("[0, 5, 6]"));
  EXPECT_EQ(json.at("ns"), Json::parse("[5, 1, 2]")) << "halves go up";
}

TEST(ValidationJson, what_does_not_fit_together_is_refused) {
  Validation v;
  v.executions = {{{"a", 0, 4}, {"b", 5, 1}}};
  for (const char* list : {"begin_ns", "ns"}) {
    Json json = validation_json(v);
    json["executions"][0][list] = {1};
    EXPECT_THROW(validation_from(json), std::invalid_argument) << list;
  }
  Json json = validation_json(v);
  json["executions"][0]["of"] = {0, 2};
  EXPECT_ANY_THROW(validation_from(json)) << "there are two operators";
  json = validation_json(v);
  json["status"] = "odd";
  EXPECT_THROW(validation_from(json), std::invalid_argument);
}

TEST(ValidationJson, a_row_without_pairs_and_without_a_run_has_no_composition) {
  const auto composition = [](double measured_ns) {
    Json json = {{"deployment_key", "k"},      {"predicted_ns", 90},
                 {"measured_ns", measured_ns}, {"measured_interval_ns", {0, 0}},
                 {"status", "crashed"},        {"reason", ""},
                 {"operators", Json::array()}};
    return validation_from(json).composition;
  };
  EXPECT_FALSE(composition(0));
  ASSERT_TRUE(composition(0.5));
  EXPECT_EQ(composition(0.5)->error, 179) << "90 / 0.5 - 1";
  EXPECT_EQ(composition(0.5)->error_interval.low, 179);
  EXPECT_EQ(composition(0.5)->error_interval.high, 179);
}

}  // namespace
}  // namespace halmark::journal
