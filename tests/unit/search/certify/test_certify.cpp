// The certifier on problems with known answers: exact fronts, counts of measurements, stated gaps.
#include "search/certify/certify.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "certifiable.hpp"
#include "search/certify/certificate.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using namespace problems;

std::set<Objectives> vectors(const Certificate& certificate) {
  std::set<Objectives> out;
  for (const CertifiedPoint& point : certificate.front) {
    Objectives vector;
    for (const Interval& i : point.interval) vector.push_back(i.low);
    out.insert(vector);
  }
  return out;
}

// Every vector of the published front within rounding, and as many.
void expect_front_of_mix6(const Certificate& certificate) {
  static const problems::Problem problem = mix6();
  const std::set<Objectives> found = vectors(certificate);
  ASSERT_EQ(found.size(), 222u);
  auto expected = problem.front.begin();
  for (const Objectives& vector : found) {
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(vector[j], (*expected)[j], 1e-12 * std::abs((*expected)[j]));
    }
    ++expected;
  }
}

struct Certified {
  Certificate certificate;
  std::size_t measured = 0, alarms = 0;
};

Certified certify_mix6(Mix6Kernels kernels, double safety, double eps = 0, double peak = 1) {
  Certifier certifier(certifiable_mix6(kernels, safety, peak), {.eps = eps});
  certify_all(certifier, mix6_times(certifier.problem(), kernels));
  return {make_certificate(certifier), certifier.kernels_measured(), certifier.alarms().size()};
}

