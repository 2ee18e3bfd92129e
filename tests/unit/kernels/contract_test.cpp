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

}  // namespace
}  // namespace halmark::testing
