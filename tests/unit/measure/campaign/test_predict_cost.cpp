// Predicted costs by hand: what a plan is trimmed by.
#include "measure/campaign/predict_cost.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/contract.hpp"
#include "measure/campaign/arena_size.hpp"

namespace halmark {
namespace {

constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);

KernelCase case_of(Problem problem) {
  KernelCase out;
  out.problem = complete_problem(std::move(problem));
  out.backend = "cpu";
  return out;
}

KernelCase gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return case_of(
      {"gemm",
       {{"m", m}, {"n", n}, {"k", k}, {"src_dtype", f32}, {"wei_dtype", f32}, {"dst_dtype", f32}}});
}

KernelCase copy(std::int64_t bytes) { return case_of({"copy", {{"bytes", bytes}}}); }

KernelCase all_reduce(std::int64_t bytes, std::int64_t ranks) {
  return case_of({"all_reduce", {{"bytes", bytes}, {"ranks", ranks}, {"dtype", f32}}});
}

constexpr CostPriors priors;

// Without peaks: the larger of FLOPs at 30 GFLOP/s and bytes at 8 GB/s, over the share of it that
// libraries reach, and 3 us of dispatch.
TEST(PredictedKernel, is_the_roofline_of_the_priors_over_an_efficiency) {
  const double wide = 2.0 * 512 * 512 * 512 / 3e10 * 1e9;
  EXPECT_NEAR(predicted_kernel_ns(gemm(512, 512, 512), nullptr, 1), wide / 0.3 + 3e3, 1);
  const double thin = 4.0 * (512 + 512 * 512 + 512) / 8e9 * 1e9;
  EXPECT_NEAR(predicted_kernel_ns(gemm(1, 512, 512), nullptr, 1), thin / 0.6 + 3e3, 1);
  EXPECT_NEAR(predicted_kernel_ns(copy(1 << 20), nullptr, 1), 2.0 * (1 << 20) / 8 / 0.25 + 3e3, 1);
  const Work work = find_contract("all_reduce")->work(all_reduce(1 << 20, 2).problem.params);
  const double reduce =
      std::max(work.bytes() / 8e9, work.vector_flops / (0.1 * 3e10)) * 1e9 / 0.2 + 20e3;
  EXPECT_NEAR(predicted_kernel_ns(all_reduce(1 << 20, 2), nullptr, 1), reduce, 1);
}

// 16 FLOPs per byte part thin products from the others: with m rows, n = k = 512 and f32 these are
// 2 m 512^2 = 64 (2 m 512 + 512^2).
TEST(PredictedKernel, a_product_is_thin_below_sixteen_flops_per_byte) {
  const auto efficiency = [](std::int64_t m) {
    const double bytes = 4.0 * static_cast<double>(m * 512 + 512 * 512 + m * 512);
    const double flops = 2.0 * static_cast<double>(m) * 512 * 512;
    const double best = std::max(flops / 3e10, bytes / 8e9) * 1e9;
    return best / (predicted_kernel_ns(gemm(m, 512, 512), nullptr, 1) - 3e3);
  };
  // 2 m 512^2 < 16 * 4 * (2 m 512 + 512^2) holds up to m = 36.
  EXPECT_NEAR(efficiency(36), 0.6, 1e-3);
  EXPECT_NEAR(efficiency(37), 0.3, 1e-3);
}

TEST(PredictedKernel, follows_measured_peaks_of_its_threads) {
  Device device{.id = "cpu:0"};
  device.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 6e10});
  device.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1e12});
  const double flops = 2.0 * 512 * 512 * 512;
  EXPECT_NEAR(predicted_kernel_ns(gemm(512, 512, 512), &device, 2), flops / 60 / 0.3 + 3e3, 1);
  EXPECT_NEAR(predicted_kernel_ns(gemm(512, 512, 512), &device, 1), flops / 30 / 0.3 + 3e3, 1);
  Device no_bandwidth = device;
  no_bandwidth.bandwidths.clear();
  EXPECT_NEAR(predicted_kernel_ns(gemm(512, 512, 512), &no_bandwidth, 2), flops / 30 / 0.3 + 3e3, 1)
      << "the priors";
}

double case_seconds(const KernelCase& c, const protocol::SampleRule& rule) {
  return predict_cost(std::vector{c}, 1, rule, nullptr, 2).case_seconds.at(0);
}

// Gate, filling at 1.5 GB/s, the samples, and four more calls.
double by_hand(const KernelCase& c, double sampling_s, double sample_s) {
  return priors.gate_s + static_cast<double>(staged_bytes(c)) / priors.pack_bytes_per_s +
         sampling_s + 4 * sample_s;
}

