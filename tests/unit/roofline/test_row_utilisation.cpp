#include "roofline/utilisation.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "roofline/bound_parts.hpp"

namespace halmark {
namespace {

// 1 Tflop/s bf16 on "amx", 0.1 on "avx512"; caches of 2 x 1 MB at 1e12 and memory at 1e10 bytes/s.
Device device() {
  Device d;
  d.peaks.push_back({.path = "bf16_matrix",
                     .dtype = Dtype::bf16,
                     .isa = "amx",
                     .threads = 1,
                     .flops_per_s = 1e12});
  d.peaks.push_back({.path = "bf16_vector",
                     .dtype = Dtype::bf16,
                     .isa = "avx512",
                     .threads = 1,
                     .flops_per_s = 1e11});
  d.bandwidths.push_back(
      {.level = "l2", .threads = 1, .bytes_per_s = 1e12, .working_set_bytes = 1'000'000});
  d.bandwidths.push_back(
      {.level = "memory", .threads = 1, .bytes_per_s = 1e10, .working_set_bytes = 100'000'000});
  return d;
}

Work bf16_work(double flops, double constant_bytes, double other_bytes) {
  return {.matmul_flops = flops,
          .bytes_read = constant_bytes,
          .bytes_written = other_bytes,
          .constant_bytes = constant_bytes,
          .compute_dtype = Dtype::bf16};
}

TEST(Utilisation, mfu_uses_the_best_path_and_path_fraction_the_dispatched_one) {
  const Device d = device();
  const Work work = bf16_work(1e9, 0, 0);
  // 1e9 FLOPs in 20 ms are 5e10 FLOP/s.
  const Utilisation u =
      utilisation(work, traffic(work, CacheMode::hot, 1), &d, nullptr, "avx512", 1, 20e6);
  EXPECT_DOUBLE_EQ(u.flops_per_s, 5e10);
  EXPECT_DOUBLE_EQ(*u.mfu, 0.05);
  EXPECT_DOUBLE_EQ(*u.path_fraction, 0.5);
  EXPECT_DOUBLE_EQ(u.lower_bound_ns, 1e6);
  EXPECT_DOUBLE_EQ(*u.roofline_fraction, 0.05);
  EXPECT_EQ(u.bound, "compute");
  EXPECT_FALSE(u.mfu_datasheet);
  EXPECT_TRUE(u.quarantine.empty());
}

TEST(Utilisation, an_unknown_path_has_no_path_fraction) {
  const Device d = device();
  const Work work = bf16_work(1e9, 0, 0);
  EXPECT_FALSE(utilisation(work, {}, &d, nullptr, "", 1, 20e6).path_fraction);
  EXPECT_FALSE(utilisation(work, {}, &d, nullptr, "neon", 1, 20e6).path_fraction);
}

TEST(Utilisation, work_without_matmul_has_a_roofline_fraction_but_no_mfu) {
  const Device d = device();
  Work work = bf16_work(0, 0, 1e8);
  work.vector_flops = 1e9;
  const Utilisation u =
      utilisation(work, traffic(work, CacheMode::rotate_all, 1), &d, nullptr, "", 1, 20e6);
  EXPECT_FALSE(u.mfu);
  EXPECT_FALSE(u.mfu_reason.empty());
  // (1e8 - 2e6 that two L2 capacities may keep) / 1e10 = 9.8 ms.
  EXPECT_NEAR(u.lower_bound_ns, 9.8e6, 1);
  EXPECT_EQ(u.bound, "memory");
}

TEST(Utilisation, missing_peaks_are_absent_with_a_reason) {
  const Work work = bf16_work(1e9, 0, 0);
  const Utilisation u = utilisation(work, {}, nullptr, nullptr, "amx", 1, 20e6);
  EXPECT_FALSE(u.mfu || u.path_fraction || u.roofline_fraction);
  EXPECT_FALSE(u.mfu_reason.empty());
  EXPECT_DOUBLE_EQ(u.flops_per_s, 5e10);
}

TEST(Utilisation, the_datasheet_is_a_denominator_of_its_own) {
  const Device d = device();
  Device stated = device();
  stated.peaks.resize(1);
  stated.peaks[0].flops_per_s = 5e11;
  const Work work = bf16_work(1e9, 0, 0);
  const Utilisation u = utilisation(work, {}, &d, &stated, "amx", 1, 20e6);
  EXPECT_DOUBLE_EQ(*u.mfu, 0.05);
  EXPECT_DOUBLE_EQ(*u.mfu_datasheet, 0.1);
}

TEST(LowerBound, warm_operands_that_fit_a_cache_are_bound_by_that_cache) {
  const Work work = bf16_work(0, 0, 1e6);
  const LowerBound bound = lower_bound(work, traffic(work, CacheMode::hot, 1), device(), 1);
  EXPECT_NEAR(bound.memory_ns, 1e3, 1e-6);
}

TEST(LowerBound, a_rotated_ring_beyond_the_caches_is_bound_by_memory) {
  const Work work = bf16_work(0, 10e6, 0);
  // Ring of 4 x 10 MB, 2 MB of it can stay in L2: 95 % of 10 MB at 1e10 bytes/s.
  const LowerBound cold = lower_bound(work, traffic(work, CacheMode::rotate_const, 4), device(), 1);
  EXPECT_NEAR(cold.memory_ns, 0.95e6, 1);
  const LowerBound one = lower_bound(work, traffic(work, CacheMode::rotate_const, 1), device(), 1);
  EXPECT_NEAR(one.memory_ns, 0.8e6, 1);
}

TEST(LowerBound, more_threads_can_do_what_fewer_did) {
  Device d = device();
  Peak both = d.peaks[0];
  both.threads = 2;
  both.flops_per_s = 0.8e12;  // two threads of one core, which has one matrix unit
  d.peaks.push_back(both);
  const Work work = bf16_work(1e9, 0, 0);
  EXPECT_NEAR(lower_bound(work, {}, d, 2).compute_ns, 1e6, 1e-3);
}

TEST(CaseBound, shards_that_run_together_share_the_ceilings_of_the_device) {
  Device d = device();
  Peak both = d.peaks[0];
  both.threads = 2;
  both.flops_per_s = 1.25e12;
  d.peaks.push_back(both);
  KernelCase c;
  const auto bf16 = static_cast<std::int64_t>(Dtype::bf16);
  c.problem = {"gemm",
               {{"m", 100},
                {"n", 1000},
                {"k", 1000},
                {"src_dtype", bf16},
                {"wei_dtype", bf16},
                {"dst_dtype", bf16}}};
  c.parts = 2;
  const auto compute_ns = [&] {
    double out = 0;
    const CaseBound bound = case_bound(c, {.device = &d, .threads = 2});
    for (const BoundPart& part : bound.parts) {
      // A proof is checked against the work of one shard.
      EXPECT_LE(part.amount, part.is_operations ? bound.work.matmul_flops : bound.work.bytes());
      if (part.is_operations) out = std::max(out, part.amount / part.per_s * 1e9);
    }
    return out;
  };
  // 0.2 GFLOP: alone at 1 TFLOP/s, two of them together at 1.25 TFLOP/s.
  EXPECT_NEAR(compute_ns(), 0.2e6, 1e-3);
  c.shards_at_once = 2;
  EXPECT_NEAR(compute_ns(), 0.32e6, 1e-3);
}

TEST(Quarantine, faster_than_the_bound_by_more_than_two_percent) {
  const Device d = device();
  const Work work = bf16_work(1e9, 0, 0);  // bound 1 ms
  EXPECT_TRUE(utilisation(work, {}, &d, nullptr, "amx", 1, 0.99e6).quarantine.empty());
  const Utilisation u = utilisation(work, {}, &d, nullptr, "amx", 1, 0.9e6);
  EXPECT_EQ(u.quarantine.rfind("faster_than_roofline", 0), 0U) << u.quarantine;
}

TEST(Utilisation, flops_come_from_the_contract_of_the_case) {
  KernelCase c;
  c.problem = {
      "gemm", {{"m", 2}, {"n", 3}, {"k", 5}, {"src_dtype", 5}, {"wei_dtype", 5}, {"dst_dtype", 5}}};
  const Utilisation u = utilisation(c, nullptr, nullptr, "", 1, 1.0);
  EXPECT_DOUBLE_EQ(u.flops_per_s, 60e9);
  EXPECT_DOUBLE_EQ(u.bytes_per_s, (10 + 15 + 6) * 2e9);
}

}  // namespace
}  // namespace halmark
