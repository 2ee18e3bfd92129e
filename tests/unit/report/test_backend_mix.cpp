#include "report/views/backend_mix.hpp"

#include <gmock/gmock.h>

namespace halmark::report {
namespace {

BackendTime time(const std::string& backend, std::optional<double> ns,
                 const std::string& variant = "default") {
  BackendTime out{.backend = backend, .variant = variant, .point = {}};
  out.point.duration_ns = out.point.low_ns = out.point.high_ns = ns;
  return out;
}

// cpu: 10 + 20 for gemm, 5 for rmsnorm; gpu: 8 + 12 (its second variant) and 9.
std::vector<BackendComparison> two_ops() {
  return {
      compared("gemm m=1", "f32", {time("cpu", 10), time("gpu", 8)}),
      compared("gemm m=2", "f32", {time("cpu", 20), time("gpu", 30), time("gpu", 12, "tile=4")}),
      compared("rmsnorm rows=1", "f32", {time("cpu", 5), time("gpu", 9)})};
}

TEST(BackendMix, takes_the_fastest_backend_of_each_op) {
  const auto mix = best_mix(two_ops());
  ASSERT_TRUE(mix);
  ASSERT_EQ(mix->ops.size(), 2u);
  EXPECT_EQ(mix->ops[0].op + mix->ops[0].backend, "gemmgpu");
  EXPECT_EQ(mix->ops[0].duration_ns, 8 + 12);
  EXPECT_EQ(mix->ops[1].op + mix->ops[1].backend, "rmsnormcpu");
  EXPECT_EQ(mix->duration_ns(), 25);
  EXPECT_EQ(mix->alone.at("cpu"), 35);
  const View shown = mix_view(*mix);
  EXPECT_EQ(shown.data["alone"]["gpu"], 29);
  EXPECT_THAT(shown.text, testing::HasSubstr("on no front"));
}

TEST(BackendMix, does_not_ask_a_backend_that_lacks_a_problem_of_the_op) {
  auto lacking = two_ops();
  lacking[0] = compared("gemm m=1", "f32", {time("cpu", 10), time("gpu", std::nullopt)});
  EXPECT_FALSE(best_mix(lacking)) << "all on the CPU";
  lacking[2] = compared("rmsnorm rows=1", "f32", {time("cpu", 5), time("gpu", 3)});
  const auto mix = best_mix(lacking);
  ASSERT_TRUE(mix);
  EXPECT_EQ(mix->ops[0].backend, "cpu");
  EXPECT_EQ(mix->alone.at("gpu"), std::nullopt);
  EXPECT_THAT(mix_view(*mix).text, testing::HasSubstr("gpu without some of them"));
}

TEST(BackendMix, is_nothing_where_one_backend_wins_every_op_or_an_op_has_no_time) {
  auto comparisons = two_ops();
  comparisons.pop_back();
  EXPECT_FALSE(best_mix(comparisons));
  comparisons.push_back(compared("copy bytes=1", "f32", {time("cpu", std::nullopt)}));
  EXPECT_FALSE(best_mix(comparisons));
  EXPECT_FALSE(best_mix({}));
}

}  // namespace
}  // namespace halmark::report
