#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <vector>

#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "measure/sampling/stop_rule.hpp"

namespace halmark {
namespace {

using protocol::StopReason;

// Deterministic noise: `i`-th of a series, uniform in +-1.
double noise(int i) { return 2 * uniform_01(hash_u64(42, static_cast<std::uint64_t>(i))) - 1; }

template <class Value>
int samples_until(StopRule& rule, int limit, Value value) {
  rule.start();
  for (int i = 0; i < limit; ++i) {
    rule.add(value(i));
    if (rule.finished()) return i + 1;
  }
  return -1;
}

TEST(StopRules, ci_width_waits_longer_for_more_noise) {
  const auto rule = make_ci_width(0.01);
  const int quiet = samples_until(*rule, 5000, [](int i) { return 1000 + 5 * noise(i); });
  const int loud = samples_until(*rule, 5000, [](int i) { return 1000 + 60 * noise(i); });
  ASSERT_GT(quiet, 0);
  ASSERT_GT(loud, 0);
  EXPECT_GT(loud, 3 * quiet);
}

TEST(StopRules, noise_settled_ignores_how_large_the_noise_is) {
  const auto rule = make_noise_settled();
  const int quiet = samples_until(*rule, 5000, [](int i) { return 1000 + 1 * noise(i); });
  const int loud = samples_until(*rule, 5000, [](int i) { return 1000 + 300 * noise(i); });
  ASSERT_GE(quiet, 64 + 3 * 16);
  ASSERT_GE(loud, 64 + 3 * 16);
  EXPECT_LT(loud, 2000);
}

// 3 us each, two of three set aside: a budget of 10 us of clean time, or twice that of any.
TEST(StopRules, budget_pays_for_disturbed_samples_once_more) {
  const auto rule = make_budget(10'000);
  const auto last = [&](int clean_every) {
    rule->start();
    for (int i = 0; i < 100; ++i) {
      add_labelled(*rule, i % clean_every == 0 ? SampleLabel::clean : SampleLabel::disturbed,
                   3'000);
      if (rule->finished()) return i + 1;
    }
    return -1;
  };
  EXPECT_EQ(last(1), 4);
  EXPECT_EQ(last(2), 7) << "4 clean ones first come to 10 us";
  EXPECT_EQ(last(3), 7) << "20 us are spent first";
  EXPECT_EQ(last(50), 7);
}

TEST(StopRules, count_takes_disturbed_samples_as_well) {
  const auto rule = make_count(4);
  rule->start();
  for (int i = 0; i < 3; ++i) add_labelled(*rule, SampleLabel::disturbed, 1);
  EXPECT_FALSE(rule->finished());
  add_labelled(*rule, SampleLabel::unlabelled, 1);
  EXPECT_TRUE(rule->finished());
}

TEST(StopRules, automatic_wants_its_minimum_of_clean_samples_while_the_budget_lasts) {
  const auto last = [](double interval_ns, int clean_every) {
    const auto rule = make_stop_rule({.min_samples = 10, .budget_s = 0.02});
    rule->start();
    for (int i = 0; i < 4000; ++i) {
      // Disturbed ones are long: a rule that looked at them would see a wide interval.
      const bool is_clean = i % clean_every == 0;
      add_labelled(*rule, is_clean ? SampleLabel::clean : SampleLabel::disturbed,
                   is_clean ? interval_ns : 1.5 * interval_ns);
      if (rule->finished()) return std::pair(i + 1, rule->reason());
    }
    return std::pair(-1, StopReason::none);
  };
  EXPECT_EQ(last(60e3, 2), std::pair(19, StopReason::ci_width)) << "the tenth clean one";
  EXPECT_EQ(last(60e3, 5000).second, StopReason::budget);
  EXPECT_EQ(last(60e3, 5000).first, 445) << "60 us and then 90 us each, 40 ms in all";
  // Ten samples there must be, whatever they cost.
  EXPECT_EQ(last(20e6, 5000), std::pair(10, StopReason::budget));
}

TEST(StopRules, start_forgets_what_was_added) {
  std::vector<std::unique_ptr<StopRule>> rules;
  rules.push_back(make_stop_rule({}));
  rules.push_back(make_stop_rule({.stop = protocol::Stop::count, .count = 5}));
  rules.push_back(make_ci_width(0.01));
  rules.push_back(make_noise_settled());
  rules.push_back(make_budget(20e6));
  for (const auto& rule : rules) {
    rule->start();
    for (int i = 0; i < 2000; ++i) rule->add(100'000);
    ASSERT_TRUE(rule->finished()) << name_of(rule->reason());
    rule->start();
    EXPECT_FALSE(rule->finished()) << name_of(rule->reason());
  }
}

// Six samples: the interval is their range, its half against 1 % of the median of 1000.
TEST(StopRules, ci_width_is_met_by_its_half_width_and_by_nothing_wider) {
  for (const auto& [half, expected] : {std::pair{9.5, 6}, std::pair{10.5, -1}}) {
    const auto rule = make_ci_width(0.01);
    const auto value = [half = half](int i) { return 1000 + (i == 0 ? -half : i == 1 ? half : 0); };
    EXPECT_EQ(samples_until(*rule, 6, value), expected) << half;
  }
}

TEST(StopRules, budget_is_met_exactly) {
  const auto rule = make_budget(10'000);
  rule->start();
  rule->add(9'500);
  EXPECT_FALSE(rule->finished());
  rule->add(500);
  EXPECT_TRUE(rule->finished());
}

// Samples of one value, or of two in turns, or with the odd one at a place.
TEST(StopRules, take_as_many_samples_as_their_series_needs) {
  const auto all = [](double ns) { return [=](int) { return ns; }; };
  const auto turns = [](double even, double odd) {
    return [=](int i) { return i % 2 ? odd : even; };
  };
  const auto one_of_40_ms = [](int at) { return [=](int i) { return i == at ? 40e6 : 80e6; }; };
  struct Row {
    std::unique_ptr<StopRule> rule;
    std::function<double(int)> value;
    int samples;
    StopReason reason = StopReason::none;  // where it is none, nothing is said of it
  };
  const auto width = [] { return make_ci_width(0.01); };
  const auto automatic = [] { return make_stop_rule({}); };
  std::vector<Row> rows;
  rows.push_back({width(), all(1000), 6});
  rows.push_back({width(), turns(1500, 1000), -1});
  rows.push_back({make_count(17), all(1), 17});
  rows.push_back({make_budget(10'000), all(3'000), 4});
  rows.push_back({make_stop_rule({.stop = protocol::Stop::count, .count = 7, .min_samples = 10}),
                  all(80e6), 7, StopReason::count});
  rows.push_back({automatic(), all(60'000), 10, StopReason::ci_width});
  rows.push_back({automatic(), turns(4e6, 2e6), 10, StopReason::budget});
  // Three calls above fifty milliseconds; ten of the shortest that was seen before.
  for (const auto& [ns, samples] : {std::pair{80e6, 3}, {52.5e6, 3}, {47.5e6, 10}}) {
    rows.push_back({automatic(), all(ns), samples});
  }
  for (const auto& [at, samples] : {std::pair{1, 10}, {0, 10}, {5, 3}}) {
    rows.push_back({automatic(), one_of_40_ms(at), samples});
  }
  rows.push_back({make_noise_settled(), all(1000), 64 + 3 * 16});
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(samples_until(*rows[i].rule, 400, rows[i].value), rows[i].samples) << i;
    if (rows[i].reason != StopReason::none) {
      EXPECT_EQ(rows[i].rule->reason(), rows[i].reason) << i;
    }
  }
  const auto growing = [](int i) { return 1000 * (1 + 0.001 * i * noise(i)); };
  EXPECT_EQ(samples_until(*make_noise_settled(), 112, growing), -1);
}

TEST(StopRules, fifty_milliseconds_are_no_slow_call_yet) {
  EXPECT_EQ(min_samples_for({.min_samples = 10}, 50e6), 10);
  EXPECT_EQ(min_samples_for({.min_samples = 10}, 50e6 + 1), 3);
  EXPECT_EQ(min_samples_for({.min_samples = 2}, 80e6), 2) << "a smaller wish is kept";
  EXPECT_EQ(min_samples_for({.min_samples = 2}, 40e6), 2);
}

// The rule as it is documented, counted anew: the noise of each look, and where its relative
// standard deviation over 512 looks first falls below 5 %.
template <class Value>
int settled_at(int limit, Value value) {
  std::vector<double> values, looks;
  for (int i = 0; i < limit; ++i) {
    values.push_back(value(i));
    if (values.size() < 64 || values.size() % 16 != 0) continue;
    looks.push_back(relative_iqr(values));
    if (looks.size() > 512) looks.erase(looks.begin());
    if (looks.size() < 4) continue;
    const auto n = static_cast<double>(looks.size());
    double mean = 0, squares = 0;
    for (const double look : looks) mean += look / n;
    for (const double look : looks) squares += (look - mean) * (look - mean);
    if (std::sqrt(squares / (n - 1)) < 0.05 * mean) return i + 1;
  }
  return -1;
}

TEST(StopRules, noise_settled_ends_where_the_looks_spread_by_less_than_five_percent) {
  for (int series = 0; series < 20; ++series) {
    const auto value = [series](int i) {
      return 1000 + 100 * noise(1'000 * series + i) / (1 + i / (20.0 + series));
    };
    EXPECT_EQ(samples_until(*make_noise_settled(), 3000, value), settled_at(3000, value)) << series;
  }
}

// Loud first samples leave the looks that saw them loud: the rule ends when those have left its
// window of 512 looks, no earlier and no later.
TEST(StopRules, noise_settled_remembers_five_hundred_and_twelve_looks) {
  const auto value = [](int i) { return 1000 + (i < 400 ? 2.0 * i : 50) * noise(i); };
  const int expected = settled_at(20'000, value);
  ASSERT_GT(expected, 64 + 512 * 16) << "the window has to be full";
  EXPECT_EQ(samples_until(*make_noise_settled(), 20'000, value), expected);
}

TEST(StopRules, of_nothing_have_not_finished) {
  const auto width = make_ci_width(0.01);
  width->start();
  EXPECT_FALSE(width->finished());
  EXPECT_EQ(samples_until(*width, 50, [](int) { return 0.0; }), -1) << "no width of nothing";
  EXPECT_EQ(samples_until(*width, 50, [](int) { return 0.5; }), 6) << "half a ns has one";
  const auto settled = make_noise_settled();
  EXPECT_EQ(samples_until(*settled, 200, [](int) { return 0.0; }), 64 + 3 * 16);
  EXPECT_EQ(make_stop_rule({})->reason(), StopReason::none);
}

}  // namespace
}  // namespace halmark
