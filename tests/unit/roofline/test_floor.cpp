#include "roofline/floor.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

Device device() {
  Device out;
  out.id = "d";
  out.peaks.push_back({.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e12});
  out.bandwidths.push_back({.level = "memory", .bytes_per_s = 1e10});
  return out;
}

Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype = Dtype::bf16) {
  const auto number = static_cast<std::int64_t>(dtype);
  return complete_problem({"gemm", Params{{"m", m},
                                          {"n", n},
                                          {"k", k},
                                          {"src_dtype", number},
                                          {"wei_dtype", number},
                                          {"dst_dtype", number}}});
}

// 1000^3 x 2 FLOPs at 1 TFLOP/s = 2 ms; 3 x 2 MB at 10 GB/s = 0.6 ms.
TEST(Roofline, a_large_gemm_is_bounded_by_compute) {
  const auto floor = problem_floor(gemm(1000, 1000, 1000), device(), {});
  ASSERT_TRUE(floor);
  EXPECT_DOUBLE_EQ(floor->compute_ns, 2e6);
  EXPECT_DOUBLE_EQ(floor->memory_ns, 6e5);
  EXPECT_DOUBLE_EQ(floor->ns, 2e6);
  EXPECT_EQ(floor->bound, "compute");
}

TEST(Roofline, a_matrix_vector_product_is_bounded_by_memory) {
  const auto floor = problem_floor(gemm(1, 1000, 1000), device(), {});
  ASSERT_TRUE(floor);
  EXPECT_EQ(floor->bound, "memory");
  EXPECT_DOUBLE_EQ(floor->ns, (2e6 + 2e3 + 2e3) / 1e10 * 1e9);
}

TEST(Roofline, warm_activations_come_from_the_fastest_level) {
  Device cached = device();
  cached.bandwidths.push_back({.level = "l2", .bytes_per_s = 1e11});
  const auto floor = problem_floor(gemm(1, 1000, 1000), cached, {});
  ASSERT_TRUE(floor);
  EXPECT_DOUBLE_EQ(floor->ns, (2e6 / 1e10 + 4e3 / 1e11) * 1e9);
}

TEST(Roofline, parts_share_what_the_whole_device_states) {
  const auto half = problem_floor(gemm(1000, 1000, 1000), device(), {.parts = 2});
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->compute_ns, 4e6);
  EXPECT_DOUBLE_EQ(half->memory_ns, 1.2e6);
}

TEST(Roofline, figures_per_thread_count_belong_to_the_shard_already) {
  Device threaded = device();
  threaded.peaks = {
      {.path = "bf16_matrix", .dtype = Dtype::bf16, .threads = 4, .flops_per_s = 4e12}};
  EXPECT_DOUBLE_EQ(*shard_peak(threaded, Dtype::bf16, {.threads = 4, .parts = 2}), 4e12);
  EXPECT_DOUBLE_EQ(*shard_peak(threaded, Dtype::bf16, {.threads = 8, .parts = 2}), 8e12);
}

TEST(Roofline, an_unknown_peak_gives_no_floor_and_no_invented_one) {
  EXPECT_FALSE(problem_floor(gemm(4, 4, 4, Dtype::f32), device(), {}));
  Device no_memory = device();
  no_memory.bandwidths.clear();
  EXPECT_FALSE(problem_floor(gemm(4, 4, 4), no_memory, {}));
}

TEST(Roofline, collectives_are_bounded_by_communication) {
  const Problem reduce = complete_problem(
      {"all_reduce",
       Params{{"bytes", 1024}, {"ranks", 2}, {"dtype", static_cast<std::int64_t>(Dtype::bf16)}}});
  const auto floor = problem_floor(reduce, device(), {});
  ASSERT_TRUE(floor);
  EXPECT_EQ(floor->bound, "communication");
}

TEST(Roofline, a_latency_made_of_it_says_so) {
  const auto latency = roofline_latency(gemm(1000, 1000, 1000), device(), {});
  ASSERT_TRUE(latency);
  EXPECT_EQ(latency->provenance, Provenance::roofline);
  EXPECT_DOUBLE_EQ(latency->ns, 2e6);
  EXPECT_DOUBLE_EQ(latency->lower_bound_ns, latency->ns);
}

}  // namespace
}  // namespace halmark
