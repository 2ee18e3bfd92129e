// Both sides of what decides between two devices, and what the looks of a comparison leave out.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "history/devices/crossovers.hpp"
#include "history/devices/device_comparison.hpp"
#include "history/devices/shape_class.hpp"
#include "history/view/device_comparison_view.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::history {
namespace {

using halmark::test::expect_error;
using halmark::test::has_all;
using halmark::test::has_none;
using halmark::test::HasValues;
using testing::HasSubstr;
using testing::Not;

Problem gemm(std::int64_t m, std::int64_t n = 64) {
  return {"gemm", {{"m", m}, {"n", n}, {"k", 64}}};
}

DeviceKernel kernel(double ns, Interval interval, Problem problem = gemm(1)) {
  return {.problem = std::move(problem), .dtype = "bf16", .ns = ns, .interval_ns = interval};
}

DeviceKernel exact(std::int64_t m, double ns) { return kernel(ns, {ns, ns}, gemm(m)); }

DeviceSide side(const std::string& name, std::vector<DeviceKernel> kernels) {
  return {.name = name, .kernels = std::move(kernels)};
}

// A floor of 100 %: twice or half the time is ahead, less is a tie.
TEST(DeviceLimits, a_floor_and_an_interval_decide_a_tie) {
  const auto judge = [](DeviceKernel first, DeviceKernel second) {
    return judge_pair(first, TimeBasis::measured, second, TimeBasis::measured, {.floor = 1});
  };
  EXPECT_EQ(judge(exact(1, 100), exact(1, 200)), Ahead::first);
  EXPECT_EQ(judge(exact(1, 100), exact(1, 199)), Ahead::tie);
  EXPECT_EQ(judge(exact(1, 200), exact(1, 100)), Ahead::second);
  EXPECT_EQ(judge(exact(1, 199), exact(1, 100)), Ahead::tie);
  EXPECT_EQ(judge(kernel(100, {90, 150}), kernel(300, {150, 400})), Ahead::tie) << "they touch";
  EXPECT_EQ(judge(kernel(100, {90, 149}), kernel(300, {150, 400})), Ahead::first);
  EXPECT_EQ(judge(kernel(300, {150, 400}), kernel(100, {90, 150})), Ahead::tie);
  EXPECT_EQ(judge(kernel(300, {151, 400}), kernel(100, {90, 150})), Ahead::second);
}

TEST(DeviceLimits, a_bound_on_either_side_can_only_lose) {
  using enum TimeBasis;
  const auto judge = [](double first, TimeBasis of_first, double second, TimeBasis of_second) {
    return judge_pair(exact(1, first), of_first, exact(1, second), of_second, {});
  };
  EXPECT_EQ(judge(200, bound, 100, imported), Ahead::second);
  EXPECT_EQ(judge(100, bound, 200, imported), Ahead::open);
  EXPECT_EQ(judge(100, bound, 100, imported), Ahead::open);
  EXPECT_EQ(judge(100, measured, 50, bound), Ahead::open);
  EXPECT_EQ(judge(100, measured, 200, bound), Ahead::first);
  EXPECT_EQ(judge(50, bound, 100, bound), Ahead::first) << "two bounds compare as what they are";
}

// What has no matmul is counted by its bytes: 3e6 B in 2e-7 s at 3.6 USD an hour and 500 W.
TEST(DeviceLimits, work_without_a_matmul_is_counted_in_bytes) {
  DeviceSide a = side("a", {exact(1, 100), exact(1, 100)});
  a.kernels[1].problem = gemm(1, 65);
  a.kernels[0].bytes = 1e6;
  a.kernels[1].bytes = 2e6;
  a.usd_per_hour = 3.6;
  a.power_w = 500;
  const ClassRow row = compare_devices({a, a}, {}).pairs[0].classes.at(0);
  EXPECT_FALSE(row.is_matmul);
  EXPECT_NEAR(*row.shares[0].usd, 2e-7 * 0.001 / 3e-6, 1e-12);
  EXPECT_NEAR(*row.shares[1].joule, 2e-7 * 500 / 3e-6, 1e-9);
  EXPECT_EQ(row.shares[0].limiter, Limiter::unknown);
  EXPECT_FALSE(row.shares[0].of_bound);
  EXPECT_FALSE(row.shares[0].mfu);
  for (DeviceKernel& one : a.kernels) one.bytes = 0;
  EXPECT_FALSE(compare_devices({a, a}, {}).pairs[0].classes[0].shares[0].usd);
}

// A kernel without a bound or a peak takes no part in the share of those that have one.
TEST(DeviceLimits, shares_are_of_the_kernels_that_have_a_bound) {
  DeviceSide a = side("a", {exact(2, 100), exact(3, 700)});
  a.kernels[0].least = {.compute_ns = 20, .link_ns = 50};
  a.kernels[0].peak_ns = 20;
  const SideShare share = compare_devices({a, a}, {}).pairs[0].classes.at(0).shares[0];
  EXPECT_NEAR(*share.of_bound, 0.5, 1e-12);
  EXPECT_NEAR(*share.mfu, 0.2, 1e-12);
}

TEST(DeviceLimits, two_to_six_sides_are_compared_and_one_common_kernel_is_enough) {
  const DeviceSide one = side("a", {exact(1, 100)});
  EXPECT_EQ(compare_devices(std::vector<DeviceSide>(6, one), {}).pairs.size(), 15u);
  expect_error([&] { (void)compare_devices(std::vector<DeviceSide>(7, one), {}); }, "7 sides");
  EXPECT_EQ(compare_devices({one, side("b", {exact(2, 1)}), one}, {}).pairs[0].kernels, 0u);
  expect_error([&] { (void)compare_devices({one, side("b", {})}, {}); }, "b: none at all");
}

TEST(DeviceLimits, kernels_are_counted_over_all_classes) {
  const DevicePair pair =
      compare_devices({side("a", {exact(1, 100), exact(2, 100), exact(3, 100), exact(300, 100)}),
                       side("b", {exact(1, 200), exact(2, 200), exact(3, 50), exact(300, 100)})},
                      {})
          .pairs[0];
  EXPECT_EQ(pair.classes.size(), 3u);
  EXPECT_EQ(pair.count(Ahead::first), 2u);
  EXPECT_EQ(pair.count(Ahead::second), 1u);
  EXPECT_EQ(pair.count(Ahead::tie), 1u);
  EXPECT_EQ(pair.count(Ahead::open), 0u);
}

TEST(Crossovers, are_found_in_both_directions_on_each_line) {
  CrossoverFinder finder;
  const std::vector<Ahead> ahead = {Ahead::open,   Ahead::first,  Ahead::first, Ahead::tie,
                                    Ahead::second, Ahead::second, Ahead::first};
  for (std::size_t i = 0; i < ahead.size(); ++i) {
    finder.add(gemm(static_cast<std::int64_t>(i) + 1), ahead[i]);
    finder.add(gemm(static_cast<std::int64_t>(i) + 1, 65), Ahead::first);
  }
  finder.add(gemm(1, 66), Ahead::first);  // a line of one size
  finder.add({"other", {{"x", 1}}}, Ahead::first);
  EXPECT_EQ(finder.series(), 2u);
  const std::vector<Crossover> found = finder.found();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].series, "gemm k=64 n=64");
  EXPECT_EQ(found[0].below, 3);
  EXPECT_EQ(found[0].above, 5);
  EXPECT_TRUE(found[0].first_below);
  EXPECT_EQ(found[1].below, 6);
  EXPECT_EQ(found[1].above, 7);
  EXPECT_FALSE(found[1].first_below);
}

