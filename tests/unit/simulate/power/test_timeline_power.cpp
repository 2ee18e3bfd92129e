

#include "../../../shared_data.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "latency/imported/csv_table.hpp"
#include "plan/device/device_file.hpp"
#include "power_fit.hpp"
#include "simulate/power/carbon.hpp"
#include "simulate/power/timeline_power.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::power {
namespace {

using simulate::Timeline;
using simulate::TimelineEvent;
using simulate::TimelinePhase;

constexpr events::Picoseconds second_ps = 1'000'000'000'000;

const PoweredDevice device = {
    .model = {.idle_w = 100, .limit_w = 500, .compute_w = 300, .memory_w = 300},
    .flops_per_s = 1000,
    .bytes_per_s = 10};

const PoweredDevice* of_all(std::uint32_t) { return &device; }

TimelineEvent kernel(std::uint32_t actor, double begin_s, double end_s, double flops,
                     double bytes) {
  return {.start_ps = events::picoseconds(begin_s),
          .end_ps = events::picoseconds(end_s),
          .bytes = bytes,
          .flops = flops,
          .actor = actor};
}

// Two devices over four seconds: one computes at half of its peak for two of them, the other reads
// at all of its bandwidth for one.
Timeline two_devices() {
  Timeline out;
  out.actors = {"a", "b"};
  out.events = {kernel(0, 0, 2, 1000, 0), kernel(1, 1, 2, 0, 10), kernel(0, 2, 4, 0, 0)};
  out.makespan_ps = 4 * second_ps;
  return out;
}

TEST(TimelinePower, is_the_area_under_what_each_device_draws) {
  const PowerUse use = power_use(two_devices(), of_all);
  EXPECT_EQ(use.devices, 2U);
  EXPECT_DOUBLE_EQ(use.seconds, 4);
  EXPECT_DOUBLE_EQ(use.idle_j, 800);
  EXPECT_DOUBLE_EQ(use.busy_j, 2 * 150 + 1 * 300);
  EXPECT_DOUBLE_EQ(use.mean_w, 1400.0 / 4);
  EXPECT_DOUBLE_EQ(use.peak_w, 200 + 150 + 300);
}

TEST(TimelinePower, of_two_streams_ends_at_the_limit_of_their_device) {
  Timeline timeline;
  timeline.actors = {"a"};
  timeline.events = {kernel(0, 0, 1, 1000, 0), kernel(0, 0, 1, 0, 10)};
  const PowerUse use = power_use(timeline, of_all);
  EXPECT_DOUBLE_EQ(use.peak_w, 500);
  EXPECT_DOUBLE_EQ(use.energy_j(), 500);
}

TEST(TimelinePower, leaves_out_what_happens_once_and_what_is_no_device) {
  Timeline timeline = two_devices();
  timeline.events[0].phase = TimelinePhase::one_time;
  const auto only_second = [](std::uint32_t actor) { return actor == 1 ? &device : nullptr; };
  const PowerUse use = power_use(timeline, only_second);
  EXPECT_EQ(use.devices, 1U);
  EXPECT_DOUBLE_EQ(use.seconds, 3);
  EXPECT_DOUBLE_EQ(use.energy_j(), 300 + 300);
}

TEST(PowerBudget, says_how_long_the_devices_would_draw_more) {
  const BudgetUse use = budget_use(power_use(two_devices(), of_all), 400, 1000);
  EXPECT_DOUBLE_EQ(use.time_share_above, 0.25);
  EXPECT_DOUBLE_EQ(use.oversubscription, 2.5);
  EXPECT_DOUBLE_EQ(use.cap_w, 200);
  EXPECT_THROW(budget_use({}, 400, 1000), Error);
}

// The shipped model and the way it was fitted, against what a meter said of 32,520 products on an
// H200. Errors are those of shapes that a fit did not see.

struct Halves {
  std::vector<PowerPoint> fitted, held_out;
};

double number(const CsvTable& table, std::size_t row, const char* column) {
  return std::strtod(std::string(table.field(row, table.column(column))).c_str(), nullptr);
}

// By data type; which half a row is of goes by its n and k.
std::map<std::string, Halves> halves_of(const CsvTable& table, const Device& device) {
  std::map<std::string, Halves> out;
  const double bytes_per_s = device.bandwidth("memory", 1)->bytes_per_s;
  for (std::size_t row = 0; row < table.rows(); ++row) {
    const std::string type(table.field(row, table.column("gemm_dtype")));
    const double m = number(table, row, "m"), n = number(table, row, "n"),
                 k = number(table, row, "k");
    const bool is_wide = type == "bfloat16";
    const double width = is_wide ? 2 : 1, seconds = number(table, row, "latency") * 1e-3;
    const double peak = device.peak(is_wide ? Dtype::bf16 : Dtype::f8_e4m3fn, 1)->flops_per_s;
    const PowerPoint point = {
        .activity = {2 * m * n * k / seconds / peak,
                     (width * (m * k + n * k) + 2 * m * n) / seconds / bytes_per_s},
        .seconds = seconds,
        .watts = number(table, row, "power")};
    const bool is_held_out =
        static_cast<std::int64_t>(std::log2(n) * 7 + std::log2(k) * 3) % 2 != 0;
    (is_held_out ? out[type].held_out : out[type].fitted).push_back(point);
  }
  return out;
}

double median_error(const PowerModel& model, const std::vector<PowerPoint>& points) {
  std::vector<double> errors;
  for (const PowerPoint& p : points) {
    errors.push_back(std::abs(power_w(model, p.activity, p.seconds) / p.watts - 1));
  }
  return median(errors);
}

TEST(MeasuredPower, of_products_is_predicted_on_shapes_that_no_fit_saw) {
  const auto path = halmark::test::shared_data("kernels/gemm_power_h200_vllm_0.22.0.csv.gz");
  if (!std::filesystem::exists(path)) GTEST_SKIP() << path << " is absent";
  const CsvTable table = CsvTable::read(path.string());
  const Device h200 =
      read_device_file(halmark::test::in_source("/configs/devices/h200.toml")).device;
  for (auto& [type, halves] : halves_of(table, h200)) {
    const PowerModel fitted = fit_power(halves.fitted, 700);
    const PowerModel shipped =
        *power_model_of(h200, type == "bfloat16" ? Dtype::bf16 : Dtype::f8_e4m3fn);
    EXPECT_LE(median_error(fitted, halves.held_out), 0.10);
    EXPECT_LE(median_error(shipped, halves.held_out), 0.10);
  }
}

TEST(Carbon, of_a_kilowatt_hour_is_the_grids) {
  const Carbon carbon = carbon_of(3.6e6, 0, {.g_per_kwh = 400, .pue = 1.25});
  EXPECT_DOUBLE_EQ(carbon.operational_g, 500);
  EXPECT_EQ(carbon.embodied_g, 0);
}

TEST(Carbon, of_a_devices_whole_life_is_all_that_it_took_to_make_it) {
  const double life_s = 4 * 365.25 * 86400;
  const Carbon carbon = carbon_of(0, life_s, {.embodied_kg = 164, .life_years = 4});
  EXPECT_DOUBLE_EQ(carbon.embodied_g, 164e3);
  EXPECT_DOUBLE_EQ(carbon.total_g(), 164e3);
}

TEST(Carbon, refuses_what_cannot_be) {
  EXPECT_THROW(carbon_of(1, 1, {.pue = 0.9}), Error);
  EXPECT_THROW(carbon_of(1, 1, {.g_per_kwh = -1}), Error);
  EXPECT_THROW(carbon_of(1, 1, {.life_years = 0}), Error);
}

constexpr PowerModel plain = {
    .idle_w = 100, .limit_w = 500, .compute_w = 300, .memory_w = 200, .gap_s = 1e-5};

TEST(PowerModel, idles_and_ends_at_its_limit) {
  EXPECT_DOUBLE_EQ(power_w(plain, {}), 100);
  EXPECT_DOUBLE_EQ(power_w(plain, {0.5, 0.25}), 100 + 150 + 50);
  EXPECT_DOUBLE_EQ(power_w(plain, {1, 1}), 500);
  EXPECT_DOUBLE_EQ(power_w(plain, {0.5, 0}, 1e-5), 100 + 75) << "half of the loop is gaps";
}

TEST(PowerModel, more_work_draws_no_less) {
  for (double f = 0; f < 1; f += 0.1) {
    for (double b = 0; b < 1; b += 0.1) {
      EXPECT_LE(power_w(plain, {f, b}), power_w(plain, {f + 0.1, b}));
      EXPECT_LE(power_w(plain, {f, b}), power_w(plain, {f, b + 0.1}));
    }
  }
}

TEST(PowerModel, of_another_device_has_the_same_shares_of_its_limit) {
  Device device{.id = "h200", .power_w = 700};
  const auto known = power_model_of(device, Dtype::bf16);
  device.id = "other", device.power_w = 350;
  const auto scaled = power_model_of(device, Dtype::bf16);
  ASSERT_TRUE(known && scaled);
  EXPECT_TRUE(known->is_fitted);
  EXPECT_FALSE(scaled->is_fitted);
  EXPECT_DOUBLE_EQ(2 * power_w(*scaled, {0.3, 0.4}), power_w(*known, {0.3, 0.4}));
  device.power_w.reset();
  EXPECT_FALSE(power_model_of(device, Dtype::bf16));
}

TEST(PowerCap, of_a_product_is_paid_in_time_by_the_cube_root) {
  const Activity product = {1, 0};
  const Capped capped_product = capped(plain, product, 100 + 300 * 0.512);
  EXPECT_NEAR(capped_product.clock, 0.8, 1e-6);
  EXPECT_NEAR(capped_product.stretch, 1 / 0.8, 1e-6);
  EXPECT_TRUE(capped_product.is_kept);
  EXPECT_EQ(capped(plain, product, 400).stretch, 1) << "it draws no more than that anyway";
}

TEST(PowerCap, costs_a_kernel_nothing_while_it_waits_for_memory) {
  const Activity decode = {0.2, 0.8};
  const double full_w = power_w(plain, decode);
  const Capped slowed = capped(plain, decode, full_w - 40);
  EXPECT_LT(slowed.clock, 1);
  EXPECT_EQ(slowed.stretch, 1);
  EXPECT_LE(slowed.power_w, full_w - 40 + 1e-6);
}

TEST(PowerCap, below_what_the_lowest_clock_draws_is_kept_by_pauses) {
  const Capped low = capped(plain, {0, 1}, 150);
  EXPECT_TRUE(low.is_kept);
  EXPECT_NEAR(low.stretch, 4, 1e-6) << "a quarter of the bandwidth draws a quarter of 200 W";
  EXPECT_NEAR(low.power_w, 150, 1e-6);
}

TEST(PowerCap, below_what_the_device_idles_at_is_not_kept) {
  EXPECT_FALSE(capped(plain, {0.1, 1}, 90).is_kept);
}

TEST(PowerCap, a_lower_one_is_never_faster) {
  double before = 1;
  for (double cap_w = 420; cap_w > 101; cap_w -= 7) {
    const Capped at = capped(plain, {0.7, 0.9}, cap_w);
    EXPECT_GE(at.stretch, before - 1e-9);
    EXPECT_LE(at.power_w, cap_w * (1 + 1e-6));
    before = at.stretch;
  }
}

TEST(PowerFit, finds_the_model_behind_its_points) {
  std::mt19937_64 random(7);
  const auto uniform = [&] { return uniform_01(random()); };
  const PowerModel truth = {.idle_w = 120,
                            .limit_w = 600,
                            .compute_w = 400,
                            .compute_exponent = 0.9,
                            .memory_w = 250,
                            .memory_exponent = 0.7,
                            .gap_s = 6e-6};
  std::vector<PowerPoint> points;
  for (int i = 0; i < 400; ++i) {
    const Activity activity = {uniform(), uniform()};
    const double seconds = 1e-6 * std::exp(6 * uniform());
    points.push_back({activity, seconds, power_w(truth, activity, seconds)});
  }
  const PowerModel fitted = fit_power(points, 600);
  EXPECT_NEAR(fitted.idle_w, truth.idle_w, 3);
  for (const PowerPoint& p : points) {
    EXPECT_NEAR(power_w(fitted, p.activity, p.seconds) / p.watts, 1, 0.02);
  }
}

}  // namespace
}  // namespace halmark::power
