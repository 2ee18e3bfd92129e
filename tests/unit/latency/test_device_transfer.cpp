// Carrying times between devices whose times are a formula: utilisation carries over, an interval
// needs a device that was left out.
#include "latency/interpolation/device_transfer.hpp"

#include "latency/interpolation/transferred_source.hpp"
#include "tests/unit/latency/fixtures.hpp"
#include "tune/sources/curve_solver.hpp"

namespace halmark {
namespace {

using namespace latency_test;

// Launch, and a share of the peak of what binds that depends on the device alone.
double true_ns(const Problem& problem, const Device& on, double share) {
  return 3000 + roofline_estimate(work_of(problem), on, {})->ns / share;
}

std::vector<LatencyPoint> table(const Device& on, double share) {
  std::vector<LatencyPoint> out;
  for (std::int64_t m = 1; m <= 8192; m *= 2) {
    for (std::int64_t n = 512; n <= 16384; n *= 2) {
      for (std::int64_t k = 512; k <= 16384; k *= 2) {
        const Problem problem = gemm(m, n, k);
        out.push_back({problem, true_ns(problem, on, share)});
      }
    }
  }
  return out;
}

const Device old = device_of("old", 3e14, 2e12), newer = device_of("newer", 1e15, 3e12),
             wanted = device_of("wanted", 4e14, 9e11);

// Large products: the launch is nothing, the share of the peak everything.
TEST(DeviceTransfer, what_binds_on_each_device_sets_the_time) {
  DeviceTransfer transfer({}, tune::curve_solver());
  transfer.add(table(newer, 0.7), newer);
  const ResourceRates rates(wanted);
  const auto compute = transfer.at(gemm(8192, 8192, 8192), rates);
  ASSERT_TRUE(compute);
  EXPECT_EQ(compute->binding, ResourceTimes::Resource::compute);
  EXPECT_NEAR(compute->ns / true_ns(gemm(8192, 8192, 8192), wanted, 0.7), 1, 0.03);
  const auto memory = transfer.at(gemm(1, 16384, 16384), rates);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->binding, ResourceTimes::Resource::memory);
  EXPECT_NEAR(memory->ns / true_ns(gemm(1, 16384, 16384), wanted, 0.7), 1, 0.03);
}

TEST(DeviceTransfer, one_device_calibrates_nothing) {
  DeviceTransfer transfer({}, tune::curve_solver());
  EXPECT_FALSE(transfer.at(gemm(64, 1024, 1024), ResourceRates(wanted)));
  transfer.add(table(newer, 0.7), newer);
  const auto figure = transfer.at(gemm(64, 1024, 1024), ResourceRates(wanted));
  ASSERT_TRUE(figure);
  EXPECT_FALSE(figure->is_calibrated);
  EXPECT_THAT(figure->devices, ElementsAre("newer"));
  EXPECT_TRUE(figure->left_out.empty());
}

// Devices that reach 60 % and 75 % miss each other by log(75 / 60): a third lies between them.
TEST(DeviceTransfer, devices_left_out_in_turn_calibrate_it) {
  DeviceTransfer transfer({}, tune::curve_solver());
  transfer.add(table(newer, 0.6), newer);
  transfer.add(table(old, 0.75), old);
  const Problem problem = gemm(8192, 8192, 8192);
  const auto figure = transfer.at(problem, ResourceRates(wanted));
  ASSERT_TRUE(figure);
  EXPECT_TRUE(figure->is_calibrated);
  EXPECT_THAT(figure->devices, ElementsAre("newer", "old"));
  EXPECT_THAT(figure->left_out, ElementsAre("newer", "old"));
  EXPECT_GE(std::log(figure->high_ns / figure->ns), 0.8 * std::log(0.75 / 0.6));
  const double truth = true_ns(problem, wanted, 0.67);
  EXPECT_LT(figure->low_ns, truth);
  EXPECT_GT(figure->high_ns, truth);
}

TEST(TransferredSource, says_from_where_and_what_its_interval_holds) {
  TransferredSource source(wanted, {}, tune::curve_solver());
  const auto origin = [](const Problem&) { return std::string("t.csv: gemm bf16"); };
  source.add(table(newer, 0.6), newer, origin);
  const Problem problem = gemm(300, 3000, 3000);
  const Work work = find_contract("gemm")->work(problem.params);
  const auto alone = source.latency(problem, work);
  ASSERT_TRUE(alone);
  says(alone->origin, "transferred from newer of t.csv: gemm bf16");
  says(alone->reason, "spread, not calibrated");
  EXPECT_THAT(alone->reason, Not(HasSubstr("90 %")));
  EXPECT_GT(alone->lower_bound_ns, 0);
  source = TransferredSource(wanted, {}, tune::curve_solver());
  source.add(table(newer, 0.6), newer, origin);
  source.add(table(old, 0.75), old, origin);
  says(source.latency(problem, work)->reason, "90 % interval, of devices left out: newer, old");
}

TEST(TransferredSource, points_that_beat_the_roofline_are_left_out) {
  std::vector<LatencyPoint> points = table(newer, 0.6);
  points[7].ns = 1;
  TransferredSource source(wanted);
  source.add(points, newer);
  EXPECT_EQ(source.left_out().kernels, 1u);
  EXPECT_EQ(source.left_out().problem, points[7].problem.text());
}

}  // namespace
}  // namespace halmark