TEST(CertifyMix6, proves_the_exact_front_with_28640_evaluations) {
  const Certified done = certify_mix6(Mix6Kernels::per_configuration, 1);
  EXPECT_EQ(done.certificate.state, CertificateState::certified);
  EXPECT_LE(done.measured, 28'640u);
  expect_front_of_mix6(done.certificate);
  EXPECT_EQ(done.certificate.configurations, 294'912u);
  EXPECT_EQ(done.certificate.evaluated + done.certificate.dominated, 294'912u);
}

class Mix6Safety : public testing::TestWithParam<std::pair<double, std::size_t>> {};

// The least that any order could do with this bound: counted elsewhere, knowing the front.
TEST_P(Mix6Safety, costs_no_more_than_it_must) {
  const auto [safety, least] = GetParam();
  const Certified done = certify_mix6(Mix6Kernels::per_configuration, safety);
  EXPECT_LE(done.measured, least);
  expect_front_of_mix6(done.certificate);
}

INSTANTIATE_TEST_SUITE_P(Factors, Mix6Safety,
                         testing::Values(std::pair(1.05, 34'656u), std::pair(1.10, 36'560u),
                                         std::pair(1.25, 43'504u), std::pair(1.50, 46'736u)),
                         [](const auto& info) {
                           return test::case_name({"factor", info.param.first});
                         });

class Mix6Shared : public testing::TestWithParam<double> {};

TEST_P(Mix6Shared, needs_96_of_288_kernels_when_each_is_measured_once) {
  const Certified done = certify_mix6(Mix6Kernels::shared, GetParam());
  EXPECT_EQ(done.certificate.state, CertificateState::certified);
  EXPECT_LE(done.measured, 96u);
  expect_front_of_mix6(done.certificate);
}

INSTANTIATE_TEST_SUITE_P(Factors, Mix6Shared, testing::Values(1.0, 1.05, 1.10, 1.25, 1.50),
                         [](const auto& info) {
                           return test::case_name({"factor", info.param});
                         });

TEST(CertifyMix6, within_eps_measures_less_and_every_true_point_is_met_up_to_that_factor) {
  static const problems::Problem problem = mix6();
  const bool is_maximised[] = {false, true, false};
  std::size_t before = 28'641;
  for (const double eps : {0.01, 0.05}) {
    const Certified done = certify_mix6(Mix6Kernels::per_configuration, 1, eps);
    EXPECT_EQ(done.certificate.state, CertificateState::within_eps);
    EXPECT_LE(done.certificate.gap, eps);
    EXPECT_GT(done.certificate.open, 0u);
    EXPECT_LT(done.measured, before);
    before = done.measured;
    for (const Objectives& truth : problem.front) {
      double nearest = 1;
      for (const Objectives& found : vectors(done.certificate)) {
        nearest = std::min(nearest, relative_gap(found, truth, is_maximised));
      }
      EXPECT_LE(nearest, eps * (1 + 1e-9));
    }
  }
  EXPECT_LE(certify_mix6(Mix6Kernels::per_configuration, 1, 0.01).measured, 28'464u);
  EXPECT_LE(before, 14'540u);
}

TEST(CertifyMix6, a_peak_halved_on_purpose_gives_alarms_and_the_same_front) {
  const Certified done = certify_mix6(Mix6Kernels::shared, 1.05, 0, 0.5);
  EXPECT_GT(done.alarms, 0u);
  EXPECT_EQ(done.certificate.state, CertificateState::certified);
  expect_front_of_mix6(done.certificate);
}

TEST(CertifyMix6, a_budget_that_ends_leaves_a_gap_that_only_falls) {
  Certifier certifier(certifiable_mix6(Mix6Kernels::shared, 1.05), {});
  const std::vector<double> times = mix6_times(certifier.problem(), Mix6Kernels::shared);
  double before = std::numeric_limits<double>::infinity();
  for (std::size_t kernels = 8; kernels < 96; kernels += 16) {
    certify_all(certifier, times, kernels);
    const ProvedGap gap = certifier.gap();
    const Certificate certificate = make_certificate(certifier);
    EXPECT_EQ(certificate.state, CertificateState::open);
    EXPECT_DOUBLE_EQ(certificate.gap, gap.eps);
    EXPECT_LE(gap.eps, before);
    ASSERT_GE(gap.kernel, 0);
    EXPECT_EQ(certifier.kernels()[static_cast<std::size_t>(gap.kernel)].status,
              KernelStatus::unmeasured);
    before = gap.eps;
  }
}

// One kernel with the same operations everywhere: its bound discards nothing. Stated peak of an RTX
// 3090: 35.6 TFLOP/s; 2 x 4096^3 FLOP.
TEST(CertifyGemm, states_the_gap_to_the_peak_and_claims_nothing_more) {
  const auto problem = replay("gemm1");
  if (!problem) GTEST_SKIP() << "data not found: recorded files in " << data_folder();
  const Space space(problem->description);
  std::vector<double> times;
  CertifiableProblem certifiable =
      certifiable_replay(*problem, space, 2.0 * 4096 * 4096 * 4096, 35.6e12, times);
  const std::size_t all = certifiable.kernels.size();
  EXPECT_EQ(all, 17'956u);
  Certifier certifier(std::move(certifiable), {});
  certify_all(certifier, times, 1000);
  EXPECT_EQ(make_certificate(certifier).state, CertificateState::open);
  certify_all(certifier, times, all - 1);
  const Certificate certificate = make_certificate(certifier);
  EXPECT_EQ(certificate.state, CertificateState::open);
  EXPECT_EQ(certificate.dominated + certificate.evaluated, all - 1);
  EXPECT_EQ(certificate.open, 1u);
  EXPECT_LE(certificate.gap, 0.47);
  EXPECT_GT(certificate.gap, 0.45);
}

// Two configurations and three kernels, in numbers that can be followed by hand.
CertifiableProblem two_configurations() {
  using namespace formula;
  CertifiableProblem out;
  out.domains = {{"choice", {"a", "b"}}};
  out.objectives = {{"time", "ns", false}, {"memory", "bytes", false}};
  out.peaks = {{.id = "peak", .value = 1, .unit = "", .source = "", .safety = 1}};
  for (const double amount : {10.0, 20.0, 40.0}) {
    out.kernels.push_back({.key = std::to_string(amount),
                           .operations = amount,
                           .terms = {{.peak = 0, .amount = amount}}});
  }
  out.own_formulas[0] = {sum({scaled(constant(2), kernel(0)), kernel(1)}), constant(100)};
  out.own_formulas[1] = {sum({kernel(0), kernel(2)}), constant(100)};
  return out;
}

TEST(Certifier, discards_what_its_bound_shows_to_be_worse) {
  Certifier certifier(two_configurations(), {});
  std::size_t asked = 0;
  while (true) {
    const std::vector<std::int32_t> kernels = certifier.ask(1);
    if (kernels.empty()) break;
    ++asked;
    ASSERT_NE(kernels[0], 2) << "a: 2 x 11 + 21 = 43 beats b, which takes at least 11 + 40";
    certifier.tell(kernels[0], kernels[0] == 0 ? 11 : 21, kernels[0] == 0 ? 11.5 : 21.5);
  }
  EXPECT_EQ(asked, 2u);
  const Certificate certificate = make_certificate(certifier);
  EXPECT_EQ(certificate.state, CertificateState::certified);
  ASSERT_EQ(certificate.front.size(), 1u);
  EXPECT_EQ(certificate.front[0].configuration, 0u);
  EXPECT_EQ(certificate.front[0].interval[0].low, 43);
  EXPECT_EQ(certificate.front[0].interval[0].high, 44.5);
  EXPECT_TRUE(certificate.front[0].is_certain);
}

TEST(Certifier, intervals_that_overlap_keep_both_as_possible) {
  Certifier certifier(two_configurations(), {});
  certifier.tell(0, 10, 20);
  certifier.tell(1, 20, 30);
  certifier.tell(2, 40, 45);
  const Certificate certificate = make_certificate(certifier);
  ASSERT_EQ(certificate.front.size(), 2u);
  EXPECT_FALSE(certificate.front[0].is_certain);
  EXPECT_FALSE(certificate.front[1].is_certain);
}

TEST(Certifier, a_kernel_that_failed_takes_its_configurations_out_and_says_so) {
  Certifier certifier(two_configurations(), {});
  certifier.tell_failed(1, "crashed");
  EXPECT_EQ(certifier.ask(5), (std::vector<std::int32_t>{0, 2}));
  certifier.tell(0, 10, 10);
  certifier.tell(2, 40, 40);
  const Certificate certificate = make_certificate(certifier);
  EXPECT_EQ(certificate.failed, 1u);
  ASSERT_EQ(certificate.front.size(), 1u);
  EXPECT_EQ(certificate.front[0].configuration, 1u);
}

TEST(Certifier, an_alarm_raises_the_peak_and_replays_what_it_had_discarded) {
  Certifier certifier(two_configurations(), {});
  certifier.tell(0, 10, 10);
  certifier.tell(1, 25, 25);  // a takes 45; b at least 10 + 40
  EXPECT_TRUE(certifier.ask(1).empty());
  // Twice as fast as the bound allowed.
  certifier.tell(2, 20, 20);
  ASSERT_EQ(certifier.alarms().size(), 1u);
  EXPECT_EQ(certifier.alarms()[0].peak_after, 2);
  EXPECT_EQ(certifier.kernels()[2].bound, 20);
  const Certificate certificate = make_certificate(certifier);
  ASSERT_EQ(certificate.front.size(), 1u);
  EXPECT_EQ(certificate.front[0].configuration, 1u) << "10 + 20 beats 2 x 10 + 25";
}

TEST(Certifier, refuses_intervals_and_kernels_that_make_no_sense) {
  Certifier certifier(two_configurations(), {});
  EXPECT_EQ(test::error_of([&] { certifier.tell(0, 0, 1); }).exit_code(), ExitCode::error);
  EXPECT_EQ(test::error_of([&] { certifier.tell(0, 2, 1); }).exit_code(), ExitCode::error);
  EXPECT_EQ(test::error_of([&] { certifier.tell(7, 1, 1); }).exit_code(), ExitCode::error);
  certifier.tell(0, 10, 10);
  EXPECT_EQ(test::error_of([&] { certifier.tell(0, 10, 10); }).exit_code(), ExitCode::error);
}

TEST(Certifier, configurations_of_different_fronts_never_compare) {
  CertifiableProblem problem = two_configurations();
  problem.fronts = {"decode", "prefill"};
  problem.front_of = {0, 1};
  Certifier certifier(std::move(problem), {});
  for (const double time : {10.0, 20.0, 400.0}) {
    certifier.tell(time == 10 ? 0 : time == 20 ? 1 : 2, time, time);
  }
  EXPECT_EQ(make_certificate(certifier).front.size(), 2u);
}

// One kernel each: a budget that ends early is to leave no front without anything evaluated.
TEST(Certifier, evaluates_something_of_each_front_before_more_of_any) {
  using namespace formula;
  struct Row {
    double time, memory;
    std::int32_t front;
  };
  // b would lead by its bound: both of the second front pay for the least of one with the most of
  // the other.
  constexpr std::array rows = {Row{10, 100, 0}, Row{11, 101, 0}, Row{110, 200, 0}, Row{10, 200, 1},
                               Row{110, 100, 1}};
  CertifiableProblem problem = two_configurations();
  problem.domains = {{"choice", {"a", "b", "c", "d", "e"}}};
  problem.fronts = {"decode", "prefill"};
  problem.kernels.clear();
  problem.front_of.clear();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    problem.kernels.push_back({.key = std::to_string(i),
                               .operations = rows[i].time,
                               .terms = {{.peak = 0, .amount = rows[i].time}}});
    problem.own_formulas[i] = {kernel(static_cast<std::int32_t>(i)), constant(rows[i].memory)};
    problem.front_of.push_back(rows[i].front);
  }
  Certifier certifier(std::move(problem), {});
  EXPECT_EQ(certifier.ask(1), std::vector<std::int32_t>{0});
  certifier.tell(0, 20, 20);
  const std::vector<std::int32_t> second = certifier.ask(1);
  ASSERT_EQ(second.size(), 1U);
  EXPECT_GE(second[0], 3);
  certifier.tell(second[0], 2 * rows[static_cast<std::size_t>(second[0])].time,
                 2 * rows[static_cast<std::size_t>(second[0])].time);
  EXPECT_EQ(certifier.ask(1), std::vector<std::int32_t>{1});
}

TEST(RelativeGap, is_a_factor_in_either_direction) {
  const bool is_maximised[] = {false, true};
  EXPECT_NEAR(relative_gap(Objectives{11, -10}, Objectives{10, -10}, is_maximised), 0.1, 1e-12);
  EXPECT_DOUBLE_EQ(relative_gap(Objectives{10, -10}, Objectives{10, -15}, is_maximised), 0.5);
  EXPECT_EQ(relative_gap(Objectives{9, -16}, Objectives{10, -15}, is_maximised), 0);
  EXPECT_TRUE(std::isinf(relative_gap(Objectives{1, -1}, Objectives{0, -1}, is_maximised)));
}

}  // namespace
}  // namespace halmark