TEST(PredictCost, of_a_case_is_its_gate_its_bytes_and_its_samples) {
  const protocol::SampleRule rule{.min_samples = 10, .min_sample_ns = 50'000, .budget_s = 0.02};
  // Short: samples of 50 us, 64 of which take 3.2 ms.
  EXPECT_NEAR(case_seconds(copy(64), rule), by_hand(copy(64), 64 * 50e-6, 50e-6), 1e-9);
  // 1 ms or so: the budget.
  const double one_ms = predicted_kernel_ns(copy(1 << 20), nullptr, 1) * 1e-9;
  ASSERT_GT(64 * one_ms, 0.02);
  ASSERT_LT(10 * one_ms, 0.02);
  EXPECT_NEAR(case_seconds(copy(1 << 20), rule), by_hand(copy(1 << 20), 0.02, one_ms), 1e-9);
  // Ten samples take longer than the budget.
  const double four_ms = predicted_kernel_ns(copy(4 << 20), nullptr, 1) * 1e-9;
  ASSERT_GT(10 * four_ms, 0.02);
  EXPECT_NEAR(case_seconds(copy(4 << 20), rule), by_hand(copy(4 << 20), 10 * four_ms, four_ms),
              1e-9);
  // Above 50 ms three samples are enough.
  const double slow = predicted_kernel_ns(copy(64 << 20), nullptr, 1) * 1e-9;
  ASSERT_GT(slow, 0.05);
  EXPECT_NEAR(case_seconds(copy(64 << 20), rule), by_hand(copy(64 << 20), 3 * slow, slow), 1e-9);
}

TEST(PredictCost, of_a_campaign_is_that_of_its_rounds_memory_and_workers) {
  const protocol::SampleRule rule;
  const std::vector<KernelCase> alone = {copy(64), copy(1 << 20)};
  const auto cost = predict_cost(alone, 3, rule, nullptr, 2);
  const double cases = cost.case_seconds[0] + cost.case_seconds[1];
  const double memory = static_cast<double>(staged_bytes(alone[1])) / priors.page_bytes_per_s;
  EXPECT_NEAR(cost.seconds, 3 * cases + memory + 3 * priors.worker_start_s, 1e-9)
      << "one worker a round for both";
  std::vector<KernelCase> at_once = alone;
  at_once[1].parts = 2;
  at_once[1].shards_at_once = 2;
  const auto shards = predict_cost(at_once, 3, rule, nullptr, 2);
  EXPECT_NEAR(shards.seconds - 3 * (shards.case_seconds[0] + shards.case_seconds[1]),
              2 * memory + 3 * priors.worker_start_s * (1 + 2), 1e-9)
      << "two shards of the second case have a worker and an arena each";
  const std::vector<KernelCase> group = {all_reduce(1 << 10, 2)};
  const auto reduce = predict_cost(group, 2, rule, nullptr, 2);
  EXPECT_NEAR(reduce.seconds - 2 * reduce.case_seconds[0],
              2 * static_cast<double>(staged_bytes(group[0])) / priors.page_bytes_per_s +
                  2 * priors.group_start_s * 2,
              1e-9);
}

TEST(PredictCost, a_part_of_a_device_has_its_part_of_the_threads) {
  Device device{.id = "cpu:0"};
  device.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 4, .flops_per_s = 4e9});
  device.bandwidths.push_back({.level = "memory", .threads = 4, .bytes_per_s = 1e12});
  KernelCase half = gemm(512, 512, 512);
  half.parts = 2;
  const auto seconds = [&](const KernelCase& c) {
    return predict_cost(std::vector{c}, 1, {}, &device, 4).case_seconds.at(0);
  };
  const double whole_s = predicted_kernel_ns(half, &device, 4) * 1e-9;
  const double half_s = predicted_kernel_ns(half, &device, 2) * 1e-9;
  EXPECT_NEAR(half_s / whole_s, 2, 0.01);
  EXPECT_NEAR(seconds(half) - seconds(gemm(512, 512, 512)), (3 + 4) * (half_s - whole_s), 1e-6);
  KernelCase many = half;
  many.parts = 16;
  KernelCase quarter = half;
  quarter.parts = 4;
  EXPECT_NEAR(seconds(many), seconds(quarter), 1e-9) << "one thread at the least";
}

// Inputs and outputs of m x k, k x n and m x n floats; weights are packed (an eighth of padding)
// beside their plain source. Each buffer has 8 KiB of canaries and alignment.
TEST(ArenaSize, counts_every_operand_of_every_set) {
  KernelCase c = gemm(4, 256, 128);
  const std::int64_t in = 4 * 4 * 128 + 8192, weights = 4 * 128 * 256, out = 4 * 4 * 256 + 8192;
  const std::int64_t packed = weights + weights / 8 + 8192, plain = weights + 8192;
  c.sets = 1;
  EXPECT_EQ(staged_bytes(c), in + packed + plain + out);
  c.sets = 3;
  c.mode = CacheMode::rotate_const;
  EXPECT_EQ(staged_bytes(c), in + 3 * packed + plain + 3 * out);
  c.mode = CacheMode::rotate_all;
  EXPECT_EQ(staged_bytes(c), 3 * in + 3 * packed + plain + 3 * out);
  EXPECT_EQ(arena_bytes(c) - staged_bytes(c), 16 << 20);
  c.sets = 0;
  EXPECT_EQ(staged_bytes(c), in + packed + plain + out);
}

}  // namespace
}  // namespace halmark
