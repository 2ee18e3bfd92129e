// Which arguments of a product are its matrices, for every operator that is known; the dtype that a
// cost names; and the limits of sizes and steps.
#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "profile/trace/operator_class.hpp"
#include "profile/trace/operator_cost.hpp"

namespace halmark::trace {
namespace {

using testing::StartsWith;

OperatorCost cost(std::string_view name, std::string_view dims, std::string_view values = "",
                  std::string_view types = "") {
  const std::string text =
      std::string(dims) + '\x1e' + std::string(types) + '\x1e' + std::string(values);
  return operator_cost(name, parse_arguments(text, "t.json"));
}

// 3 rows, 5 inner, 7 columns wherever the operator is a product of two matrices. The type of the
// first factor alone is half: any other argument would say float.
struct Schema {
  const char* name;
  const char* dims;
  std::size_t factor;  // the first factor among the arguments
  std::int64_t batch = 1, m = 3, n = 7, k = 5;
};

constexpr Schema schemas[] = {
    {"aten::mm", "[[3, 5], [5, 7]]", 0},
    {"aten::_int_mm", "[[3, 5], [5, 7]]", 0},
    {"aten::_scaled_mm", "[[3, 5], [5, 7], [3, 1], [1, 7]]", 0},
    {"aten::_scaled_mm_v2", "[[3, 5], [5, 7], [3, 1], [1, 7]]", 0},
    {"torchao::scaled_mm", "[[3, 5], [5, 7], [3, 1], [1, 7]]", 0},
    {"aten::addmm", "[[7], [3, 5], [5, 7], [], []]", 1},
    {"aten::_addmm_activation", "[[7], [3, 5], [5, 7], [], []]", 1},
    {"aten::bmm", "[[2, 3, 5], [2, 5, 7]]", 0, 2},
    {"aten::baddbmm", "[[2, 3, 7], [2, 3, 5], [2, 5, 7], [], []]", 1, 2},
    {"aten::addbmm", "[[3, 7], [2, 3, 5], [2, 5, 7], [], []]", 1, 2},
    {"aten::mv", "[[3, 5], [5]]", 0, 1, 3, 1},
    {"aten::addmv", "[[3], [3, 5], [5], [], []]", 1, 1, 3, 1},
    {"aten::dot", "[[5], [5]]", 0, 1, 1, 1},
    {"aten::vdot", "[[5], [5]]", 0, 1, 1, 1},
    {"aten::inner", "[[3, 5], [7, 5]]", 0},
    {"aten::linear", "[[3, 5], [7, 5], [7]]", 0},
    {"aten::mkldnn_linear", "[[3, 5], [7, 5], [7]]", 0},
    {"mkldnn::_linear_pointwise", "[[3, 5], [7, 5], [7], [], [], []]", 0},
    {"mkl::_mkl_linear", "[[3, 5], [99], [7, 5], [7], []]", 0},
    {"aten::matmul", "[[3, 5], [5, 7]]", 0},
    {"aten::_grouped_mm", "[[3, 5], [4, 5, 7], [4], [], []]", 0},
    {"aten::_scaled_grouped_mm", "[[3, 5], [4, 5, 7], [3], [4, 7], [4]]", 0},
    {"_C::cutlass_scaled_mm", "[[3, 7], [3, 5], [5, 7], [1], [1], []]", 1},
    {"_C::cutlass_scaled_mm_azp", "[[3, 7], [3, 5], [5, 7], [1], [1], []]", 1},
    {"sgl_kernel::fp8_scaled_mm", "[[3, 5], [5, 7], [3, 1], [7, 1]]", 0},
    {"sgl_kernel::int8_scaled_mm", "[[3, 5], [5, 7], [3, 1], [7, 1]]", 0},
    {"sgl_kernel::fp8_blockwise_scaled_mm", "[[3, 5], [5, 7], [3, 1], [1, 1]]", 0},
    {"sglang::deep_gemm_fp8_fp8_bf16_nt", "[[3, 5], [3, 1], [7, 5], [1, 1], [3, 7]]", 0},
    {"vllm::w8a8_block_fp8_matmul", "[[3, 5], [7, 5], [3, 1], [1, 1]]", 0},
};

TEST(OperatorSchema, every_product_finds_its_factors) {
  for (const Schema& s : schemas) {
    std::string types;
    for (std::size_t i = 0; i < 6; ++i) {
      types += (i == 0 ? "[" : ", ") + std::string(i == s.factor ? "\"c10::Half\"" : "\"float\"");
    }
    const OperatorCost found = cost(s.name, s.dims, "", types + "]");
    ASSERT_TRUE(found.matmul) << s.name << ": " << found.reason;
    EXPECT_EQ(*found.matmul, (MatmulShape{s.batch, s.m, s.n, s.k})) << s.name;
    EXPECT_EQ(found.flops, 2. * static_cast<double>(s.batch * s.m * s.n * s.k)) << s.name;
    EXPECT_EQ(found.dtype, Dtype::f16) << s.name;
    EXPECT_EQ(classify(s.name), OperatorClass::matmul) << s.name;
  }
}

TEST(OperatorSchema, a_factor_that_is_missing_makes_a_product_unknown) {
  for (const Schema& s : schemas) {
    std::vector<Argument> whole = parse_arguments(s.dims, "t.json");
    std::size_t needed = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      auto without = whole;
      without[i].dims.clear();
      const OperatorCost found = operator_cost(s.name, without);
      needed += !found.flops;
      EXPECT_EQ(found.flops.has_value(), found.reason.empty()) << s.name;
      auto shorter = whole;
      shorter.resize(std::max<std::size_t>(1, i));
      EXPECT_FALSE(i <= s.factor + 1 && operator_cost(s.name, shorter).flops) << s.name << i;
    }
    EXPECT_EQ(needed, 2u) << s.name;
  }
}

TEST(OperatorSchema, any_empty_size_costs_nothing_and_is_known) {
  for (const char* dims : {"[[2, 0, 5], [2, 5, 7]]", "[[2, 3, 5], [2, 5, 0]]",
                           "[[2, 3, 0], [2, 0, 7]]", "[[0, 3, 5], [0, 5, 7]]"}) {
    const OperatorCost found = cost("aten::bmm", dims);
    EXPECT_EQ(found.flops, 0) << dims;
    EXPECT_EQ(found.reason, "") << dims;
  }
}

TEST(OperatorSchema, types_of_the_libraries_have_their_names) {
  const std::pair<const char*, std::optional<Dtype>> table[] = {
      {"float", Dtype::f32},
      {"c10::Half", Dtype::f16},
      {"c10::BFloat16", Dtype::bf16},
      {"c10::Float8_e4m3fn", Dtype::f8_e4m3fn},
      {"c10::Float8_e5m2", Dtype::f8_e5m2},
      {"signed char", Dtype::s8},
      {"unsigned char", Dtype::u8},
      {"int", Dtype::s32},
      {"Scalar", std::nullopt},
      {"", std::nullopt}};
  for (const auto& [text, dtype] : table) {
    EXPECT_EQ(cost("aten::mm", "[[3, 5], [5, 7]]", "", "[\"" + std::string(text) + "\"]").dtype,
              dtype)
        << text;
  }
  EXPECT_EQ(cost("aten::mm", "[[3, 5], [5, 7]]", "", "[]").dtype, std::nullopt);
  // The bias is no factor, also where nothing else is there.
  EXPECT_EQ(cost("aten::addmm", "[[7]]", "", R"(["float"])").dtype, std::nullopt);
}

TEST(OperatorSchema, fused_experts_need_all_their_sizes) {
  const char* const good = "[[5, 6], [3, 8, 6], [3, 6, 4], [5, 2], [9, 9]]";
  for (const char* name :
       {"vllm::fused_experts", "vllm::inplace_fused_experts", "vllm::outplace_fused_experts",
        "sglang::inplace_fused_experts", "sglang::outplace_fused_experts"}) {
    const OperatorCost found = cost(name, good);
    EXPECT_EQ(found.flops, 2. * 5 * 2 * 6 * (8 + 4)) << name << found.reason;
    EXPECT_EQ(classify(name), OperatorClass::experts) << name;
    for (const char* bad :
         {"[[5], [3, 8, 6], [3, 6, 4], [5, 2]]", "[[5, 6], [8, 6], [3, 6, 4], [5, 2]]",
          "[[5, 6], [3, 8, 6], [6, 4], [5, 2]]", "[[5, 6], [3, 8, 6], [3, 6, 4], [5]]",
          "[[5, 6], [3, 8, 7], [3, 6, 4], [5, 2]]", "[[5, 6], [3, 8, 6], [3, 7, 4], [5, 2]]"}) {
      EXPECT_THAT(cost(name, bad).reason, StartsWith("hidden states, both weights")) << bad;
    }
  }
}

TEST(OperatorSchema, a_convolution_says_what_it_lacks) {
  const auto found = [](const char* dims, const char* values) {
    return cost("aten::conv1d", dims, values);
  };
  const char* const dims = "[[1, 2, 5], [3, 2, 5], [], [], [], [], []]";
  EXPECT_TRUE(found(dims, R"(["", "", "", "[1]", "[0]", "[1]", "1"])").flops);
  for (const char* values :
       {R"(["", "", "", "", "[0]", "[1]", "1"])", R"(["", "", "", "[1]", "", "[1]", "1"])",
        R"(["", "", "", "[1]", "[0]", "", "1"])"}) {
    EXPECT_EQ(found(dims, values).reason, "stride, padding and dilation are not in the trace");
  }
  for (const char* few :
       {"[[1, 2, 5], [3, 2, 5], [], [], [], []]", "[[2, 5], [3, 5], [], [], [], [], []]",
        "[[1, 2, 5], [3, 5], [], [], [], [], []]"}) {
    EXPECT_EQ(found(few, R"(["", "", "", "[1]", "[0]", "[1]", "1"])").reason,
              "input and weights of a convolution are expected")
        << few;
  }
  // One number stands for all axes, whatever separates the others.
  EXPECT_EQ(cost("aten::conv3d", "[[1, 2, 5, 5, 5], [3, 2, 2, 2, 2], [], [], [], [], []]",
                 R"(["", "", "", "[2]", "[0, 0, 0]", "[1]", "1"])")
                .flops,
            2. * 8 * 3 * 2 * 8);
}

TEST(OperatorSchema, sizes_end_at_two_to_the_forty) {
  EXPECT_EQ(parse_arguments("[[1099511627776]]", "t").at(0).dims.at(0), 1099511627776);
  EXPECT_THROW(cost("aten::dot", "[[1099511627777], [5]]"), Error);
  EXPECT_THROW(cost("aten::dot", "[[5], [1.5]]"), Error);
  EXPECT_THROW(cost("aten::dot", "[[5], \"5\"]"), Error);
  EXPECT_EQ(parse_arguments("[[0]]", "t").at(0).dims, std::vector<std::int64_t>{0});
}

TEST(OperatorSchema, lists_of_tensors_types_and_values_stay_with_their_argument) {
  const auto a = parse_arguments(
      "[[[2, 3], [4]], [], [7]]\x1e[\"TensorList\", \"Scalar\"]\x1e"
      "[\"\", \"True\", \"x\"]",
      "t.json");
  ASSERT_EQ(a.size(), 3u);
  EXPECT_EQ(a[0].list, (std::vector<std::vector<std::int64_t>>{{2, 3}, {4}}));
  EXPECT_TRUE(a[0].dims.empty());
  EXPECT_EQ(a[0].type, "TensorList");
  EXPECT_EQ(a[1].type, "Scalar");
  EXPECT_EQ(a[1].value, "True");
  EXPECT_TRUE(a[1].list.empty());
  EXPECT_EQ(a[2].dims, std::vector<std::int64_t>{7});
  EXPECT_EQ(a[2].type, "");
  EXPECT_EQ(a[2].value, "x");
}

}  // namespace
}  // namespace halmark::trace
