#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.hpp"
#include "model/pricing/memory.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark {
namespace {

using model_test::decode;
using model_test::prefill;
using model_test::tiny;

struct Case {
  const char* reason;
  Configuration configuration;
  std::vector<std::string> numbers;  // both must be named
};
class Refused : public testing::TestWithParam<Case> {};

TEST_P(Refused, with_its_reason_and_both_numbers) {
  const auto built = build_graph(tiny(), GetParam().configuration);
  const auto* refusal = built.why();
  ASSERT_NE(refusal, nullptr);
  EXPECT_EQ(refusal->reason, GetParam().reason);
  for (const std::string& number : GetParam().numbers) {
    EXPECT_THAT(refusal->text, testing::HasSubstr(number));
  }
  EXPECT_TRUE(check_configuration(tiny(), GetParam().configuration).has_value());
}

Precision with_linear(Dtype linear) {
  Precision out = model_test::bf16();
  out.set_linears(linear);
  return out;
}

// 4 layers, 4 heads, 2 KV heads, FFN 16, 128 positions.
INSTANTIATE_TEST_SUITE_P(
    Tiny, Refused,
    testing::Values(
        Case{"nonpositive_input", decode(0, 8), {"batch 0"}},
        Case{"nonpositive_input", decode(1, 8, {.tp = 0}), {"tp 0"}},
        Case{"nonpositive_input", decode(1, 8, {.pp = -1}), {"pp -1"}},
        Case{"nonpositive_input", decode(1, 0), {"context 0"}},
        Case{"nonpositive_input", prefill(1, 9, 8), {"9", "8"}},
        Case{"tp_does_not_divide_heads", decode(1, 8, {.tp = 3}), {"tp 3", "4 query heads"}},
        Case{"tp_does_not_divide_heads", decode(1, 8, {.tp = 8}), {"tp 8", "4 query heads"}},
        Case{"ep_does_not_divide_experts", decode(1, 8, {.ep = 2}), {"ep 2", "0 experts"}},
        Case{"too_many_devices", decode(1 << 30, 8, {.dp = 1 << 30}), {"1073741824", "1048576"}},
        Case{"pp_exceeds_layers", decode(5, 8, {.pp = 5}), {"pp 5", "4 layers"}},
        Case{"stages_do_not_match_pp", decode(2, 8, {.pp = 2, .stages = {1, 1, 2}}), {"3", "pp 2"}},
        Case{"stages_do_not_match_layers", decode(2, 8, {.pp = 2, .stages = {1, 2}}), {"3", "4"}},
        Case{"empty_stage", decode(2, 8, {.pp = 2, .stages = {0, 4}}), {"0 layers"}},
        Case{"dp_does_not_divide_batch", decode(3, 8, {.dp = 2}), {"dp 2", "batch 3"}},
        Case{"pp_does_not_divide_batch", decode(6, 8, {.dp = 2, .pp = 2}), {"pp 2", "3"}},
        Case{"context_exceeds_model", decode(1, 129), {"129", "128"}},
        Case{"dtype_unsupported", decode(1, 8, {}, with_linear(Dtype::f32)), {"f32", "bf16"}}),
    [](const auto& info) {
      return test::case_name({info.param.reason, info.param.numbers});
    });

TEST(Refusal, fewer_sequences_than_stages_are_none_and_a_warning) {
  for (const std::int64_t batch : {1, 2, 3}) {
    const OperatorGraph graph = model_test::graph_of(tiny(), decode(batch, 8, {.pp = 4}));
    EXPECT_EQ(graph.micro_batch(), 1);
    EXPECT_EQ(graph.micro_batches(), batch);
    ASSERT_EQ(graph.warnings.size(), 1u);
    EXPECT_TRUE(graph.warnings.front().starts_with("idle_stages: " + std::to_string(batch)));
  }
}

TEST(Refusal, kv_heads_that_neither_split_nor_replicate) {
  ModelSpec spec = tiny();
  spec.heads = 12;
  spec.kv_heads = 6;
  const auto refusal = check_configuration(spec, decode(1, 8, {.tp = 4}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "tp_kv_mismatch");
  EXPECT_THAT(refusal->text, testing::AllOf(testing::HasSubstr("4"), testing::HasSubstr("6")));
  EXPECT_FALSE(check_configuration(spec, decode(1, 8, {.tp = 2})));
  EXPECT_FALSE(check_configuration(tiny(), decode(1, 8, {.tp = 4})));  // 2 KV heads, twice
}

TEST(Refusal, an_ffn_that_does_not_split) {
  ModelSpec spec = tiny();
  spec.intermediate = 18;
  const auto refusal = check_configuration(spec, decode(1, 8, {.tp = 4}));
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->reason, "tp_does_not_divide_ffn");
  EXPECT_THAT(refusal->text, testing::AllOf(testing::HasSubstr("4"), testing::HasSubstr("18")));
}

TEST(Refusal, rope_scaling_turns_a_long_context_into_a_warning) {
  ModelSpec spec = tiny();
  spec.rope_scaling = true;
  const OperatorGraph graph = model_test::graph_of(spec, decode(1, 129));
  EXPECT_THAT(graph.warnings, testing::ElementsAre(testing::HasSubstr("129 exceeds 128")));
}

TEST(Refusal, a_dtype_without_a_contract_is_a_row_and_no_exception) {
  const Precision precision = Precision::uniform("u4", Dtype::u4);
  const auto built = build_graph(tiny(), decode(1, 8, {}, precision));
  ASSERT_FALSE(built);
  EXPECT_EQ(built.failure.reason, "operator_refused");
  EXPECT_THAT(built.failure.text, testing::HasSubstr("u4"));
}

TEST(Refusal, a_workload_beyond_any_machine_overflows_nothing) {
  const auto huge = std::int64_t{1} << 40;
  for (const Configuration& d : {decode(huge, 8), prefill(1 << 20, 1 << 20, 1 << 20)}) {
    EXPECT_FALSE(build_graph(tiny(), d));
  }
}

}  // namespace
}  // namespace halmark
