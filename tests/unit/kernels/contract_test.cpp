#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/text/error.hpp"
#include "kernels/matmul_reference.hpp"
#include "tests/unit/kernels/table_reader.hpp"

namespace halmark::testing {
namespace {

using ::testing::HasSubstr;

std::string refusal(const Problem& problem) {
  try {
    complete_problem(problem);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.line();
  }
  return "accepted";
}

Params small_gemm() {
  return {{"m", 2},
          {"n", 3},
          {"k", 4},
          {"src_dtype", value_of(Dtype::f32)},
          {"wei_dtype", value_of(Dtype::f32)},
          {"dst_dtype", value_of(Dtype::f32)}};
}

TEST(CompleteProblem, fills_defaults) {
  EXPECT_EQ(completed("gemm", small_gemm()).at("wei_trans"), 0);
  const auto f32 = value_of(Dtype::f32);
  const auto norm =
      completed("rmsnorm", {{"rows", 1}, {"cols", 8}, {"src_dtype", f32}, {"dst_dtype", f32}});
  EXPECT_EQ(norm.at("epsilon_e12"), 1'000'000);
}

TEST(CompleteProblem, names_the_nearest_op_and_parameter) {
  EXPECT_THAT(refusal({"gem", small_gemm()}), HasSubstr("gemm"));
  auto params = small_gemm();
  params.set("wei_tran", 1);
  const auto line = refusal({"gemm", params});
  EXPECT_THAT(line, HasSubstr("'wei_tran'"));
  EXPECT_THAT(line, HasSubstr("wei_trans"));
}

TEST(CompleteProblem, says_which_parameter_is_missing) {
  EXPECT_THAT(refusal({"copy", {}}), HasSubstr("'bytes'"));
}

TEST(CompleteProblem, says_the_range_that_a_value_left) {
  auto params = small_gemm();
  params.set("m", 0);
  EXPECT_THAT(refusal({"gemm", params}), AllOf(HasSubstr("m=0"), HasSubstr("1..")));
}

TEST(CompleteProblem, spells_the_dtypes_it_would_take) {
  auto params = small_gemm();
  params.set("src_dtype", 99);
  EXPECT_THAT(refusal({"gemm", params}), AllOf(HasSubstr("99"), HasSubstr("bf16")));
  params.set("src_dtype", value_of(Dtype::s4));
  EXPECT_THAT(refusal({"gemm", params}), HasSubstr("s4"));
}

TEST(CompleteProblem, refuses_relations_that_do_not_hold) {
  auto params = small_gemm();
  params.set("src_dtype", value_of(Dtype::s8));
  EXPECT_THAT(refusal({"gemm", params}), HasSubstr("s8 x s8 -> s32"));
  const auto f32 = value_of(Dtype::f32);
  Params attention{{"batch", 1},     {"heads", 6},      {"kv_heads", 4},
                   {"head_dim", 8},  {"new_tokens", 1}, {"context", 9},
                   {"q_dtype", f32}, {"kv_dtype", f32}, {"dst_dtype", f32}};
  EXPECT_THAT(refusal({"attention", attention}),
              AllOf(HasSubstr("heads=6"), HasSubstr("kv_heads=4")));
  attention.set("kv_heads", 3);
  attention.set("new_tokens", 10);
  EXPECT_THAT(refusal({"attention", attention}), HasSubstr("context"));
  EXPECT_THAT(refusal({"rope",
                       {{"rows", 1},
                        {"heads", 1},
                        {"head_dim", 8},
                        {"rotary_dim", 5},
                        {"src_dtype", f32},
                        {"dst_dtype", f32}}}),
              HasSubstr("rotary_dim=5"));
  EXPECT_THAT(refusal({"all_reduce", {{"bytes", 6}, {"ranks", 2}, {"dtype", f32}}}),
              HasSubstr("bytes=6"));
}

TEST(CompleteProblem, refuses_sizes_whose_product_no_machine_holds) {
  auto params = small_gemm();
  params.set("m", std::int64_t{1} << 31);
  params.set("k", std::int64_t{1} << 31);
  EXPECT_THAT(refusal({"gemm", params}), HasSubstr("src"));
}

TEST(MatmulResults, are_f32_and_the_sources_own_type_where_they_are_asked_for) {
  const std::vector all{Dtype::f32, Dtype::bf16, Dtype::f16, Dtype::s8, Dtype::s32};
  using Types = std::vector<Dtype>;
  EXPECT_EQ(matmul_results(Dtype::f32, all), (Types{Dtype::f32}));
  EXPECT_EQ(matmul_results(Dtype::bf16, all), (Types{Dtype::f32, Dtype::bf16}));
  EXPECT_EQ(matmul_results(Dtype::f16, all), (Types{Dtype::f32, Dtype::f16}));
  EXPECT_EQ(matmul_results(Dtype::s8, all), (Types{Dtype::s32}));
  EXPECT_EQ(matmul_results(Dtype::bf16, Types{Dtype::bf16}), (Types{Dtype::bf16}));
  EXPECT_EQ(matmul_results(Dtype::bf16, Types{Dtype::f32}), (Types{Dtype::f32}));
  EXPECT_TRUE(matmul_results(Dtype::f32, Types{Dtype::bf16}).empty());
}

TEST(CompleteProblem, is_idempotent) {
  const auto once = complete_problem({"gemm", small_gemm()});
  EXPECT_EQ(complete_problem(once), once);
}

// 2^24 rows of 2^20 values of four bytes are 64 TiB.
TEST(CompleteProblem, takes_operands_of_up_to_64_tib) {
  auto params = small_gemm();
  params.set("n", 1);
  params.set("m", std::int64_t{1} << 24);
  params.set("k", std::int64_t{1} << 20);
  EXPECT_EQ(refusal({"gemm", params}), "accepted");
  params.set("m", (std::int64_t{1} << 24) + 1);
  EXPECT_THAT(refusal({"gemm", params}),
              HasSubstr("op gemm: operand src would need more than 64 TiB"));
}

TEST(CompleteProblem, takes_both_ends_of_a_range) {
  const auto reduce = [](std::int64_t ranks) {
    return refusal(
        {"all_reduce", {{"bytes", 4}, {"ranks", ranks}, {"dtype", value_of(Dtype::f32)}}});
  };
  EXPECT_EQ(reduce(1), "accepted");
  EXPECT_EQ(reduce(65536), "accepted");
  EXPECT_EQ(reduce(0), "op all_reduce: ranks=0 is out of range; expected 1..65536");
  EXPECT_EQ(reduce(65537), "op all_reduce: ranks=65537 is out of range; expected 1..65536");
}

TEST(CompleteProblem, lists_what_a_choice_may_be) {
  const auto f32 = value_of(Dtype::f32);
  EXPECT_THAT(
      refusal({"activation",
               {{"rows", 1}, {"cols", 1}, {"kind", 4}, {"src_dtype", f32}, {"dst_dtype", f32}}}),
      HasSubstr("kind=4 is out of range; expected 0, 1, 2, 3"));
  auto params = small_gemm();
  params.set("dst_dtype", value_of(Dtype::u8));
  EXPECT_THAT(refusal({"gemm", params}),
              HasSubstr("dst_dtype=u8 is out of range; expected f32, bf16, f16, s32"));
}

TEST(CompleteProblem, says_what_a_missing_parameter_means_and_what_a_derived_one_is) {
  EXPECT_THAT(refusal({"copy", {}}),
              AllOf(HasSubstr("op copy needs parameter 'bytes' ("), HasSubstr(")")));
  EXPECT_THAT(refusal({"no_such_op_at_all", {}}),
              HasSubstr("unknown op 'no_such_op_at_all'; known: "));
}

TEST(OperandSpec, packs_rows_of_types_below_a_byte) {
  const OperandSpec packed{.name = "x", .dtype = Dtype::s4, .dims = {3, 5}};
  EXPECT_EQ(packed.elements(), 15);
  EXPECT_EQ(packed.bytes(), 3 * 3) << "five of four bits are three bytes";
  const OperandSpec scalar{.name = "x", .dtype = Dtype::f64, .dims = {}};
  EXPECT_EQ(scalar.elements(), 1);
  EXPECT_EQ(scalar.bytes(), 8);
}

TEST(Contracts, that_are_unknown_are_none_and_nothing_is_said_of_measuring_them) {
  EXPECT_EQ(find_contract("gem"), nullptr);
  EXPECT_NO_THROW(require_measurable("gem"));
}

}  // namespace
}  // namespace halmark::testing
