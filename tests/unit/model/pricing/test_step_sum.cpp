// Sums of steps against sums written out in the test.
#include "core/numeric/cast.hpp"
#include "model/pricing/step_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace halmark {
namespace {

// Stages of terms as they were given, without merging.
using Stages = std::vector<std::vector<StepSum::Term>>;

StepSum sum_of(const Stages& stages, double micro_batches) {
  StepSum out;
  for (const auto& stage : stages) {
    out.terms.insert(out.terms.end(), stage.begin(), stage.end());
    out.end_stage();
  }
  out.micro_batches = micro_batches;
  return out;
}

double naive(const Stages& stages, double micro_batches, const std::vector<KernelTime>& times,
             double KernelTime::*figure) {
  double slowest = 0, way = 0;
  for (const auto& stage : stages) {
    double ns = 0;
    for (const auto& term : stage) {
      ns += term.count * times[as_size(term.kernel)].*figure;
    }
    slowest = std::max(slowest, ns);
    way += ns;
  }
  const bool is_full = micro_batches >= as_double(stages.size());
  return is_full ? micro_batches * slowest : std::max(micro_batches * slowest, way);
}

std::vector<KernelTime> random_times(std::size_t count, std::mt19937_64& random) {
  std::vector<KernelTime> out;
  std::uniform_real_distribution<double> ns(1, 1000);
  for (std::size_t i = 0; i < count; ++i) {
    const double middle = ns(random);
    out.push_back(
        {middle, middle - ns(random) / 2000, middle + ns(random), ns(random) / 1000, true});
  }
  return out;
}

// Or, with fewer micro-batches than stages, the way of one through all of them.
TEST(StepSum, every_figure_is_the_largest_stage_times_the_micro_batches) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 200; ++round) {
    const std::vector<KernelTime> times = random_times(12, random);
    Stages stages(1 + random() % 6);
    for (auto& stage : stages) {
      for (std::size_t k = 0; k < 1 + random() % 3; ++k) {
        stage.push_back(
            {static_cast<std::int32_t>(random() % times.size()), as_double(1 + random() % 2)});
      }
    }
    const double micro_batches = as_double(1 + random() % 8);
    const StepTime step = evaluate(sum_of(stages, micro_batches), times);
    for (double KernelTime::*figure : {&KernelTime::ns, &KernelTime::low_ns, &KernelTime::high_ns,
                                       &KernelTime::lower_bound_ns}) {
      EXPECT_NEAR(step.time.*figure / naive(stages, micro_batches, times, figure), 1, 1e-12);
    }
  }
}

TEST(StepSum, stages_that_are_alike_are_stated_once_with_their_number) {
  const Stages stages = {{{0, 1}, {1, 4}}, {{1, 4}}, {{1, 4}},
                         {{1, 3}},         {{1, 4}}, {{1, 4}, {2, 1}}};
  const StepSum sum = sum_of(stages, 6);
  ASSERT_EQ(sum.stages.size(), 4u);
  EXPECT_EQ(sum.stages[1].stages, 3);
  const std::vector<std::int32_t> first = {0, 1, 3, 5};
  double of_kernel = 0;
  for (std::size_t s = 0; s < sum.stages.size(); ++s) {
    EXPECT_EQ(sum.stages[s].first_stage, first[s]);
    EXPECT_EQ(sum.terms_of(s).size(), stages[as_size(first[s])].size());
  }
  for (const StepSum::Term& term : executions(sum)) {
    if (term.kernel == 1) of_kernel += term.count;
  }
  EXPECT_EQ(of_kernel, 4 + 4 + 4 + 3 + 4 + 4) << "of all six stages";
}

TEST(StepSum, the_slowest_stage_is_the_first_of_those_that_take_longest) {
  const Stages stages = {{{0, 1}}, {{0, 3}}, {{1, 3}}, {{0, 3}}};
  const std::vector<KernelTime> times(2, {1, 1, 1, 1, true});
  EXPECT_EQ(price(sum_of(stages, 1), times)->slowest_stage, 1);
}

// 5 + 3 + 2 of one sequence, and of two; with a stage of 9 two sequences wait for each other.
TEST(StepSum, fewer_micro_batches_than_stages_take_the_way_through_all) {
  const Stages stages = {{{0, 1}}, {{1, 1}}, {{2, 1}}};
  const auto step = [&](double micro_batches, double first) {
    const std::vector<KernelTime> times = {
        {first, first, first, first, true}, {3, 3, 3, 3, true}, {2, 2, 2, 2, true}};
    return evaluate(sum_of(stages, micro_batches), times);
  };
  EXPECT_EQ(step(1, 5).time.ns, 10);
  EXPECT_EQ(step(2, 5).time.ns, 10);
  EXPECT_EQ(step(3, 5).time.ns, 15);
  EXPECT_TRUE(step(1, 5).is_way);
  EXPECT_FALSE(step(3, 5).is_way);
  EXPECT_EQ(step(2, 9).time.ns, 18);
  EXPECT_FALSE(step(2, 9).is_way);
}

TEST(StepSum, order_and_counts_tell_stages_apart) {
  EXPECT_EQ(sum_of({{{0, 1}, {1, 1}}, {{0, 1}, {1, 2}}, {{0, 1}}}, 1).stages.size(), 3u);
}

TEST(StepSum, rates_follow_from_the_time) {
  StepSum sum = sum_of({{{0, 2}}}, 3);
  sum.tokens = 12;
  sum.ideal_ns = 15;
  const std::vector<KernelTime> times = {{5, 4, 7, 1, true}};
  const auto priced = price(sum, times);
  ASSERT_TRUE(priced.has_value());
  EXPECT_EQ(priced->step_ns, 30);
  EXPECT_EQ(priced->low_ns, 24);
  EXPECT_EQ(priced->high_ns, 42);
  EXPECT_EQ(priced->lower_bound_ns, 6);
  EXPECT_DOUBLE_EQ(priced->tokens_per_s, 12 / 30e-9);
  EXPECT_DOUBLE_EQ(priced->mfu.value(), 0.5);
}

TEST(StepSum, a_needed_kernel_without_a_time_leaves_no_price_and_an_unneeded_one_does) {
  const StepSum sum = sum_of({{{0, 1}}, {{1, 1}}}, 1);
  std::vector<KernelTime> times(3, {1, 1, 1, 1, true});
  times[2] = {};
  EXPECT_TRUE(price(sum, times).has_value());
  times[1] = {};
  EXPECT_FALSE(price(sum, times).has_value()) << "also in a stage that is not the slowest";
  EXPECT_FALSE(price(sum, std::vector<KernelTime>(2, no_executions)).has_value()) << "no time";
}

// What makes the formula of a proof: a visitor that writes down instead of adding.
struct Written {
  std::string text, stage;
  void begin_stage() { stage.clear(); }
  void add(const StepSum::Term& term) {
    stage += (stage.empty() ? "" : "+") + std::to_string(static_cast<int>(term.count)) + "t" +
             std::to_string(term.kernel);
  }
  void end_stage() { text += (text.empty() ? "" : ",") + stage; }
  std::string step(double micro_batches) const {
    return std::to_string(static_cast<int>(micro_batches)) + "max(" + text + ")";
  }
};

TEST(StepSum, a_visitor_sees_its_whole_form) {
  EXPECT_EQ(fold(sum_of({{{0, 1}, {2, 4}}, {{2, 5}}, {{2, 5}}}, 3), Written()),
            "3max(1t0+4t2,5t2)");
}

}  // namespace
}  // namespace halmark
