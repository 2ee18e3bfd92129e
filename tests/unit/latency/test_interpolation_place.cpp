// Where problems stand in the space of an interpolation: coordinates in octaves over the length of
// each axis, by hand.
#include "latency/interpolation/interpolation_place.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

constexpr auto f32 = number_of(Dtype::f32);
constexpr auto s8 = number_of(Dtype::s8);

struct Axis {
  const char* name;
  double octaves, length;
};

void expect_axes(const Problem& problem, const std::vector<Axis>& axes) {
  const auto place = interpolation_place(problem);
  ASSERT_TRUE(place) << problem.text();
  ASSERT_EQ(place->at.size(), axes.size());
  ASSERT_EQ(place->names.size(), axes.size());
  ASSERT_EQ(place->lengths.size(), axes.size());
  for (std::size_t d = 0; d < axes.size(); ++d) {
    EXPECT_EQ(place->names[d], axes[d].name);
    EXPECT_EQ(place->lengths[d], axes[d].length) << axes[d].name;
    EXPECT_NEAR(place->at[d], axes[d].octaves / axes[d].length, 1e-12) << axes[d].name;
  }
}

TEST(InterpolationPlace, of_a_product) {
  expect_axes(gemm(32, 256, 1024),
              {{"m", 5, 1}, {"n", 8, 2}, {"k", 10, 2}, {"partial tile", 0, 1}});
  for (const std::int64_t m : {15, 17, 24}) {
    expect_axes(gemm(m, 256, 1024), {{"m", std::log2(static_cast<double>(m)), 1},
                                     {"n", 8, 2},
                                     {"k", 10, 2},
                                     {"partial tile", 1, 1}});
  }
  const auto place = *interpolation_place(gemm(32, 256, 1024));
  EXPECT_NE(place.group, interpolation_place(gemm(32, 256, 1024, bf16, f32))->group);
  EXPECT_EQ(place.group, interpolation_place(gemm(1, 2, 3))->group);
  EXPECT_EQ(place.shape, interpolation_place(gemm(1, 256, 1024))->shape) << "rows are no shape";
  EXPECT_NE(place.shape, interpolation_place(gemm(32, 512, 1024))->shape);
  EXPECT_NE(place.shape, interpolation_place(gemm(32, 256, 512))->shape);
}

Problem attention(std::int64_t new_tokens, std::int64_t context, std::int64_t window = 0) {
  Problem out{"attention",
              {{"batch", 4},
               {"heads", 32},
               {"kv_heads", 8},
               {"head_dim", 64},
               {"new_tokens", new_tokens},
               {"context", context},
               {"q_dtype", bf16},
               {"kv_dtype", s8},
               {"dst_dtype", bf16}}};
  if (window > 0) out.params.set("window", window);
  return complete_problem(out);
}

TEST(InterpolationPlace, of_attention_to_one_new_token) {
  const auto axes = [](double cut, double has_window) {
    return std::vector<Axis>{{"context", 12, 3},
                             {"batch x kv_heads", 5, 2},
                             {"heads / kv_heads", 2, 1.5},
                             {"kv_heads", 3, 16},
                             {"head_dim", 6, 1},
                             {"window", cut, 2},
                             {"has window", has_window, 4},
                             {"kv_dtype", 3, 2},
                             {"q_dtype", 4, 2}};
  };
  expect_axes(attention(1, 4096), axes(0, 0));
  expect_axes(attention(1, 4096, 1024), axes(1 + 2, 1));
  expect_axes(attention(1, 4096, 4096), axes(0, 1));
  expect_axes(attention(1, 4096, 8192), axes(0, 1));
}

TEST(InterpolationPlace, of_attention_to_a_prompt) {
  const auto axes = [](double cut, double has_window) {
    return std::vector<Axis>{{"new_tokens", 9, 2},       {"batch x heads", 7, 2},
                             {"heads / kv_heads", 2, 4}, {"heads", 5, 16},
                             {"head_dim", 6, 2},         {"cached", 3, 2},
                             {"window", cut, 2},         {"has window", has_window, 2},
                             {"q_dtype", 4, 4},          {"kv_dtype", 3, 4}};
  };
  expect_axes(attention(512, 4096), axes(0, 0));
  expect_axes(attention(512, 4096, 2048), axes(1 + 1, 1));
  EXPECT_NE(interpolation_place(attention(1, 4096))->group,
            interpolation_place(attention(2, 4096))->group);
}

TEST(InterpolationPlace, of_other_ops_is_every_size) {
  const auto place = interpolation_place(complete_problem(
      {"rmsnorm", {{"rows", 64}, {"cols", 1024}, {"src_dtype", bf16}, {"dst_dtype", bf16}}}));
  ASSERT_TRUE(place);
  std::map<std::string, double> axes;
  for (std::size_t d = 0; d < place->at.size(); ++d) {
    axes[place->names[d]] = place->at[d] * place->lengths[d];
    EXPECT_EQ(place->lengths[d], 2);
  }
  EXPECT_NEAR(axes.at("rows"), 6, 1e-12);
  EXPECT_NEAR(axes.at("cols"), 10, 1e-12);
  EXPECT_FALSE(interpolation_place({"no_such_op", {}}));
}

TEST(InterpolationPlace, of_products_of_experts) {
  Problem problem{"grouped_gemm",
                  {{"tokens", 64},
                   {"n", 256},
                   {"k", 512},
                   {"top_k", 4},
                   {"experts", 32},
                   {"ep_size", 8},
                   {"skew", 50},
                   {"src_dtype", bf16},
                   {"wei_dtype", bf16},
                   {"dst_dtype", bf16},
                   {"wei_trans", 1}}};
  expect_axes(problem, {{"tokens", 6, 2},
                        {"n", 8, 4},
                        {"k", 9, 4},
                        {"top_k", 2, 4},
                        {"experts", 5, 4},
                        {"ep_size", 3, 4},
                        {"skew", 0.5, 2}});
}

}  // namespace
}  // namespace halmark
