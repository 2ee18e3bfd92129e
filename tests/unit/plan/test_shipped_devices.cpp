// configs/devices beside the table that the figures were taken from: nothing was lost on the way.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "plan/device/device_file.hpp"
#include "tests/checkout.hpp"

namespace halmark {
namespace {

const std::filesystem::path folder = test::in_source("/configs/devices");

// Keys of the table as the paths of device files; engines differ between CPUs and the rest.
std::vector<std::string> paths_of(const std::string& key) {
  static const std::map<std::string, std::string> dtypes = {
      {"tf32", "tf32"}, {"bf16", "bf16"}, {"fp16", "f16"},    {"fp8", "f8_e4m3fn"},
      {"int8", "s8"},   {"int4", "s4"},   {"fp4", "f4_e2m1"}, {"fp6", "f6_e3m2"}};
  static const std::map<std::string, std::string> exact = {
      {"fp64_vector", "f64_vector"},        {"fp64_matrix", "f64_matrix"},
      {"fp32_vector", "f32_vector"},        {"fp16_fp16acc", "f16_fp16acc"},
      {"fp8_fp16acc", "f8_e4m3fn_fp16acc"}, {"dla_int8", "s8_dla"}};
  if (exact.contains(key)) return {exact.at(key)};
  return {dtypes.at(key) + "_matrix", dtypes.at(key) + "_vector"};
}

// The table's figure lies in the range of the file: sources that disagree are kept as a range.
void expect_within(double stated, double low, std::optional<double> high, const std::string& what) {
  EXPECT_GE(stated, low * 0.9999) << what;
  EXPECT_LE(stated, high.value_or(low) * 1.0001) << what;
}

void compare(const Json& row, const Device& device) {
  const std::string id = row["id"];
  EXPECT_EQ(device.kind, row["kind"].get<std::string>());
  const Json peaks = row.value("peak_dense_tflops", Json::object());
  for (const auto& [key, tflops] : peaks.items()) {
    const std::vector<std::string> paths = paths_of(key);
    const auto it =
        std::ranges::find_if(device.peaks, [&](const Peak& p) { return contains(paths, p.path); });
    ASSERT_NE(it, device.peaks.end()) << id << ' ' << key;
    expect_within(tflops.get<double>() * 1e12, it->flops_per_s, it->flops_per_s_high, id + key);
    EXPECT_EQ(confidence_name(it->confidence), row["confidence"].get<std::string>());
  }
  if (row.contains("memory_bw_gbs")) {
    const auto memory = device.bandwidth("memory", 0);
    ASSERT_TRUE(memory) << id;
    expect_within(row["memory_bw_gbs"].get<double>() * 1e9, memory->bytes_per_s,
                  memory->bytes_per_s_high, id + " memory");
  }
  if (row.contains("memory_gb")) {
    // Printed in GB of either kind, of which a driver keeps up to 2.5 % back.
    const double printed = row["memory_gb"];
    const auto bytes = as_double(device.memory_bytes);
    EXPECT_GE(bytes, 0.975e9 * printed) << id;
    EXPECT_LE(bytes, 1.01 * 0x1p30 * printed) << id;
  }
  if (row.contains("scaleup_gbs_per_direction")) {
    ASSERT_EQ(device.links.size(), 1u) << id;
    const Link& link = device.links.front();
    expect_within(row["scaleup_gbs_per_direction"].get<double>() * 1e9, link.bytes_per_s,
                  link.bytes_per_s_high, id + " link");
    EXPECT_EQ(link.domain_devices.value_or(0), row.value("scaleup_domain", 0)) << id;
  }
  if (row.contains("tdp_w")) {
    ASSERT_TRUE(device.power_w) << id;
    expect_within(row["tdp_w"], *device.power_w, device.power_w_high, id + " power");
  }
}

TEST(ShippedDevices, every_row_of_the_table_has_a_file_with_its_figures) {
  const Json data = read_json_file(test::in_source("/tests/data/device_figures.json"));
  const Json& rows = data["devices"];
  EXPECT_EQ(rows.size(), 59u);
  for (const Json& row : rows) {
    const auto device = find_device(row["id"].get<std::string>(), {folder});
    ASSERT_TRUE(device) << row["id"];
    compare(row, *device);
  }
}

TEST(ShippedDevices, figures_that_sources_disagree_about_are_ranges_with_the_lower_end_first) {
  const auto device = [](std::string_view id) { return *find_device(id, {folder}); };
  const Device b300 = device("b300");
  EXPECT_EQ(b300.peak(Dtype::f4_e2m1, 0)->flops_per_s, 12.6e15);
  EXPECT_EQ(b300.peak(Dtype::f4_e2m1, 0)->flops_per_s_high, 15e15);
  EXPECT_EQ(b300.peak(Dtype::s8, 0)->flops_per_s, 0.15e15);
  EXPECT_EQ(b300.peak(Dtype::s8, 0)->flops_per_s_high, 4.5e15);
  EXPECT_EQ(b300.power_w, 1000);
  EXPECT_EQ(b300.power_w_high, 1400);
  const Device b200 = device("b200");
  EXPECT_EQ(b200.bandwidth("memory", 0)->bytes_per_s, 7.7e12);
  EXPECT_EQ(b200.bandwidth("memory", 0)->bytes_per_s_high, 8.0e12);
  EXPECT_EQ(device("910c").peak(Dtype::bf16, 0)->flops_per_s, 752e12);
  EXPECT_EQ(device("910c").peak(Dtype::bf16, 0)->flops_per_s_high, 800e12);
  EXPECT_EQ(device("910b").peak(Dtype::bf16, 0)->flops_per_s, 256e12);
  EXPECT_EQ(device("gaudi3").peak(Dtype::bf16, 0)->flops_per_s_high, 1835e12);
  EXPECT_EQ(device("mi250x").links.front().bytes_per_s_high, 400e9);
}

// 24 GB on a box are 24 GiB of chips, of which a program sees 23.52: no driver reports n * 10^9.
TEST(ShippedDevices, capacity_is_what_a_driver_reports) {
  for (const Device& device : known_devices({folder})) {
    if (device.kind == "cpu" || device.memory_type.find("shared") != std::string::npos) continue;
    EXPECT_NE(device.memory_bytes % 1'000'000'000, 0) << device.id;
  }
  const auto gib = [](std::string_view id) {
    return as_double(find_device(id, {folder})->memory_bytes) / 0x1p30;
  };
  // device_total_memory, or "GPU 0 has a total capacity of", as PyTorch prints it.
  EXPECT_NEAR(gib("rtx-4090"), 23.52, 0.005);
  EXPECT_NEAR(gib("h100-sxm"), 79.19, 0.005);
  EXPECT_NEAR(gib("h200"), 139.80, 0.005);
  EXPECT_NEAR(gib("b200"), 178.35, 0.005);
  EXPECT_NEAR(gib("mi300x"), 191.98, 0.005);
}

TEST(ShippedDevices, f16_accumulation_is_no_general_peak) {
  const Device device = *find_device("rtx-4090", {folder});
  EXPECT_EQ(device.peak(Dtype::f16, 0)->flops_per_s, 165.2e12);
  EXPECT_EQ(device.peak(Dtype::f8_e4m3fn, 0)->flops_per_s, 330.3e12);
  EXPECT_EQ(find_device("jetson-agx-orin", {folder})->peak(Dtype::s8, 0)->flops_per_s, 85e12);
}

TEST(ShippedDevices, names_are_found_whatever_their_case_and_separators) {
  EXPECT_EQ(find_device("NVIDIA_H100 SXM 80GB", {folder})->id, "h100-sxm");
  EXPECT_EQ(find_device("h100", {folder})->id, "h100-sxm");
  EXPECT_FALSE(find_device("h1000", {folder}));
  EXPECT_FALSE(find_device("", {folder}));
  EXPECT_FALSE(find_device("../devices/h100-sxm", {folder}));
}

TEST(ShippedDevices, no_name_belongs_to_two_devices) {
  const std::vector<Device> devices = known_devices({folder});
  for (const Device& device : devices) {
    std::vector<std::string> names = device.aliases;
    names.push_back(device.id);
    for (const std::string& name : names) {
      EXPECT_EQ(std::ranges::count_if(devices, [&](const Device& d) { return d.is_called(name); }),
                1)
          << name;
    }
  }
}

}  // namespace
}  // namespace halmark
