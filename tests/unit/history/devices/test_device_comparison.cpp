// Devices side by side, on kernels whose times are stated here.
#include <gmock/gmock.h>
#include <unistd.h>

#include "core/json/json.hpp"
#include "history/devices/device_comparison.hpp"
#include "history/devices/shape_class.hpp"
#include "history/view/device_comparison_view.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::history {
namespace {

using halmark::test::expect_error;
using test::error_of;
using testing::HasSubstr;
using testing::Not;

Problem gemm(std::int64_t m) {
  return {"gemm", {{"m", m}, {"n", 4096}, {"k", 4096}, {"src_dtype", 5}}};
}

// A gemm of 1e9 FLOPs that takes `ns`, +- `spread`, with least times by resource.
DeviceKernel kernel(std::int64_t m, double ns, double spread = 0, LeastTimes least = {}) {
  return {.problem = gemm(m),
          .dtype = "bf16",
          .ns = ns,
          .interval_ns = {ns * (1 - spread), ns * (1 + spread)},
          .has_interval = spread > 0,
          .matmul_flops = 1e9,
          .bytes = 1e6,
          .least = least,
          .peak_ns = least.compute_ns};
}

DeviceSide side(const std::string& name, std::vector<DeviceKernel> kernels,
                TimeBasis basis = TimeBasis::measured) {
  return {.name = name, .basis = basis, .kernels = std::move(kernels)};
}

DevicePair pair_of(DeviceSide a, DeviceSide b) {
  return compare_devices({std::move(a), std::move(b)}, {}).pairs.front();
}

TEST(DeviceComparison, classes_of_gemms_follow_m) {
  for (const auto& [m, name] : std::map<std::int64_t, std::string>{{1, "m 1"},
                                                                   {2, "m 2-16"},
                                                                   {16, "m 2-16"},
                                                                   {17, "m 17-256"},
                                                                   {256, "m 17-256"},
                                                                   {257, "m > 256"}}) {
    EXPECT_EQ(shape_class_of(gemm(m)).name, name);
  }
  EXPECT_EQ(shape_class_of({"attention", {{"new_tokens", 1}, {"context", 1025}}}).name,
            "decode, context <= 8192");
  EXPECT_EQ(shape_class_of({"attention", {{"new_tokens", 512}, {"context", 512}}}).name,
            "prefill, new_tokens <= 1024");
  EXPECT_EQ(shape_class_of({"all_reduce", {{"bytes", 65537}, {"ranks", 2}}}).name,
            "bytes <= 1 MiB");
}

// A prompt without a cache changes both of its sizes: it is one line all the same.
TEST(DeviceComparison, a_series_is_what_differs_in_its_free_size_alone) {
  const auto prompt = [](std::int64_t tokens) {
    return shape_series_of(
        {"attention", {{"batch", 1}, {"new_tokens", tokens}, {"context", tokens}}});
  };
  EXPECT_EQ(prompt(128).name, prompt(4096).name);
  EXPECT_EQ(prompt(4096).size, 4096);
  EXPECT_NE(shape_series_of(gemm(1)).name,
            shape_series_of({"gemm", {{"m", 1}, {"n", 2048}, {"k", 4096}, {"src_dtype", 5}}}).name);
}

TEST(DeviceComparison, a_class_has_the_geometric_mean_and_shares_by_time) {
  const LeastTimes memory{.compute_ns = 10, .memory_ns = 40};
  const LeastTimes compute{.compute_ns = 80, .memory_ns = 40};
  const DevicePair pair =
      pair_of(side("a", {kernel(2, 100, 0, memory), kernel(4, 100, 0, compute)}),
              side("b", {kernel(2, 200, 0.01), kernel(4, 50, 0.01)}));
  ASSERT_EQ(pair.classes.size(), 1u);
  const ClassRow& row = pair.classes.front();
  EXPECT_EQ(row.kernels, 2u);
  EXPECT_NEAR(row.ratio, 1, 1e-12) << "twice and half";
  EXPECT_NEAR(row.ratio_interval.low, 0.99, 1e-9);
  EXPECT_NEAR(row.ratio_interval.high, 1.01, 1e-9);
  EXPECT_EQ(row.ahead, Ahead::tie);
  EXPECT_EQ(row.first_ahead, 1u);
  EXPECT_EQ(row.second_ahead, 1u);
  EXPECT_NEAR(*row.shares[0].of_bound, (40.0 + 80.0) / 200, 1e-12);
  EXPECT_NEAR(*row.shares[0].mfu, (10.0 + 80.0) / 200, 1e-12);
  EXPECT_EQ(row.shares[0].limiter, Limiter::compute);
  EXPECT_FALSE(row.shares[1].of_bound) << "nobody knows the peaks of b";
}

// 2e9 FLOPs in 200 ns at 3.6 USD an hour and 500 W.
TEST(DeviceComparison, cost_and_energy_are_per_unit_of_work) {
  DeviceSide a = side("a", {kernel(2, 100), kernel(4, 100)});
  a.usd_per_hour = 3.6;
  a.power_w = 500;
  DeviceSide b = side("b", {kernel(2, 100), kernel(4, 100)});
  b.power_w = 500;
  b.kernels[0].power_w = 100;
  const DevicePair pair = pair_of(a, b);
  const auto& shares = pair.classes.front().shares;
  const double units = 2e9 / 1e15, seconds = 200e-9;
  EXPECT_NEAR(*shares[0].usd, seconds * 3.6 / 3600 / units, 1e-12);
  EXPECT_NEAR(*shares[0].joule, seconds * 500 / units, 1e-9);
  EXPECT_FALSE(shares[1].usd);
  EXPECT_NEAR(*shares[1].joule, (100e-9 * 100 + 100e-9 * 500) / units, 1e-9)
      << "what a row states goes before what the device may take";
}

TEST(DeviceComparison, crossovers_lie_between_the_sizes_that_were_won) {
  const DevicePair pair =
      pair_of(side("a", {kernel(1, 100), kernel(16, 100), kernel(64, 100), kernel(256, 100)}),
              side("b", {kernel(1, 150), kernel(16, 120), kernel(64, 101), kernel(256, 60)}));
  EXPECT_EQ(pair.series, 1u);
  ASSERT_EQ(pair.crossovers.size(), 1u);
  const Crossover& x = pair.crossovers.front();
  EXPECT_EQ(x.free_size, "m");
  EXPECT_EQ(x.below, 16);
  EXPECT_EQ(x.above, 256) << "64 is a tie";
  EXPECT_TRUE(x.first_below);
}

TEST(DeviceComparison, what_only_one_side_has_is_counted) {
  const DevicePair pair = pair_of(side("a", {kernel(1, 1), kernel(2, 1)}),
                                  side("b", {kernel(2, 1), kernel(3, 1), kernel(4, 1)}));
  EXPECT_EQ(pair.kernels, 1u);
  EXPECT_EQ(pair.only_first, 1u);
  EXPECT_EQ(pair.only_second, 2u);
}

TEST(DeviceComparison, every_two_of_three_sides_are_compared) {
  const DeviceComparison c = compare_devices(
      {side("a", {kernel(1, 100)}), side("b", {kernel(1, 200)}), side("c", {kernel(1, 50)})}, {});
  ASSERT_EQ(c.pairs.size(), 3u);
  EXPECT_EQ(c.pairs[0].classes.front().ahead, Ahead::first);
  EXPECT_EQ(c.pairs[1].classes.front().ahead, Ahead::second);
  EXPECT_EQ(c.pairs[2].classes.front().ahead, Ahead::second);
}

TEST(DeviceComparison, sides_with_nothing_in_common_are_refused_with_what_they_have) {
  EXPECT_THAT(error_of([] {
                (void)compare_devices({side("a", {kernel(1, 1)}), side("b", {kernel(2, 1)})}, {});
              }).line(),
              testing::AllOf(HasSubstr("no kernel in common"), HasSubstr("a: e.g. gemm"),
                             HasSubstr("m=2")));
  expect_error([] { (void)compare_devices({side("a", {kernel(1, 1)})}, {}); }, "2 to 6");
}

TEST(WhatIf, reads_changes_of_one_side) {
  const WhatIf more = parse_what_if("bandwidth=+20%", 2);
  EXPECT_EQ(more.side, 0u);
  EXPECT_NEAR(more.factor, 1.2, 1e-12);
  const WhatIf less = parse_what_if("2:link=-50%", 2);
  EXPECT_EQ(less.side, 1u);
  EXPECT_EQ(less.resource, Resource::link);
  EXPECT_NEAR(less.factor, 0.5, 1e-12);
  EXPECT_EQ(parse_what_if("peak=x2", 2).factor, 2);
  for (const char* bad : {"", "peak", "peak=2", "peak=x0", "3:peak=x2", "0:peak=x2", "peak=-100%",
                          "peak=+nan%", "cache=x2", "1.5:peak=x2"}) {
    EXPECT_EQ(error_of([bad] { (void)parse_what_if(bad, 2); }).exit_code(), ExitCode::refused)
        << bad;
  }
}

// 100 ns at a bound of 80 by memory and 50 by arithmetic: twice the bandwidth leaves 50 of bound.
TEST(WhatIf, a_kernel_follows_the_ceiling_that_binds_it) {
  const DeviceSide before =
      side("a", {kernel(1, 100, 0, {.compute_ns = 50, .memory_ns = 80}), kernel(2, 100)});
  const DeviceSide after = with_ceilings(before, {parse_what_if("bandwidth=x2", 1)});
  ASSERT_EQ(after.kernels.size(), 1u);
  EXPECT_TRUE(after.is_model);
  EXPECT_NEAR(after.kernels[0].ns, 100 * 50.0 / 80, 1e-9);
  EXPECT_NEAR(after.kernels[0].interval_ns.low, 62.5, 1e-9);
  EXPECT_NEAR(after.kernels[0].interval_ns.high, 70, 1e-9) << "100 - (80 - 50)";
  EXPECT_EQ(after.left_out.size(), 1u) << "without a bound nothing is known of it";
  // What does not bind changes nothing.
  EXPECT_NEAR(with_ceilings(before, {parse_what_if("peak=x2", 1)}).kernels[0].ns, 100, 1e-9);
  const DeviceKernel slower =
      with_ceilings(before, {parse_what_if("bandwidth=-50%", 1)}).kernels[0];
  EXPECT_NEAR(slower.ns, 200, 1e-9);
  EXPECT_NEAR(slower.interval_ns.low, 180, 1e-9);
}

TEST(DeviceComparisonView, every_look_names_bounds_and_models_as_such) {
  const LeastTimes least{.compute_ns = 20, .memory_ns = 50};
  const DeviceComparison c =
      compare_devices({side("a.db", {kernel(1, 100, 0.01, least)}),
                       side("h100-sxm", {kernel(1, 50, 0, least)}, TimeBasis::bound)},
                      {}, {parse_what_if("bandwidth=x4", 2)});
  const report::View view = device_comparison_view(c, 80);
  EXPECT_THAT(view.text, halmark::test::has_all(
                             {"open", "no time that was seen", "what if (model, not measured)"}));
  EXPECT_THAT(view.data, halmark::test::HasValues(
                             R"({"/sides/1/basis": "bound", "/what_if/is_model": true})"));
  EXPECT_NEAR(view.data["what_if"]["pairs"][0]["classes"][0]["ratio"].get<double>(), 50.0 / 40,
              1e-12)
      << "the first side keeps half of its bound: 100 x 20 / 50";
  std::size_t begin = 0;
  while (begin < view.text.size()) {
    const std::size_t end = view.text.find('\n', begin);
    EXPECT_LE(end - begin, 80u) << view.text.substr(begin, end - begin);
    begin = end + 1;
  }
  EXPECT_THAT(device_comparison_markdown(c), HasSubstr("| gemm | bf16 | m 1 |"));
  EXPECT_THAT(device_comparison_csv(c), HasSubstr("what if (model),a.db,"));
  const std::string page = device_comparison_html(c);
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
}

TEST(DeviceComparisonView, refuses_an_unknown_format_before_it_writes_another) {
  const DeviceComparison c =
      compare_devices({side("a", {kernel(1, 1)}), side("b", {kernel(1, 2)})}, {});
  const std::string first = testing::TempDir() + "never-" + std::to_string(::getpid()) + ".json";
  expect_error([&] { write_device_comparison(c, {first, "x.pdf"}); }, "x.pdf");
  EXPECT_EQ(std::fopen(first.c_str(), "r"), nullptr);
}

TEST(DeviceComparison, energy_needs_the_power_of_every_kernel) {
  DeviceSide a = side("a", {kernel(2, 100), kernel(4, 100)});
  a.kernels[0].power_w = 100;
  const DevicePair pair = pair_of(a, side("b", {kernel(2, 100), kernel(4, 100)}));
  EXPECT_FALSE(pair.classes.front().shares[0].joule) << "of the other one nothing is known";
  EXPECT_FALSE(pair.classes.front().shares[1].joule);
}

TEST(WhatIf, factors_lie_between_a_thousandth_and_a_thousand) {
  const auto factor = [](const char* text) -> std::optional<double> {
    try {
      return parse_what_if(text, 6).factor;
    } catch (const Error& error) {
      EXPECT_THAT(error.line(), HasSubstr("is no change of a ceiling"));
      return std::nullopt;
    }
  };
  EXPECT_EQ(factor("peak=x1000"), 1000);
  EXPECT_EQ(factor("peak=x1001"), std::nullopt);
  EXPECT_EQ(factor("peak=x0.001"), 0.001);
  EXPECT_EQ(factor("peak=x0.0009"), std::nullopt);
  EXPECT_EQ(factor("6:peak=+0%"), 1);
  EXPECT_EQ(factor("peak=20%"), std::nullopt);
  EXPECT_EQ(factor("peak=+20"), std::nullopt);
  EXPECT_EQ(factor("peak=x2%"), std::nullopt);
  EXPECT_EQ(parse_what_if("6:peak=x2", 6).side, 5u);
  EXPECT_EQ(parse_what_if("1:bandwidth=x2", 6).resource, Resource::bandwidth);
  EXPECT_EQ(parse_what_if("peak=x2", 6).resource, Resource::peak);
  EXPECT_EQ(parse_what_if("peak=x2", 6).text, "peak=x2");
  expect_error([] { (void)parse_what_if("7:peak=x2", 6); }, "names no side");
}

// Both ceilings of a kernel at once: 80 by memory and 50 by arithmetic become 40 and 25.
TEST(WhatIf, several_changes_of_one_side_add_up) {
  const DeviceSide before = side("a", {kernel(1, 100, 0.1, {.compute_ns = 50, .memory_ns = 80})});
  const DeviceSide after =
      with_ceilings(before, {parse_what_if("bandwidth=x2", 1), parse_what_if("peak=x2", 1)});
  EXPECT_NEAR(after.kernels[0].ns, 50, 1e-9);
  EXPECT_NEAR(after.kernels[0].peak_ns, 25, 1e-9);
  EXPECT_NEAR(after.kernels[0].least.memory_ns, 40, 1e-9);
  EXPECT_NEAR(after.kernels[0].interval_ns.low, 45, 1e-9);
  EXPECT_NEAR(after.kernels[0].interval_ns.high, 70, 1e-9) << "110 - (80 - 40)";
  const DeviceComparison c = compare_devices({before, side("b", {kernel(1, 100)})}, {},
                                             {parse_what_if("bandwidth=x2", 2)});
  ASSERT_EQ(c.modelled.size(), 1u);
  EXPECT_NEAR(c.modelled[0].classes[0].ratio, 100.0 / 62.5, 1e-9) << "only the first has a change";
  EXPECT_NEAR(c.pairs[0].classes[0].ratio, 1, 1e-9);
}

}  // namespace
}  // namespace halmark::history
