#include "latency/case_bounds.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

Device device() {
  Device d;
  d.bandwidths.push_back({.level = "memory", .threads = 1, .bytes_per_s = 1e9});
  d.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1.25e9});
  return d;
}

KernelCase rotated_copy(std::int64_t bytes) {
  KernelCase out = copy_case(bytes);
  out.mode = CacheMode::rotate_all;
  return out;
}

// 1000 bytes; two threads move 1.25e9 bytes/s, a cut of one thread 1e9 alone, half of both's in
// company.
TEST(CaseBounds, follow_the_cut_and_the_company) {
  const Device d = device();
  const CaseBounds bounds({.device = &d, .threads = 2});
  KernelCase c = rotated_copy(500);
  EXPECT_NEAR(bounds.of(c).bound.ns(), 800, 1e-9);
  c.parts = 2;
  EXPECT_NEAR(bounds.of(c).bound.ns(), 1000, 1e-9);
  c.shards_at_once = 2;
  const CaseBound two = bounds.of(c);
  EXPECT_NEAR(two.bound.ns(), 1600, 1e-9);
  EXPECT_EQ(two.work.bytes(), 1000);
  EXPECT_EQ(two.ceilings->at(two.bound.parts().back().source).name,
            "memory, 2 threads shared by 2 shards");
  EXPECT_EQ(two.ceilings, bounds.of(c).ceilings) << "resolved once";
}

TEST(CaseBounds, more_parts_than_threads_have_one_thread_each) {
  const Device d = device();
  const CaseBounds bounds({.device = &d, .threads = 2});
  KernelCase c = rotated_copy(500);
  c.parts = 8;
  EXPECT_NEAR(bounds.of(c).bound.ns(), 1000, 1e-9);
  Device whole;
  whole.bandwidths.push_back({.level = "memory", .bytes_per_s = 1e9});
  const CaseBounds of_whole({.device = &whole, .threads = 0});
  c.parts = 1;
  EXPECT_NEAR(of_whole.of(c).bound.ns(), 1000, 1e-9);
}

TEST(CaseBounds, without_a_device_there_is_none) {
  EXPECT_EQ(CaseBounds({}).of(rotated_copy(500)).bound.ns(), 0);
}

TEST(CaseBounds, a_problem_that_its_contract_refuses_is_refused) {
  EXPECT_THROW(CaseBounds({}).of(rotated_copy(-1)), Error);
}

}  // namespace
}  // namespace halmark
