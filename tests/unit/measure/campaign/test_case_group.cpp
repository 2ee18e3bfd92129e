#include "measure/campaign/case_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "measure/campaign/predict_cost.hpp"

namespace halmark {
namespace {

KernelCase copy_case(std::int64_t bytes, int parts = 1, int at_once = 1) {
  KernelCase c;
  c.problem = {"copy", {{"bytes", bytes}}};
  c.backend = "cpu";
  c.parts = parts;
  c.shards_at_once = at_once;
  return c;
}

std::vector<KernelCase> many() {
  std::vector<KernelCase> cases;
  for (int i = 1; i <= 20; ++i) cases.push_back(copy_case(i * 64));
  for (int i = 1; i <= 20; ++i) cases.push_back(copy_case(i * 64, 2, 2));
  return cases;
}

std::vector<std::size_t> flat(const std::vector<GroupedCases>& order) {
  std::vector<std::size_t> all;
  for (const auto& group : order) all.insert(all.end(), group.cases.begin(), group.cases.end());
  return all;
}

TEST(RoundOrder, visits_every_case_once_and_keeps_groups_together) {
  const auto cases = many();
  const auto order = round_order(cases, 1);
  ASSERT_EQ(order.size(), 2U);
  const auto all = flat(order);
  EXPECT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), cases.size());
  for (const auto& group : order) {
    for (const std::size_t i : group.cases) EXPECT_EQ(case_group(cases[i]), group.group);
  }
}

TEST(RoundOrder, depends_on_the_seed_alone) {
  const auto cases = many();
  EXPECT_EQ(flat(round_order(cases, 7)), flat(round_order(cases, 7)));
  EXPECT_NE(flat(round_order(cases, 7)), flat(round_order(cases, 8)));
  auto in_order = flat(round_order(cases, 7));
  EXPECT_FALSE(std::is_sorted(in_order.begin(), in_order.end()));
}

KernelCase standing(std::int64_t bytes, const char* neighbours) {
  KernelCase out = copy_case(bytes);
  out.mode = CacheMode::in_stack;
  out.neighbours = neighbours;
  return out;
}

TEST(RoundOrder, cases_of_one_stack_are_measured_together_and_others_in_loops) {
  const std::vector<KernelCase> cases{copy_case(64), standing(64, "a"), standing(64, "b"),
                                      standing(128, "c"), standing(64, "of no stack")};
  const std::vector<Stack> first(1), second(1);
  const StacksOf stacks_of = [&](const KernelCase& k) -> std::span<const Stack> {
    if (k.neighbours == "a" || k.neighbours == "c") return first;
    if (k.neighbours == "b") return second;
    return {};
  };
  std::map<const Stack*, std::set<std::size_t>> seen;
  for (const GroupedCases& grouped : round_order(cases, 3, stacks_of)) {
    EXPECT_TRUE(seen[grouped.stacks.data()].empty());
    seen[grouped.stacks.data()].insert(grouped.cases.begin(), grouped.cases.end());
  }
  EXPECT_EQ(seen[first.data()], (std::set<std::size_t>{1, 3}));
  EXPECT_EQ(seen[second.data()], (std::set<std::size_t>{2}));
  EXPECT_EQ(seen[nullptr], (std::set<std::size_t>{0, 4}));
}

// One stack of two kernels, the second three times as often: together one seconds figure.
TEST(PredictCost, kernels_that_stand_in_one_stack_share_its_seconds) {
  const std::vector<KernelCase> cases{standing(1 << 16, "a"), standing(1 << 20, "b")};
  std::vector<Stack> stacks(1);
  stacks[0].kernels = cases;
  stacks[0].instances = {1, 1};
  stacks[0].steps = {{0, 0, "a", "l"}, {1, 0, "b", "l"}, {1, 0, "b", "l"}, {1, 0, "b", "l"}};
  const protocol::SampleRule rule{.min_samples = 200};
  const StacksOf stacks_of = [&](const KernelCase&) { return std::span<const Stack>(stacks); };
  const auto cost = [&](std::span<const KernelCase> of) {
    return predict_cost(of, 1, rule, nullptr, 2, stacks_of);
  };
  const CampaignCost both = cost(cases), one = cost(std::span(cases).first(1));
  EXPECT_EQ(both.case_seconds[0], both.case_seconds[1]);
  EXPECT_NEAR(both.case_seconds[0] + both.case_seconds[1], one.case_seconds[0], 1e-12);
  EXPECT_NEAR(both.seconds, one.seconds, 1e-12);
  // 202 repetitions of 2 x (1 + 3 x 16) x 64 KiB at a quarter of 8e9 bytes/s.
  EXPECT_GT(one.case_seconds[0], 202 * 2 * 49 * 65536 / 2e9);
  stacks[0].steps.pop_back();
  EXPECT_LT(cost(cases).seconds, both.seconds);
}

TEST(CaseGroup, a_collective_runs_on_its_ranks) {
  KernelCase c;
  c.problem = {"all_reduce", {{"bytes", 1024}, {"ranks", 2}, {"dtype", 2}}};
  c.backend = "cpu";
  c.parts = 2;
  const CaseGroup group = case_group(c);
  EXPECT_TRUE(group.is_collective);
  EXPECT_EQ(group.workers(), 2);
  EXPECT_EQ(group.place(1).text(), "cpu:0/2.1");
}

TEST(PredictCost, grows_with_rounds_cases_and_size) {
  const std::vector<KernelCase> one{copy_case(1 << 20)};
  const std::vector<KernelCase> two{copy_case(1 << 20), copy_case(2 << 20)};
  const protocol::SampleRule rule;
  const double once = predict_cost(one, 1, rule, nullptr, 2).seconds;
  EXPECT_GT(once, 0);
  const CampaignCost thrice = predict_cost(one, 3, rule, nullptr, 2);
  EXPECT_EQ(thrice.case_seconds, predict_cost(one, 1, rule, nullptr, 2).case_seconds);
  EXPECT_GT(thrice.seconds, 2 * once);  // memory is made once, workers and trials every round
  EXPECT_LT(thrice.seconds, 3 * once);
  EXPECT_GT(predict_cost(two, 1, rule, nullptr, 2).seconds, once);
  const std::vector<KernelCase> slow{copy_case(std::int64_t{1} << 32)};
  const CampaignCost cost = predict_cost(slow, 1, rule, nullptr, 2);
  EXPECT_GT(cost.case_seconds.at(0), 3 * 1.0);  // 3 samples of 8 GiB at 8e9 bytes/s or slower
}

}  // namespace
}  // namespace halmark