TEST(ShapeSeries, have_the_fixed_sizes_in_their_name) {
  const auto of = [](const Params& params) { return shape_series_of({"op", params}); };
  EXPECT_EQ(of({{"tokens", 8}, {"rows", 4}, {"n", 64}}).name, "op n=64") << "rows follow tokens";
  EXPECT_EQ(of({{"tokens", 8}, {"rows", 4}, {"n", 64}}).free_size, "tokens");
  EXPECT_EQ(of({{"m", 8}, {"rows", 4}}).name, "op rows=4");
  EXPECT_EQ(of({{"new_tokens", 1}, {"context", 9}}).name, "op new_tokens=1");
  EXPECT_EQ(of({{"new_tokens", 1}, {"context", 9}}).size, 9);
  EXPECT_EQ(of({{"new_tokens", 1}, {"batch", 3}}).size, 3);
  EXPECT_EQ(of({{"new_tokens", 5}, {"context", 9}}).name, "op context=9");
  EXPECT_EQ(of({{"new_tokens", 5}, {"context", 5}, {"batch", 1}}).name, "op batch=1");
  EXPECT_EQ(of({{"x", 5}}).free_size, "");
  EXPECT_EQ(of({{"x", 5}}).name, "op x=5");
}

// 100 +- 10 ns at a bound of 80 by the link: half the link takes 200, from 90 + 80 on, to 220.
TEST(WhatIf, the_link_is_a_ceiling_too) {
  DeviceSide before = side("a", {kernel(100, {90, 110})});
  before.kernels[0].least = {.memory_ns = 10, .link_ns = 80};
  const DeviceKernel after = with_ceilings(before, {parse_what_if("link=-50%", 1)}).kernels[0];
  EXPECT_NEAR(after.ns, 200, 1e-9);
  EXPECT_NEAR(after.interval_ns.low, 170, 1e-9);
  EXPECT_NEAR(after.interval_ns.high, 220, 1e-9);
  EXPECT_NEAR(after.least.link_ns, 160, 1e-9);
  before.kernels.insert(before.kernels.begin(), 2, exact(2, 1));  // without a bound
  const DeviceSide whole = with_ceilings(before, {parse_what_if("link=x2", 1)});
  EXPECT_EQ(whole.kernels.size(), 1u);
  EXPECT_EQ(whole.left_out.begin()->second, 2u);
}

