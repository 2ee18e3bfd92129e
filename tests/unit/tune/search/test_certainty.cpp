// How sure a front is, from recorded processes: places by hand, probabilities in closed form, and
// which kernels a further round is spent on.
#include "core/ranges.hpp"
#include "tune/search/certainty.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "tests/unit/tune/recorded_sweep.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::HasSubstr;

constexpr const char* latency_only = "[\"latency\"]";

const Evaluation& of_batch(const std::vector<Evaluation>& evaluations, std::int64_t batch) {
  return *std::ranges::find_if(
      evaluations, [&](const Evaluation& e) { return e.configuration.workload.batch == batch; });
}

FrontClass class_of(const std::vector<Evaluation>& evaluations, std::int64_t batch) {
  return of_batch(evaluations, batch).standing.value().front_class;
}

double probability_of(const std::vector<Evaluation>& evaluations, std::int64_t batch) {
  return of_batch(evaluations, batch).standing.value().probability;
}

// Relative to 1 us per kernel.
double us(double factor) { return 1000 * factor; }

TEST(JudgeFront, places_follow_from_the_intervals) {
  RecordedSweep sweep(decode_sweep("[1, 2, 4, 8]", latency_only));
  sweep.record_times([](std::int64_t batch, int round) {
    if (batch == 1) return us(1);
    if (batch == 2) return us(round == 0 ? 0.9 : 1.2);
    return us(batch == 4 ? 1.1 : 1.3);
  });
  std::vector<Evaluation> evaluations = sweep.evaluations();
  judge_front(sweep.evaluator(), evaluations);
  EXPECT_EQ(class_of(evaluations, 1), FrontClass::possible);
  EXPECT_EQ(class_of(evaluations, 2), FrontClass::possible);
  EXPECT_EQ(class_of(evaluations, 4), FrontClass::out) << "batch 1 takes 1.0 at the most";
  EXPECT_EQ(class_of(evaluations, 8), FrontClass::out);
  EXPECT_EQ(probability_of(evaluations, 8), 0);
}

// Batch 2 gives 2 tokens a step: better in throughput while its step takes less than twice that of
// batch 1. Ends of the interval of the step are ends of the throughput, the other way about.
TEST(JudgeFront, throughput_has_the_ends_of_the_latency) {
  for (const double worst : {1.9, 2.1}) {
    RecordedSweep sweep(decode_sweep("[1, 2]", "[\"throughput\"]"));
    sweep.record_times([&](std::int64_t batch, int round) {
      return us(batch == 1 ? 1 : round == 0 ? worst : 1.5);
    });
    std::vector<Evaluation> evaluations = sweep.evaluations();
    judge_front(sweep.evaluator(), evaluations);
    EXPECT_EQ(class_of(evaluations, 1), worst < 2 ? FrontClass::out : FrontClass::possible);
    EXPECT_EQ(class_of(evaluations, 2), worst < 2 ? FrontClass::certain : FrontClass::possible);
  }
}

// One kernel of batch 2 differs between processes: fast in one of three. The median of three draws
// with replacement is the fast one when at least two of them are: 7 of 27.
TEST(JudgeFront, a_probability_is_the_share_of_redraws_of_the_processes) {
  RecordedSweep sweep(decode_sweep("[1, 2]", latency_only));
  std::string of_spread;
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    if (k.batch == 2 && of_spread.empty()) of_spread = k.kernel_case.key();
    const bool is_spread = k.kernel_case.key() == of_spread;
    m.duration_ns_median = is_spread ? us(m.round == 0 ? 0.5 : 1.5) : us(1);
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
  });
  std::vector<Evaluation> evaluations = sweep.evaluations();
  judge_front(sweep.evaluator(), evaluations);
  const double first = probability_of(evaluations, 1), second = probability_of(evaluations, 2);
  const double expected = 7.0 / 27;
  EXPECT_NEAR(second, expected, 4 * std::sqrt(expected * (1 - expected) / 400));
  EXPECT_NEAR(first + second, 1, 1e-12) << "one of the two is the front of every redraw";
  EXPECT_NEAR(second * 400, std::round(second * 400), 1e-9) << "400 redraws: 2.5 % standard error";
}

