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

Params small_gemm(const std::string& other = "") {
  return written("m=2 n=3 k=4 src_dtype=f32 wei_dtype=f32 dst_dtype=f32 " + other);
}

TEST(CompleteProblem, fills_defaults) {
  EXPECT_EQ(completed("gemm", small_gemm()).at("wei_trans"), 0);
  const auto norm = completed("rmsnorm", written("rows=1 cols=8 src_dtype=f32 dst_dtype=f32"));
  EXPECT_EQ(norm.at("epsilon_e12"), 1'000'000);
}

// Operands may have 64 TiB: 2^24 rows of 2^20 values of four bytes.
TEST(CompleteProblem, refuses_what_does_not_fit_with_what_would) {
  const struct {
    const char *op, *params;
    std::vector<const char*> said;
  } cases[] = {
      {"gem", "", {"gemm"}},
      {"no_such_op_at_all", "", {"unknown op 'no_such_op_at_all'; known: "}},
      {"copy", "", {"op copy needs parameter 'bytes' (", ")"}},
      {"gemm", "wei_tran=1", {"'wei_tran'", "wei_trans"}},
      {"gemm", "m=0", {"m=0", "1.."}},
      {"gemm", "src_dtype=99", {"99", "bf16"}},
      {"gemm", "src_dtype=s4", {"s4"}},
      {"gemm", "src_dtype=s8", {"s8 x s8 -> s32"}},
      {"gemm", "dst_dtype=u8", {"dst_dtype=u8 is out of range; expected f32, bf16, f16, s32"}},
      {"gemm", "m=2147483648 k=2147483648", {"src"}},
      {"gemm", "n=1 m=16777216 k=1048576", {"accepted"}},
      {"gemm", "n=1 m=16777217 k=1048576", {"op gemm: operand src would need more than 64 TiB"}},
      {"attention",
       "batch=1 heads=6 kv_heads=4 head_dim=8 new_tokens=1 context=9 q_dtype=f32 kv_dtype=f32 "
       "dst_dtype=f32",
       {"heads=6", "kv_heads=4"}},
      {"attention",
       "batch=1 heads=6 kv_heads=3 head_dim=8 new_tokens=10 context=9 q_dtype=f32 kv_dtype=f32 "
       "dst_dtype=f32",
       {"context"}},
      {"rope",
       "rows=1 heads=1 head_dim=8 rotary_dim=5 src_dtype=f32 dst_dtype=f32",
       {"rotary_dim=5"}},
      {"all_reduce", "bytes=6 ranks=2 dtype=f32", {"bytes=6"}},
      {"all_reduce", "bytes=4 ranks=1 dtype=f32", {"accepted"}},
      {"all_reduce", "bytes=4 ranks=65536 dtype=f32", {"accepted"}},
      {"all_reduce",
       "bytes=4 ranks=0 dtype=f32",
       {"op all_reduce: ranks=0 is out of range; expected 1..65536"}},
      {"all_reduce",
       "bytes=4 ranks=65537 dtype=f32",
       {"op all_reduce: ranks=65537 is out of range; expected 1..65536"}},
      {"activation",
       "rows=1 cols=1 kind=4 src_dtype=f32 dst_dtype=f32",
       {"kind=4 is out of range; expected 0, 1, 2, 3"}},
  };
  for (const auto& [op, params, said] : cases) {
    const bool is_gemm = std::string_view(op) == "gemm";
    const std::string line = refusal({op, is_gemm ? small_gemm(params) : written(params)});
    for (const char* words : said) EXPECT_THAT(line, HasSubstr(words)) << op << params;
  }
}

TEST(MatmulResults, are_f32_and_the_sources_own_type_where_they_are_asked_for) {
  using enum Dtype;
  using Types = std::vector<Dtype>;
  const Types all{f32, bf16, f16, s8, s32};
  for (const auto& [source, asked, results] : {std::tuple(f32, all, Types{f32}),
                                               {bf16, all, {f32, bf16}},
                                               {f16, all, {f32, f16}},
                                               {s8, all, {s32}},
                                               {bf16, {bf16}, {bf16}},
                                               {bf16, {f32}, {f32}},
                                               {f32, {bf16}, {}}}) {
    EXPECT_EQ(matmul_results(source, asked), results);
  }
}

TEST(CompleteProblem, is_idempotent) {
  const auto once = complete_problem({"gemm", small_gemm()});
  EXPECT_EQ(complete_problem(once), once);
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
