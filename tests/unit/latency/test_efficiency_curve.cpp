// Curves fitted to times that a formula of this file makes: what they say beyond their samples is
// compared with the formula.
#include "latency/interpolation/efficiency_curve.hpp"

#include "tests/unit/latency/fixtures.hpp"
#include "tune/sources/curve_solver.hpp"

namespace halmark {
namespace {

using namespace latency_test;

// 4 us, 80 % of compute once there are some 20 us of it, 90 % of memory.
double true_ns(const ResourceTimes& t) {
  const double compute = t.compute_ns <= 0 ? 0 : t.compute_ns / 0.8 * (1 + 20e3 / t.compute_ns);
  return 4e3 + std::max(compute, t.memory_ns / 0.9);
}

std::vector<EfficiencyCurve::Sample> samples(double largest_ns) {
  std::vector<EfficiencyCurve::Sample> out;
  for (double compute = 10; compute <= largest_ns; compute *= 2) {
    for (double memory = 10; memory <= largest_ns; memory *= 2) {
      const ResourceTimes times{compute, memory, 0};
      out.push_back({times, true_ns(times)});
    }
  }
  return out;
}

TEST(EfficiencyCurve, reaches_beyond_what_it_was_fitted_to) {
  const auto known = samples(1e6);
  const EfficiencyCurve curve(known, tune::curve_solver());
  for (const double ns : {4e6, 3.2e7}) {
    for (const ResourceTimes& t :
         {ResourceTimes{ns, ns / 100, 0}, ResourceTimes{ns / 100, ns, 0}}) {
      EXPECT_NEAR(curve.ns(t) / true_ns(t), 1, 0.06) << ns;
    }
  }
  EXPECT_LT(curve.launch_ns(), true_ns({10, 10, 0}));
  EXPECT_NEAR(curve.ns({10, 10, 0}) / true_ns({10, 10, 0}), 1, 0.1);
  says(curve.text(), "compute ");
  says(curve.text(), "memory ");
  EXPECT_THAT(curve.text(), Not(HasSubstr("link")));
}

// One sample in ten is wrong by a factor of five: a quadratic loss would follow them.
TEST(EfficiencyCurve, a_few_wrong_times_do_not_bend_it) {
  auto known = samples(1e6);
  for (std::size_t i = 0; i < known.size(); i += 10) known[i].ns *= 5;
  const EfficiencyCurve curve(known, tune::curve_solver());
  const ResourceTimes large{4e6, 4e4, 0};
  EXPECT_NEAR(curve.ns(large) / true_ns(large), 1, 0.1);
}

TEST(EfficiencyCurve, stays_within_its_bounds) {
  // Faster than any device: no curve of it goes above 102 % of the compute peak.
  std::vector<EfficiencyCurve::Sample> known;
  for (double ns = 1e3; ns < 1e8; ns *= 1.2) known.push_back({{ns, ns / 100, 0}, ns / 3});
  const EfficiencyCurve curve(known, tune::curve_solver());
  EXPECT_GE(curve.ns({1e8, 0, 0}), 1e8 / 1.02);
}

TEST(EfficiencyCurve, too_few_samples_make_none) {
  auto known = samples(1e6);
  known.resize(EfficiencyCurve::samples_min - 1);
  EXPECT_THROW(EfficiencyCurve(known, tune::curve_solver()), std::logic_error);
}

// What the solver is asked, and an answer of the test's own: the header's formula at 9 numbers.
struct AskedCurve {
  std::vector<double> answer;
  std::vector<std::vector<double>> asked = {};  // points at which the objective is wanted
  std::vector<double> losses = {}, low = {}, high = {}, start = {};