TEST(UndecidedKernels, are_of_configurations_whose_place_is_in_doubt) {
  RecordedSweep sweep(decode_sweep("[1, 2, 4]", latency_only));
  sweep.record_times([](std::int64_t batch, int round) {
    return us(batch == 4 ? 3 : batch == 1 ? 1 : round == 0 ? 0.9 : 1.2);
  });
  const std::vector<Evaluation> evaluations = sweep.evaluations();
  const std::vector<KernelCase> kernels = undecided_kernels(sweep.evaluator(), evaluations);
  EXPECT_FALSE(kernels.empty());
  for (const RecordedKernel& k : sweep.kernels()) {
    if (contains(kernels, k.kernel_case)) {
      EXPECT_EQ(k.batch, 2) << "batch 1 has no interval, batch 4 no place";
    }
  }
}

// 1 % apart is the same for any purpose of a deployment.
TEST(UndecidedKernels, latencies_within_one_percent_are_a_tie_and_left_alone) {
  for (const double slower : {1.0095, 1.0105}) {
    for (const bool is_first_slower : {false, true}) {
      RecordedSweep sweep(decode_sweep("[1, 2]", latency_only));
      sweep.record_times([&](std::int64_t batch, int round) {
        const double middle = (batch == 1) == is_first_slower ? slower : 1;
        return us(middle + (round == 0 ? -0.2 : round == 1 ? 0.2 : 0));
      });
      const std::vector<Evaluation> evaluations = sweep.evaluations();
      EXPECT_EQ(undecided_kernels(sweep.evaluator(), evaluations).empty(), slower < 1.01);
    }
  }
}

// Widths of intervals over a whole step, in shares of all: the widest first, until 90 % are
// covered.
TEST(UndecidedKernels, the_widest_kernels_that_make_up_nine_tenths_of_the_interval) {
  struct Case {
    std::vector<double> shares;
    std::size_t wanted;
  };
  for (const Case& c : {Case{{0.85, 0.07, 0.08}, 2}, Case{{0.91, 0.05, 0.04}, 1},
                        Case{{0.45, 0.44, 0.11}, 3}, Case{{0.3, 0.62, 0.08}, 2}}) {
    RecordedSweep sweep(decode_sweep("[1, 2]", latency_only));
    std::vector<std::string> spread;
    sweep.record([&](const RecordedKernel& k, Measurement& m) {
      const std::string key = k.kernel_case.key();
      auto at = std::ranges::find(spread, key);
      if (k.batch == 2 && at == spread.end() && spread.size() < c.shares.size()) {
        spread.push_back(key);
        at = spread.end() - 1;
      }
      m.duration_ns_median = us(1);
      if (at != spread.end() && m.round < 2) {
        const double share = c.shares[static_cast<std::size_t>(at - spread.begin())];
        m.duration_ns_median += (m.round == 0 ? -500 : 500) * share / k.executions;
      }
    });
    const std::vector<Evaluation> evaluations = sweep.evaluations();
    std::vector<std::string> wanted;
    std::vector<std::size_t> order(c.shares.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return c.shares[i]; });
    for (std::size_t i = 0; i < c.wanted; ++i) wanted.push_back(spread[order[i]]);
    // The middles differ by nothing: shift the first batch out of the tie.
    std::vector<std::string> found;
    std::vector<Evaluation> moved = evaluations;
    for (Evaluation& e : moved) {
      if (e.configuration.workload.batch != 1) continue;
      e.estimate->step_ns *= 1.02;
      e.estimate->low_ns = e.estimate->high_ns = e.estimate->step_ns;
    }
    for (Evaluation& e : moved) {
      if (e.configuration.workload.batch == 2) e.estimate->high_ns *= 1.1;
    }
    for (const KernelCase& k : undecided_kernels(sweep.evaluator(), moved)) {
      found.push_back(k.key());
    }
    EXPECT_THAT(found, testing::UnorderedElementsAreArray(wanted)) << c.shares[0];
  }
}

