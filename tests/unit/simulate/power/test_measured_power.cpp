// The shipped model and the way it was fitted, against what a meter said of 32,520 products on an
// H200. Errors are those of shapes that a fit did not see.

#include "../../../shared_data.hpp"
#include "core/numeric/statistics.hpp"
#include "latency/imported/csv_table.hpp"
#include "plan/device/device_file.hpp"
#include "power_fit.hpp"
#include "tests/checkout.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::power {
namespace {

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

}  // namespace
}  // namespace halmark::power