  CurveSolver solver() {
    return [this](const auto& of, auto from, auto to, auto at) {
      low.assign(from.begin(), from.end());
      high.assign(to.begin(), to.end());
      start.assign(at.begin(), at.end());
      losses.clear();
      for (const auto& p : asked) losses.push_back(of(p));
      return answer;
    };
  }
};

// launch 1 us; shares of compute 0.5 t / (t + 2 us), of memory 0.8 (t / (t + 3 us))^0.5, of the
// link 0.4; compute and memory joined by the norm of order 2.
const std::vector<double> by_hand = {1e3, 0.5, std::log(2e3), 1, 0.8, std::log(3e3), 0.5, 0.4, 2};

TEST(EfficiencyCurve, is_the_formula_of_its_header) {
  AskedCurve asked{.answer = by_hand};
  const std::vector<EfficiencyCurve::Sample> known(24, {{1, 1, 1}, 1e4});
  const EfficiencyCurve curve(known, asked.solver());
  const double compute = 4e3 / (0.5 * 4.0 / 6), memory = 1e3 / (0.8 * std::sqrt(1.0 / 4));
  EXPECT_NEAR(curve.ns({4e3, 0, 0}), 1e3 + compute, 1e-6);
  EXPECT_NEAR(curve.ns({0, 1e3, 0}), 1e3 + memory, 1e-6);
  EXPECT_NEAR(curve.ns({0, 0, 800}), 1e3 + 2e3, 1e-6);
  EXPECT_NEAR(curve.ns({4e3, 1e3, 800}), 3e3 + std::hypot(compute, memory), 1e-6);
  EXPECT_EQ(curve.launch_ns(), 1e3);
  EXPECT_EQ(curve.text(), "compute 50 %, memory 80 %, link 40 % of peak, launch 1.0 us");
}

// Errors of 9 % and 15 % in the logarithm, on both sides of where Huber's loss becomes a line.
TEST(EfficiencyCurve, small_errors_count_by_their_square_and_large_ones_linearly) {
  for (const double error : {0.09, -0.09, 0.15, -0.15, 1.6}) {
    AskedCurve asked{.answer = by_hand, .asked = {by_hand}};
    const std::vector<EfficiencyCurve::Sample> known(24, {{0, 0, 800}, 3e3 * std::exp(error)});
    const EfficiencyCurve curve(known, asked.solver());
    const double a = std::abs(error);
    EXPECT_NEAR(asked.losses.at(0), a < 0.1 ? a * a / 2 : 0.1 * a - 0.005, 1e-12) << error;
  }
}

// No share is above 102 % of a peak of compute; memory and link may be beaten twofold (caches,
// links of a figure per direction). A launch takes no longer than the shortest sample.
TEST(EfficiencyCurve, its_numbers_stay_where_a_device_can_be) {
  AskedCurve asked{.answer = by_hand};
  std::vector<EfficiencyCurve::Sample> known(24, {{1, 1, 1}, 1e4});
  known[7].ns = 5e3;
  const EfficiencyCurve curve(known, asked.solver());
  const double ns = 0, ten_ms = std::log(1e7);
  EXPECT_THAT(asked.low, ElementsAre(1e3, 0.02, ns, 0, 0.02, ns, 0, 0.02, 1));
  EXPECT_THAT(asked.high, ElementsAre(5e3, 1.02, ten_ms, 1, 2, ten_ms, 1, 2, 8));
  for (std::size_t i = 0; i < asked.start.size(); ++i) {
    EXPECT_GT(asked.start[i], asked.low[i]) << i;
    EXPECT_LT(asked.start[i], asked.high[i]) << i;
  }
}

TEST(ResourceTimes, the_longest_binds_and_memory_does_where_two_are_equal) {
  using Resource = ResourceTimes::Resource;
  EXPECT_EQ((ResourceTimes{3, 2, 1}.binding()), Resource::compute);
  EXPECT_EQ((ResourceTimes{2, 2, 1}.binding()), Resource::memory);
  EXPECT_EQ((ResourceTimes{1, 2, 3}.binding()), Resource::link);
  EXPECT_EQ((ResourceTimes{3, 2, 3}.binding()), Resource::compute);
  EXPECT_EQ((ResourceTimes{1, 3, 3}.binding()), Resource::memory);
  EXPECT_EQ(resource_name(Resource::compute), "compute");
  EXPECT_EQ(resource_name(Resource::memory), "memory");
  EXPECT_EQ(resource_name(Resource::link), "link");
}

TEST(ResourceRates, each_resource_at_its_peak) {
  const ResourceRates rates(
      device_of("made-up", 1e15, 2e12, {{.name = "link", .bytes_per_s = 1e11}}));
  const auto of_gemm = rates.of(gemm(1000));
  ASSERT_TRUE(of_gemm);
  EXPECT_DOUBLE_EQ(of_gemm->compute_ns, 2e9 / 1e15 * 1e9);
  EXPECT_DOUBLE_EQ(of_gemm->memory_ns, 6e6 / 2e12 * 1e9);
  EXPECT_EQ(of_gemm->link_ns, 0);
  EXPECT_EQ(of_gemm->binding(), ResourceTimes::Resource::memory);
  // Bus factor of nccl-tests: 2 (n - 1) / n of the message.
  const auto of_sum = rates.of({"all_reduce", {{"bytes", 1 << 20}, {"ranks", 4}, {"dtype", bf16}}});
  ASSERT_TRUE(of_sum);
  EXPECT_DOUBLE_EQ(of_sum->link_ns, 1.5 * (1 << 20) / 1e11 * 1e9);
  EXPECT_EQ(of_sum->binding(), ResourceTimes::Resource::link);
  EXPECT_FALSE(rates.of({"no_such_op", {}}));
}

}  // namespace
}  // namespace halmark