// Batch 2 overlaps batch 1 and never stops doing so.
void record_doubt(RecordedSweep& sweep, double wall_s) {
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = us(k.batch == 1       ? 1.05
                              : m.round % 3 == 0 ? 0.7
                              : m.round % 3 == 1 ? 1.3
                                                 : 1);
    m.wall_s = wall_s;
  });
}

std::size_t rows_of(MeasuredEvaluator& evaluator, int round) {
  return static_cast<std::size_t>(std::ranges::count(evaluator.rows(), round, &Measurement::round));
}

TEST(SettleFront, ends_after_six_further_rounds_at_the_most) {
  RecordedSweep sweep(decode_sweep("[1, 2]", latency_only));
  record_doubt(sweep, 0.001);
  std::vector<Evaluation> evaluations = sweep.evaluations();
  const std::string note = settle_front(sweep.evaluator(), evaluations).note;
  EXPECT_GT(rows_of(sweep.evaluator(), 8), 0u);
  EXPECT_EQ(rows_of(sweep.evaluator(), 9), 0u);
  EXPECT_THAT(note, HasSubstr("0 of 2 configurations in doubt are decided"));
}

TEST(SettleFront, ends_with_the_repeat_budget) {
  RecordedSweep sweep(decode_sweep("[1, 2]", latency_only, "[measure]\nrepeat_budget_s = 100\n"));
  record_doubt(sweep, 0.001);
  std::vector<Evaluation> first = sweep.evaluations();
  const auto kernels = static_cast<double>(undecided_kernels(sweep.evaluator(), first).size());
  // One round takes 60 s: the second one is begun and overdraws, a third is not.
  RecordedSweep again(decode_sweep("[1, 2]", latency_only, "[measure]\nrepeat_budget_s = 100\n"));
  record_doubt(again, 60 / kernels);
  std::vector<Evaluation> evaluations = again.evaluations();
  const std::string note = settle_front(again.evaluator(), evaluations).note;
  EXPECT_EQ(rows_of(again.evaluator(), 3), static_cast<std::size_t>(kernels));
  EXPECT_EQ(rows_of(again.evaluator(), 4), static_cast<std::size_t>(kernels));
  EXPECT_EQ(rows_of(again.evaluator(), 5), 0u);
  EXPECT_THAT(note, HasSubstr("repeats: " + std::to_string(static_cast<int>(2 * kernels)) +
                              " further rows in 120.0 s"));
}

// Six rounds give an interval that drops both ends: the doubt of one bad process ends.
TEST(SettleFront, further_rounds_decide_and_are_counted) {
  RecordedSweep sweep(decode_sweep("[1, 2, 4]", latency_only));
  sweep.record_times([](std::int64_t batch, int round) {
    if (batch == 4) return us(3);
    return us(batch == 1 ? 1 : round == 1 ? 0.9 : 1.2);
  });
  std::vector<Evaluation> evaluations = sweep.evaluations();
  const std::string note = settle_front(sweep.evaluator(), evaluations).note;
  EXPECT_EQ(class_of(evaluations, 1), FrontClass::certain);
  EXPECT_EQ(class_of(evaluations, 2), FrontClass::out);
  EXPECT_GT(of_batch(evaluations, 2).estimate->low_ns, of_batch(evaluations, 1).estimate->high_ns);
  EXPECT_THAT(note, HasSubstr("2 of 2 configurations in doubt are decided"));
  const std::vector<Evaluation> decided = evaluations;
  EXPECT_EQ(settle_front(sweep.evaluator(), evaluations).note, "")
      << "nothing is in doubt any more";
}

}  // namespace
}  // namespace halmark::tune
