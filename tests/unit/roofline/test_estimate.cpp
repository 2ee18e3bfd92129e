#include <gtest/gtest.h>

#include <cmath>

#include "roofline/estimate.hpp"
#include "roofline/peaks.hpp"
#include "roofline/score.hpp"

namespace halmark {
namespace {

Device device() {
  Device out;
  out.id = "d";
  out.peaks.push_back({.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e12});
  out.bandwidths.push_back({.level = "memory", .bytes_per_s = 1e10});
  return out;
}

// Of C = A x B in bf16: B is constant.
Work gemm(double m, double n, double k, Dtype dtype = Dtype::bf16) {
  return {.matmul_flops = 2 * m * n * k,
          .bytes_read = 2 * (m * k + k * n),
          .bytes_written = 2 * m * n,
          .constant_bytes = 2 * k * n,
          .compute_dtype = dtype};
}

// 1000^3 x 2 FLOPs at 1 TFLOP/s = 2 ms; 3 x 2 MB at 10 GB/s = 0.6 ms.
TEST(RooflineEstimate, a_large_gemm_is_limited_by_compute) {
  const auto estimate = roofline_estimate(gemm(1000, 1000, 1000), device(), {});
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->compute_ns, 2e6);
  EXPECT_DOUBLE_EQ(estimate->memory_ns, 6e5);
  EXPECT_DOUBLE_EQ(estimate->ns, 2e6);
  EXPECT_EQ(estimate->limiter, Limiter::compute);
}

TEST(RooflineEstimate, a_matrix_vector_product_is_limited_by_memory) {
  const auto estimate = roofline_estimate(gemm(1, 1000, 1000), device(), {});
  ASSERT_TRUE(estimate);
  EXPECT_EQ(estimate->limiter, Limiter::memory);
  EXPECT_DOUBLE_EQ(estimate->ns, (2e6 + 2e3 + 2e3) / 1e10 * 1e9);
}

TEST(RooflineEstimate, warm_activations_come_from_the_fastest_level) {
  Device cached = device();
  cached.bandwidths.push_back({.level = "l2", .bytes_per_s = 1e11});
  const auto estimate = roofline_estimate(gemm(1, 1000, 1000), cached, {});
  ASSERT_TRUE(estimate);
  EXPECT_DOUBLE_EQ(estimate->ns, (2e6 / 1e10 + 4e3 / 1e11) * 1e9);
}

TEST(RooflineEstimate, parts_share_what_the_whole_device_states) {
  const auto half = roofline_estimate(gemm(1000, 1000, 1000), device(), {.parts = 2});
  ASSERT_TRUE(half);
  EXPECT_DOUBLE_EQ(half->compute_ns, 4e6);
  EXPECT_DOUBLE_EQ(half->memory_ns, 1.2e6);
}

TEST(RooflineEstimate, levels_slower_than_memory_or_without_a_figure_do_not_count) {
  Device cached = device();
  cached.bandwidths.push_back({.level = "l2", .bytes_per_s = 1e9});
  cached.bandwidths.push_back({.level = "l1", .bytes_per_s = 0});
  EXPECT_DOUBLE_EQ(roofline_estimate(gemm(1, 1000, 1000), cached, {})->ns, 2.004e6 / 1e10 * 1e9);
  EXPECT_DOUBLE_EQ(RooflineRates(cached, {}).local_ns(gemm(1, 1000, 1000)).value(),
                   2.004e6 / 1e10 * 1e9);
}

// Equal terms: 1e10 bytes/s and 1e12 FLOP/s meet at 100 FLOP per byte.
TEST(RooflineEstimate, equal_terms_are_limited_by_memory) {
  const Work work{.matmul_flops = 1e8, .bytes_read = 1e6, .compute_dtype = Dtype::bf16};
  EXPECT_EQ(roofline_estimate(work, device(), {})->limiter, Limiter::memory);
  Work more = work;
  more.matmul_flops *= 1.01;
  EXPECT_EQ(roofline_estimate(more, device(), {})->limiter, Limiter::compute);
}

TEST(RooflineEstimate, an_unknown_figure_gives_none_and_no_invented_one) {
  EXPECT_FALSE(roofline_estimate(gemm(4, 4, 4, Dtype::f32), device(), {}));
  Device no_memory = device();
  no_memory.bandwidths.clear();
  EXPECT_FALSE(roofline_estimate(gemm(4, 4, 4), no_memory, {}));
}

TEST(RooflineEstimate, a_transfer_is_limited_by_communication) {
  Work reduce{.bytes_read = 1024, .bytes_written = 1024, .transfer_bytes = 1};
  EXPECT_EQ(roofline_estimate(reduce, device(), {})->limiter, Limiter::communication);
}

TEST(RooflineRates, are_the_estimate_without_asking_the_device_again) {
  const RooflineRates rates(device(), {.parts = 2});
  for (const Work& work : {gemm(1000, 1000, 1000), gemm(1, 1000, 1000), gemm(64, 8, 8)}) {
    EXPECT_DOUBLE_EQ(rates.local_ns(work).value(),
                     roofline_estimate(work, device(), {.parts = 2})->ns);
  }
  EXPECT_FALSE(rates.local_ns(gemm(4, 4, 4, Dtype::f32)));
}

TEST(RooflineRates, collectives_take_the_link_and_beyond_a_domain_the_network) {
  Device gpu = device();
  gpu.bandwidths[0].bytes_per_s = 1e12;
  gpu.links.push_back({.name = "link", .bytes_per_s = 4.5e11, .domain_devices = 8});
  const Work reduce{.bytes_read = 1e6, .bytes_written = 1e6, .transfer_bytes = 1.75e6};
  const RooflineRates rates(gpu, {}, 5e10);
  EXPECT_DOUBLE_EQ(rates.ns(reduce, 8).value(), 1.75e6 / 4.5e11 * 1e9);
  EXPECT_DOUBLE_EQ(rates.ns(reduce, 9).value(), 1.75e6 / 5e10 * 1e9);
  EXPECT_FALSE(RooflineRates(device(), {}).ns(reduce, 8)) << "no link is stated";
  const Work local = gemm(64, 64, 64);
  EXPECT_EQ(RooflineRates(device(), {}).ns(local, 8), RooflineRates(device(), {}).local_ns(local));
  // 20 MB of its own traffic outlast the 1.75 MB on the link.
  const Work heavy{.bytes_read = 1e7, .bytes_written = 1e7, .transfer_bytes = 1.75e6};
  EXPECT_DOUBLE_EQ(rates.ns(heavy, 8).value(), 2e7 / 1e12 * 1e9);
}

// The score against the published formula and its published fixed points.

TEST(Score, is_a_half_at_the_baseline_and_one_at_the_bound) {
  EXPECT_DOUBLE_EQ(*speed_of_light_score(80, 20, 80), 0.5);
  EXPECT_DOUBLE_EQ(*speed_of_light_score(20, 20, 80), 1);
}

TEST(Score, is_the_published_formula_between_them) {
  for (const double t : {21.0, 40.0, 79.0, 81.0, 400.0, 1e9}) {
    EXPECT_NEAR(*speed_of_light_score(t, 20, 80), 1 / (1 + (t - 20) / (80 - 20)), 1e-12) << t;
  }
}

TEST(Score, is_not_clamped_below_the_bound) { EXPECT_GT(*speed_of_light_score(10, 20, 80), 1); }

TEST(Score, of_a_baseline_at_the_bound_is_all_or_nothing) {
  EXPECT_EQ(*speed_of_light_score(20, 20, 20), 1);
  EXPECT_EQ(*speed_of_light_score(21, 20, 20), 0);
  EXPECT_EQ(*speed_of_light_score(19, 20, 10), 1);
}

TEST(Score, is_absent_without_one_of_its_times) {
  for (const auto& [t, bound, baseline] :
       {std::tuple{0.0, 20, 80}, {30.0, 0, 80}, {30.0, 20, 0}, {std::nan(""), 20, 80}}) {
    EXPECT_FALSE(speed_of_light_score(t, bound, baseline)) << t;
  }
}

// Of 4e12 with the threads that it was measured with; 0: a figure of the whole device.
TEST(ShardPeak, is_cut_where_the_figure_is_of_the_whole_device) {
  for (const auto& [threads, shard_threads, flops_per_s] :
       {std::tuple{4, 4, 4e12}, {4, 8, 8e12}, {1, 1, 4e12}, {0, 4, 2e12}}) {
    Device device;
    device.peaks = {{.path = "p", .dtype = Dtype::bf16, .threads = threads, .flops_per_s = 4e12}};
    EXPECT_DOUBLE_EQ(*shard_peak(device, Dtype::bf16, {.threads = shard_threads, .parts = 2}),
                     flops_per_s);
    EXPECT_FALSE(shard_peak(device, Dtype::f32, {}));
  }
}

TEST(MultiplyingDtype, of_several_wide_types_bf16_comes_first_then_f16_then_f32) {
  Device device;
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f4_e2m1) << "nothing to fall back on";
  for (const Dtype dtype : {Dtype::f32, Dtype::f16, Dtype::bf16}) {
    device.peaks.push_back({.path = "p", .dtype = dtype, .flops_per_s = 1e12});
    EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), dtype);
  }
}

TEST(ShardPeak, a_peak_of_nothing_is_none_and_a_small_one_is_one) {
  Device device;
  device.peaks = {{.path = "p", .dtype = Dtype::bf16, .flops_per_s = 0}};
  EXPECT_FALSE(shard_peak(device, Dtype::bf16, {}));
  device.peaks[0].flops_per_s = 0.5;
  EXPECT_EQ(shard_peak(device, Dtype::bf16, {}), 0.5);
}

TEST(MultiplyingDtype, four_bits_are_unpacked_into_the_first_wide_type_that_has_a_peak) {
  Device device;
  device.peaks = {{.path = "f16_matrix", .dtype = Dtype::f16, .flops_per_s = 1e12}};
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f16);
  EXPECT_EQ(multiplying_dtype(device, Dtype::f8_e4m3fn), Dtype::f8_e4m3fn);
  device.peaks.push_back({.path = "f4_matrix", .dtype = Dtype::f4_e2m1, .flops_per_s = 4e12});
  EXPECT_EQ(multiplying_dtype(device, Dtype::f4_e2m1), Dtype::f4_e2m1);
}

}  // namespace
}  // namespace halmark
