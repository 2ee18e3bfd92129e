// What bounds a kernel, by hand: devices with a few ceilings, kernels of round numbers.
#include <gtest/gtest.h>

#include "verify/front_proof/front_proof_bounds.hpp"

namespace halmark::front_proof {
namespace {

using enum Dtype;
using enum CacheMode;

halmark::Peak peak(const char* path, Dtype dtype, int threads, double flops_per_s,
                   std::optional<double> high = {}) {
  return {.path = path,
          .dtype = dtype,
          .threads = threads,
          .flops_per_s = flops_per_s,
          .flops_per_s_high = high,
          .source = "peaks"};
}

Bandwidth level(const char* name, int threads, double bytes_per_s, std::int64_t working_set = 0) {
  return {.level = name,
          .threads = threads,
          .bytes_per_s = bytes_per_s,
          .working_set_bytes = working_set,
          .source = "probe of " + std::string(name)};
}

Work operations(double flops, Dtype dtype = f32) {
  return {.matmul_flops = flops, .compute_dtype = dtype};
}

// "id: amount at per_s", in order.
std::vector<std::string> terms(const Device& device, int threads, const KernelCase& k,
                               const Work& work) {
  std::vector<std::string> out;
  for (const ExpectedTerm& t : expected_terms(device, threads, k, work)) {
    out.push_back(t.peak + ": " + std::to_string(std::llround(t.amount)) + " at " +
                  std::to_string(std::llround(t.per_s)));
  }
  return out;
}
using Terms = std::vector<std::string>;

TEST(ProofCeilings, of_operations_are_those_of_the_threads_of_a_part) {
  Device device;
  device.peaks = {peak("f32_vector", f32, 1, 100), peak("f32_vector", f32, 2, 150),
                  peak("f32_vector", f32, 4, 400)};
  EXPECT_EQ(terms(device, 4, {.parts = 1}, operations(7)),
            Terms{"f32_vector, 4 threads: 7 at 400"});
  EXPECT_EQ(terms(device, 4, {.parts = 2}, operations(7)),
            Terms{"f32_vector, 2 threads: 7 at 150"});
  EXPECT_EQ(terms(device, 4, {.parts = 3}, operations(7)), Terms{"f32_vector, 1 thread: 7 at 100"});
  EXPECT_EQ(terms(device, 4, {.parts = 8}, operations(7)), Terms{"f32_vector, 1 thread: 7 at 100"});
  EXPECT_EQ(terms(device, 4, {}, operations(0)), Terms{});
  const ExpectedTerm term = expected_terms(device, 4, {}, operations(7)).at(0);
  EXPECT_TRUE(term.counts_operations);
  EXPECT_EQ(term.source, "peaks");
}

// Two threads seen at 400: three scale to 600, which four cannot fall below.
TEST(ProofCeilings, more_threads_do_at_least_what_fewer_did) {
  Device device;
  device.peaks = {peak("v", f32, 2, 400), peak("v", f32, 4, 450)};
  EXPECT_EQ(terms(device, 4, {}, operations(7)), Terms{"v, 3 threads: 7 at 600"});
  device.peaks[0].flops_per_s = 300;
  EXPECT_EQ(terms(device, 4, {}, operations(7)), Terms{"v, 4 threads: 7 at 450"}) << "as much";
  device.peaks = {peak("v", f32, 1, 500), peak("v", f32, 2, 400)};
  EXPECT_EQ(terms(device, 2, {}, operations(7)), Terms{"v, 1 thread: 7 at 500"});
  device.peaks = {peak("v", f32, 2, 100), peak("v", f32, 8, 9000)};
  EXPECT_EQ(terms(device, 2, {}, operations(7)), Terms{"v, 2 threads: 7 at 100"}) << "not of more";
}

TEST(ProofCeilings, shards_at_once_share_what_all_of_them_have) {
  Device device;
  device.peaks = {peak("v", f32, 2, 150), peak("v", f32, 4, 400)};
  device.bandwidths = {level("memory", 2, 10), level("memory", 4, 16)};
  const Work work{.matmul_flops = 7, .bytes_read = 50, .constant_bytes = 50};
  const KernelCase two{.parts = 2, .shards_at_once = 2};
  EXPECT_EQ(terms(device, 4, two, work),
            (Terms{"v, 2 threads: 7 at 150", "memory, 2 threads: 50 at 10",
                   "v, 4 threads shared by 2 shards: 7 at 200",
                   "memory, 4 threads shared by 2 shards: 50 at 8"}));
}

// Sources of a whole device may disagree; what was measured with threads has one figure.
TEST(ProofCeilings, hold_for_all_sources_of_a_whole_device) {
  Device device;
  device.peaks = {peak("bf16_matrix", bf16, 0, 100, 120)};
  device.bandwidths = {level("memory", 0, 10)};
  device.bandwidths[0].bytes_per_s_high = 12;
  const Work work{.matmul_flops = 7,
                  .bytes_read = 30,
                  .bytes_written = 20,
                  .constant_bytes = 50,
                  .compute_dtype = bf16};
  EXPECT_EQ(terms(device, 0, {}, work),
            (Terms{"bf16_matrix, 0 threads: 7 at 120", "memory, 0 threads: 50 at 12"}));
  device.peaks[0].flops_per_s_high = 90;
  device.bandwidths[0].bytes_per_s_high.reset();
  EXPECT_EQ(terms(device, 0, {}, work),
            (Terms{"bf16_matrix, 0 threads: 7 at 100", "memory, 0 threads: 50 at 10"}));
  device.peaks = {peak("", bf16, 2, 100, 120)};
  device.bandwidths.clear();
  EXPECT_EQ(terms(device, 2, {}, work), Terms{"bf16, 2 threads: 7 at 100"});
}

// A record of no number of threads is of the whole device, whatever was measured with some.
TEST(ProofCeilings, of_a_whole_device_are_its_own_figures) {
  Device device;
  device.peaks = {peak("v", f32, 0, 100), peak("v", f32, 4, 88)};
  EXPECT_EQ(terms(device, 0, {}, operations(7)), Terms{"v, 0 threads: 7 at 100"});
  EXPECT_EQ(terms(device, 1, {}, operations(7)), Terms{"v, 1 thread: 7 at 22"});
}

TEST(ProofCeilings, of_types_without_a_peak_are_none) {
  Device device;
  device.peaks = {peak("f16", f16, 1, 100)};
  EXPECT_EQ(terms(device, 1, {}, operations(7, bf16)), Terms{});
  EXPECT_EQ(terms(Device{}, 1, {}, operations(7, f4_e2m1)), Terms{});
  device.peaks[0].flops_per_s = 0;
  EXPECT_EQ(terms(device, 1, {}, operations(7, f16)), Terms{});
}

TEST(ProofCeilings, packed_weights_are_multiplied_in_the_widest_type_that_there_is) {
  Device device;
  const Work packed = operations(7, f4_e2m1);
  device.peaks = {peak("f32", f32, 1, 100)};
  EXPECT_EQ(terms(device, 1, {}, packed), Terms{"f32, 1 thread: 7 at 100"});
  device.peaks.push_back(peak("f16", f16, 1, 200));
  EXPECT_EQ(terms(device, 1, {}, packed), Terms{"f16, 1 thread: 7 at 200"});
  device.peaks.push_back(peak("bf16", bf16, 1, 150));
  EXPECT_EQ(terms(device, 1, {}, packed), Terms{"bf16, 1 thread: 7 at 150"});
  device.peaks.push_back(peak("f4", f4_e2m1, 1, 50));
  EXPECT_EQ(terms(device, 1, {}, packed), Terms{"f4, 1 thread: 7 at 50"});
  EXPECT_EQ(terms(device, 1, {}, operations(7, f16)), Terms{"f16, 1 thread: 7 at 200"});
}

// Caches of 2 x 1000 and 2 x 4000 bytes in front of the memory, 40000 bytes of which 30000 rotate.
class ProofLevels : public testing::Test {
 protected:
  ProofLevels() {
    device_.bandwidths = {level("l1", 1, 400, 1000), level("l2", 1, 0), level("l3", 1, 200, 4000),
                          level("memory", 1, 100, 1 << 20)};
    work_ = {.bytes_read = 35000, .bytes_written = 5000, .constant_bytes = 30000};
  }
  Terms with(CacheMode mode, int sets = 4) const {
    return terms(device_, 1, {.mode = mode, .sets = sets}, work_);
  }
  Device device_;
  Work work_;
};

// What stays in 2000 and in 10000 bytes of 40000 does not come from behind them.
TEST_F(ProofLevels, of_a_hot_kernel_lack_what_the_caches_in_front_hold) {
  EXPECT_EQ(with(hot), (Terms{"l1, 1 thread: 40000 at 400", "l3, 1 thread: 38000 at 200",
                              "memory, 1 thread: 30000 at 100"}));
  work_ = {.bytes_read = 10000};
  EXPECT_EQ(with(hot), (Terms{"l1, 1 thread: 10000 at 400", "l3, 1 thread: 8000 at 200"}))
      << "nothing is left for the memory";
}

// Constants: 30000 of a round of 4 x 30000 + 10000, of which 2000 and 10000 stay: 30000 (1 - 2/130)
// = 29538.46 and 30000 (1 - 10/130) = 27692.31; the rest: 10000 - 2000, and nothing.
TEST_F(ProofLevels, of_rotating_constants_are_by_their_round) {
  const Terms expected = {"l1, 1 thread: 40000 at 400", "l3, 1 thread: 37538 at 200",
                          "memory, 1 thread: 27692 at 100"};
  EXPECT_EQ(with(rotate_const), expected);
  EXPECT_EQ(with(in_stack), expected);
}

// All of 40000 in a round of 160000: 40000 (1 - 2/160) and 40000 (1 - 10/160).
TEST_F(ProofLevels, of_what_rotates_whole_are_by_its_round) {
  const Terms expected = {"l1, 1 thread: 40000 at 400", "l3, 1 thread: 39500 at 200",
                          "memory, 1 thread: 37500 at 100"};
  EXPECT_EQ(with(rotate_all), expected);
  EXPECT_EQ(with(flush), expected);
}

TEST_F(ProofLevels, constants_are_no_more_than_all_bytes) {
  work_ = {.bytes_read = 100, .constant_bytes = 1e9};
  device_.bandwidths = {level("memory", 1, 100)};
  EXPECT_EQ(with(rotate_const), Terms{"memory, 1 thread: 100 at 100"});
}

// Without a cache that is known, what is not constant may never have left one.
TEST_F(ProofLevels, without_caches_only_constants_are_sure_to_come_from_the_memory) {
  device_.bandwidths = {level("memory", 1, 100, 1 << 20), level("hbm", 1, 900)};
  EXPECT_EQ(with(rotate_const), Terms{"memory, 1 thread: 30000 at 100"});
  EXPECT_EQ(with(hot), Terms{});
  device_.bandwidths.push_back(level("l1", 1, 0));
  EXPECT_EQ(with(hot), Terms{}) << "a cache without a figure";
  const ExpectedTerm term = expected_terms(device_, 1, {.mode = rotate_const}, work_).at(0);
  EXPECT_EQ(term.source, "probe of memory");
  EXPECT_FALSE(term.counts_operations);
}

TEST(ProofCeilings, of_a_message_are_those_of_the_fastest_link) {
  Device device;
  const Work work{.message_bytes = 80, .transfer_bytes = 120, .exchange = Exchange::reduce};
  EXPECT_EQ(terms(device, 1, {}, work), Terms{});
  device.links = {{.name = "slow", .bytes_per_s = 10, .source = "s"},
                  {.name = "fast", .bytes_per_s = 30, .source = "f"},
                  {.name = "other", .bytes_per_s = 20}};
  EXPECT_EQ(terms(device, 1, {}, work), Terms{"link fast: 120 at 30"});
  EXPECT_EQ(expected_terms(device, 1, {}, work).at(0).source, "f");
  device.links[1].bytes_per_s_high = 35;
  device.links[1].reduces_in_switch = true;
  EXPECT_EQ(terms(device, 1, {}, work), Terms{"link fast: 80 at 35"});
  Work other = work;
  other.exchange = Exchange::none;
  EXPECT_EQ(terms(device, 1, {}, other), Terms{"link fast: 120 at 35"});
  other.transfer_bytes = 0;
  EXPECT_EQ(terms(device, 1, {}, other), Terms{});
  device.links = {{.name = "none", .bytes_per_s = 0}};
  EXPECT_EQ(terms(device, 1, {}, work), Terms{});
}

}  // namespace
}  // namespace halmark::front_proof
