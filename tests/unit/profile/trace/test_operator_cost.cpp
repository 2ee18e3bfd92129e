// FLOPs of single operators against counts by hand: 2 m n k per product, 2 pairs (d + dv) per head.
#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "profile/trace/operator_class.hpp"
#include "profile/trace/operator_cost.hpp"

namespace halmark::trace {
namespace {

using testing::HasSubstr;

OperatorCost cost(std::string_view name, std::string_view dims, std::string_view values = "",
                  std::string_view types = "") {
  const std::string text =
      std::string(dims) + '\x1e' + std::string(types) + '\x1e' + std::string(values);
  return operator_cost(name, parse_arguments(text, "t.json"));
}

// Two groups: each filter sees half of the channels. Products of every operator are those of its
// schema, in test_operator_schemas.cpp.
TEST(OperatorCost, products_and_convolutions) {
  const OperatorCost found =
      cost("aten::convolution", "[[1, 4, 8], [6, 2, 3], [], [], [], [], [], [], []]",
           R"(["", "", "", "[1]", "[0]", "[1]", "False", "[0]", "2"])");
  ASSERT_TRUE(found.flops) << found.reason;
  EXPECT_EQ(*found.flops, 2. * 6 * 6 * 6);
}

std::string dims_of(const std::vector<std::vector<std::int64_t>>& tensors) {
  std::string out;
  for (const auto& tensor : tensors) {
    std::string sizes;
    for (const std::int64_t n : tensor) sizes += (sizes.empty() ? "" : ", ") + std::to_string(n);
    out += (out.empty() ? "[" : ", [") + sizes + ']';
  }
  return '[' + out + ']';
}

// Of every output pixel whose window begins inside of the padded image, counted one by one.
TEST(OperatorCost, convolutions_count_the_windows_that_fit) {
  struct Shape {
    std::int64_t height, width, rows, columns, stride[2], padding[2], dilation[2];
  };
  for (const Shape& s :
       {Shape{8, 8, 3, 3, {1, 1}, {0, 0}, {1, 1}}, Shape{8, 9, 3, 2, {2, 3}, {1, 0}, {1, 1}},
        Shape{11, 7, 3, 3, {1, 2}, {2, 1}, {2, 3}}, Shape{5, 5, 5, 5, {1, 1}, {0, 0}, {1, 1}},
        Shape{6, 6, 1, 4, {4, 1}, {0, 3}, {1, 2}}}) {
    std::int64_t pixels = 0;
    for (std::int64_t y = -s.padding[0]; y < s.height + s.padding[0]; y += s.stride[0]) {
      for (std::int64_t x = -s.padding[1]; x < s.width + s.padding[1]; x += s.stride[1]) {
        pixels += y + s.dilation[0] * (s.rows - 1) < s.height + s.padding[0] &&
                  x + s.dilation[1] * (s.columns - 1) < s.width + s.padding[1];
      }
    }
    const auto pair = [](const std::int64_t(&v)[2]) {
      return "\"[" + std::to_string(v[0]) + ", " + std::to_string(v[1]) + "]\"";
    };
    const std::string values = "[\"\", \"\", \"\", " + pair(s.stride) + ", " + pair(s.padding) +
                               ", " + pair(s.dilation) + ", \"1\"]";
    const OperatorCost found =
        cost("aten::conv2d",
             dims_of({{2, 3, s.height, s.width}, {5, 3, s.rows, s.columns}, {5}, {}, {}, {}, {}}),
             values);
    ASSERT_TRUE(found.flops) << found.reason;
    EXPECT_EQ(*found.flops, 2. * 2 * static_cast<double>(pixels * 5 * 3 * s.rows * s.columns));
  }
}

TEST(OperatorCost, convolutions_of_no_possible_size_have_none) {
  const auto found = [](const char* window, const char* steps) {
    return cost("aten::conv1d",
                std::string("[[1, 2, 5], [3, 2, ") + window + "], [], [], [], [], []]", steps);
  };
  EXPECT_EQ(*found("5", R"(["", "", "", "[1]", "[0]", "[1]", "1"])").flops, 2. * 3 * 2 * 5);
  for (const char* bad :
       {R"(["", "", "", "[0]", "[0]", "[1]", "1"])", R"(["", "", "", "[1]", "[-1]", "[1]", "1"])",
        R"(["", "", "", "[1]", "[0]", "[2]", "1"])",
        R"(["", "", "", "[1048577]", "[0]", "[1]", "1"])"}) {
    EXPECT_THAT(found("5", bad).reason, HasSubstr("no output has this size")) << bad;
  }
  EXPECT_THAT(found("6", R"(["", "", "", "[1]", "[0]", "[1]", "1"])").reason,
              HasSubstr("no output has this size"));
  EXPECT_TRUE(found("5", R"(["", "", "", "[1048576]", "[0]", "[1]", "1"])").flops);
  // Each pixel of the input meets every weight of its channel.
  EXPECT_EQ(*cost("aten::convolution", "[[2, 4, 6], [4, 3, 5], [], [], [], [], [], [], []]",
                  R"(["", "", "", "[2]", "[0]", "[1]", "True", "[0]", "1"])")
                 .flops,
            2. * 2 * 6 * 4 * 3 * 5);
}

TEST(OperatorCost, leading_dimensions_are_broadcast) {
  const auto flops = [](const std::vector<std::int64_t>& x, const std::vector<std::int64_t>& y) {
    return cost("aten::matmul", dims_of({x, y})).flops.value_or(-1);
  };
  EXPECT_EQ(flops({3, 4}, {4, 5}), 2. * 3 * 4 * 5);
  EXPECT_EQ(flops({7, 3, 4}, {4, 5}), 2. * 7 * 3 * 4 * 5);
  EXPECT_EQ(flops({3, 4}, {7, 4, 5}), 2. * 7 * 3 * 4 * 5);
  EXPECT_EQ(flops({2, 1, 3, 4}, {6, 4, 5}), 2. * 12 * 3 * 4 * 5);
  EXPECT_EQ(flops({1, 6, 3, 4}, {2, 6, 4, 5}), 2. * 12 * 3 * 4 * 5);
  EXPECT_EQ(flops({4}, {4}), 2. * 4);
  EXPECT_EQ(flops({6, 3, 4}, {4}), 2. * 6 * 3 * 4);
  EXPECT_EQ(flops({4}, {6, 4, 5}), 2. * 6 * 4 * 5);
  EXPECT_EQ(flops({}, {4}), -1);
}

TEST(OperatorCost, sizes_that_do_not_fit_together_are_refused_with_what_is_expected) {
  const std::pair<const char*, const char*> table[] = {{"aten::linear", "[[2, 3, 5], [7, 6], [7]]"},
                                                       {"aten::linear", "[[2, 3, 5], [7], [7]]"},
                                                       {"aten::bmm", "[[2, 3, 5], [2, 6, 7]]"},
                                                       {"aten::bmm", "[[3, 5], [5, 7]]"},
                                                       {"aten::mv", "[[3, 5], [5, 1]]"},
                                                       {"aten::mv", "[[3], [5]]"},
                                                       {"aten::dot", "[[9, 1], [9]]"},
                                                       {"aten::dot", "[[9], [9, 1]]"},
                                                       {"aten::_grouped_mm", "[[6, 5], [5, 7]]"},
                                                       {"aten::_grouped_mm", "[[6], [4, 5, 7]]"},
                                                       {"aten::mm", "[[3, 5], [6, 7]]"},
                                                       {"aten::matmul", "[[3, 5]]"}};
  for (const auto& [name, dims] : table) {
    const OperatorCost found = cost(name, dims);
    EXPECT_FALSE(found.flops) << name << dims;
    EXPECT_FALSE(found.reason.empty()) << name;
  }
  EXPECT_EQ(*cost("aten::_grouped_mm", "[[6, 7], [4, 5, 7], [4], [], []]").flops, 2. * 6 * 5 * 7)
      << "weights as [groups, n, k]";
  EXPECT_EQ(*cost("aten::_grouped_mm", "[[6, 5], [4, 5, 5], [4], [], []]").flops, 2. * 6 * 5 * 5);
}

TEST(OperatorCost, attention_knows_its_mask) {
  const char* const dims = "[[2, 4, 6, 8], [2, 2, 6, 8], [2, 2, 6, 8], [], [], [], [], []]";
  const auto sdpa = [&](const char* causal, const char* shapes) {
    return cost("aten::scaled_dot_product_attention", shapes,
                std::string(R"(["", "", "", "", "0.", ")") + causal + R"(", "", "True"])");
  };
  EXPECT_EQ(*sdpa("True", dims).flops, 2. * 2 * 4 * (6 * 7 / 2) * 16);
  EXPECT_EQ(*sdpa("False", dims).flops, 2. * 2 * 4 * 36 * 16);
  EXPECT_EQ(sdpa("False", dims).attention->mask, Mask::full);
  const OperatorCost masked =
      sdpa("False", "[[2, 4, 6, 8], [2, 2, 6, 8], [2, 2, 6, 8], [2, 1, 6, 6], [], [], [], []]");
  EXPECT_EQ(masked.attention->mask, Mask::given);
  EXPECT_EQ(*masked.flops, 2. * 2 * 4 * 36 * 16);
  // A short causal query is aligned with the first key.
  EXPECT_EQ(*sdpa("True", "[[1, 1, 2, 8], [1, 1, 9, 8], [1, 1, 9, 8], [], [], [], [], []]").flops,
            2. * 3 * 16);
}

TEST(OperatorCost, attention_of_different_widths_and_more_queries_than_keys) {
  const char* const values = R"(["", "", "", "", "0.", "False", "", ""])";
  EXPECT_EQ(*cost("aten::scaled_dot_product_attention",
                  "[[1, 3, 5, 24], [1, 3, 7, 24], [1, 3, 7, 16], [], [], [], [], []]", values)
                 .flops,
            2. * 3 * 35 * (24 + 16));
  EXPECT_EQ(*cost("aten::scaled_dot_product_attention",
                  "[[1, 3, 9, 8], [1, 3, 7, 8], [1, 3, 7, 8], [], [], [], [], []]", values)
                 .flops,
            2. * 3 * 63 * 16);
}

TEST(OperatorCost, packed_sequences_of_unknown_lengths_are_unknown) {
  const auto packed = [](const char* dims, const char* longest) {
    return cost("flash_attn::_flash_attn_varlen_forward", dims,
                std::string(R"(["", "", "", "", "", ")") + longest + R"(", ")" + longest +
                    R"(", "0.", "0.1", "True"])");
  };
  const OperatorCost equal =
      packed("[[6, 4, 8], [6, 2, 8], [6, 2, 8], [3], [3], [], [], [], [], []]", "3");
  EXPECT_EQ(*equal.flops, 2. * 2 * 4 * 6 * 16);
  const OperatorCost mixed =
      packed("[[6, 4, 8], [6, 2, 8], [6, 2, 8], [3], [3], [], [], [], [], []]", "5");
  EXPECT_FALSE(mixed.flops);
  EXPECT_THAT(mixed.reason, HasSubstr("different lengths"));
  EXPECT_EQ(mixed.packed->longest, 5);
}

TEST(OperatorCost, what_is_not_known_has_a_reason_and_no_figure) {
  EXPECT_THAT(cost("aten::mm", "").reason, HasSubstr("record_shapes"));
  EXPECT_THAT(cost("aten::mm", "[[3, 5], [6, 7]]").reason, HasSubstr("inner sizes"));
  EXPECT_THAT(cost("aten::scaled_dot_product_attention",
                   "[[2, 4, 6, 8], [2, 2, 6, 8], [2, 2, 6, 8], [], [], []]")
                  .reason,
              HasSubstr("causal"));
  EXPECT_THAT(cost("vllm::unified_attention", "[[6, 32], [6, 8], [6, 8], []]").reason,
              HasSubstr("cache"));
  EXPECT_THAT(cost("_moe_C::moe_wna16_gemm", "[[6, 32]]").reason, HasSubstr("no formula"));
  EXPECT_FALSE(cost("aten::conv2d", "[[1, 3, 8, 8], [4, 3, 3, 3], [], [], [], [], []]").flops);
  EXPECT_THROW(parse_arguments("[[1e400]]", "t"), Error);
  EXPECT_THROW(parse_arguments("[[-1]]", "t"), Error);
}

TEST(OperatorClass, names_are_matched_whole) {
  EXPECT_EQ(classify("aten::mm"), OperatorClass::matmul);
  EXPECT_EQ(classify("mm::aten"), OperatorClass::unknown);
  EXPECT_EQ(classify("aten::view"), OperatorClass::free);
  EXPECT_EQ(classify("mylib::gate_up_proj_mm"), OperatorClass::unknown);
  EXPECT_EQ(classify("mylib::q_norm"), OperatorClass::unknown);
  EXPECT_EQ(classify("triton_poi_fused_mul_0"), OperatorClass::unknown);
  EXPECT_EQ(classify("autograd::engine::evaluate_function: MmBackward0"),
            OperatorClass::annotation);
  EXPECT_EQ(classify("ProfilerStep#3"), OperatorClass::annotation);
  EXPECT_EQ(classify("nccl:all_reduce"), OperatorClass::communication);
  for (int i = 0; i <= static_cast<int>(OperatorClass::unknown); ++i) {
    EXPECT_FALSE(operator_class_name(static_cast<OperatorClass>(i)).empty());
  }
}

}  // namespace
}  // namespace halmark::trace