// One class of two kernels, with a change of who is ahead.
DeviceComparison compared() {
  DeviceComparison c = compare_devices(
      {side("a", {exact(2, 100), exact(4, 100)}), side("b", {exact(2, 50), exact(4, 200)})}, {});
  c.sides[0].left_out = {{"they were measured on a machine that nobody knows any more", 3}};
  return c;
}

TEST(DeviceLooks, have_figures_on_the_right) {
  const DeviceComparison c = compared();
  const auto numbers = [](const report::Table& table) {
    std::string out;
    for (const report::TableColumn& column : table.columns) out += column.is_number ? '9' : 'x';
    return out;
  };
  DeviceComparison full = c;
  for (SideShare& share : full.pairs[0].classes[0].shares) {
    share = {.of_bound = 0.5, .mfu = 0.5, .usd = 1, .joule = 1};
  }
  full.pairs[0].classes[0].ratio_interval = {0.4, 0.6};
  full.pairs[0].classes[0].ties = full.pairs[0].classes[0].open = 1;
  EXPECT_EQ(numbers(class_table(full, full.pairs[0])), "xxx9x9999999");
  EXPECT_EQ(numbers(cost_table(full, full.pairs[0])), "xxxx999999");
  EXPECT_EQ(numbers(crossover_table(full, full.pairs[0])), "x9x9xx");
  EXPECT_EQ(cost_table(full, full.pairs[0]).rows.size(), 1u);
}

TEST(DeviceLooks, have_sections_of_what_there_is) {
  DeviceComparison c = compared();
  std::string page = device_comparison_html(c);
  EXPECT_THAT(page, has_all({"sizes between which the faster one changes", "classes of shapes",
                             "<p>1 a: measured, 2 kernels</p>", "TIE: the interval holds 1"}));
  EXPECT_THAT(page, has_none({"work and what it costs", "what if (model"}));
  EXPECT_THAT(device_comparison_markdown(c), has_all({"| ahead up to | size |", "\n- time 2/1: "}));
  EXPECT_THAT(device_comparison_markdown(c), Not(HasSubstr("Work and what it costs")));
  c.pairs[0].classes[0].shares[0].usd = 1;
  c.what_ifs = {{.text = "peak=x2"}};
  c.modelled = c.pairs;
  page = device_comparison_html(c);
  EXPECT_THAT(
      page, has_all({"work and what it costs", "<h2>what if (model, not measured): peak=x2 of a"}));
  c.pairs[0].crossovers.clear();
  c.modelled.clear();
  EXPECT_THAT(device_comparison_html(c), Not(HasSubstr("the faster one changes")));
  c.pairs[0].classes.clear();
  EXPECT_THAT(device_comparison_html(c), Not(HasSubstr("<figure")));
  EXPECT_THAT(device_comparison_markdown(c), Not(HasSubstr("| op |")));
}

TEST(DeviceLooks, the_text_is_wrapped_and_has_the_parts_that_there_are) {
  DeviceComparison c = compared();
  const std::string text = device_comparison_view(c, 60).text;
  EXPECT_THAT(text, has_all({"\n  left out: 3 rows, they were measured on a machine that\n"
                             "    nobody knows any more\n",
                             "\nahead up to  size  then  from  of  series"}));
  EXPECT_THAT(text, has_none({"more: --json", "work and what it costs", "what if"}));
  c.pairs[0].crossovers.clear();
  EXPECT_THAT(device_comparison_view(c, 60).text, Not(HasSubstr("ahead up to")));
  c.pairs[0].kernels = 0;
  EXPECT_THAT(device_comparison_view(c, 60).text, Not(HasSubstr("interval  ")));
}

TEST(DeviceLooks, the_document_has_sides_pairs_and_changes) {
  DeviceComparison c = compared();
  c.sides[1].device = "h100";
  c.sides[1].usd_per_hour = 2;
  c.what_ifs = {{.side = 1, .factor = 2, .text = "peak=x2"}};
  c.modelled = c.pairs;
  const Json data = device_comparison_view(c, 60).data;
  EXPECT_THAT(data, HasValues(R"({"/sides/0/device": null, "/sides/1/device": "h100",
      "/sides/1/usd_per_hour": 2, "/what_if/is_model": true, "/what_if/changes/0/factor": 2,
      "/pairs/0/classes/0/unit": "1e12 bytes", "/sides/1/power_w": null})"));
  const Json& crossover = data["pairs"][0]["crossovers"][0];
  EXPECT_THAT(crossover, HasValues(R"({"/ahead_below": "second", "/below": 2})"));
}

}  // namespace
}  // namespace halmark::history
