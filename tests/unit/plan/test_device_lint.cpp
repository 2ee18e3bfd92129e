#include "plan/device/device_lint.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "tests/checkout.hpp"
#include "tests/unit/case_name.hpp"
#include "tests/unit/expect.hpp"

namespace halmark {
namespace {

using Severity = DeviceFinding::Severity;
using testing::HasSubstr;

const std::vector<DeviceFile>& shipped() {
  static const std::vector<DeviceFile> files =
      known_device_files({test::in_source("/configs/devices")});
  return files;
}

const DeviceFile& shipped_file(std::string_view id) {
  const auto it =
      std::ranges::find_if(shipped(), [&](const DeviceFile& f) { return f.device.is_called(id); });
  if (it == shipped().end()) throw std::logic_error("no device " + std::string(id));
  return *it;
}

std::string lines(const std::vector<DeviceFinding>& findings) {
  std::string out;
  for (const DeviceFinding& f : findings) {
    out += f.where + ": " + std::string(severity_name(f.severity)) + ": " + f.text + '\n';
  }
  return out;
}

std::string lint(const std::string& text) {
  return lines(lint_device(parse_device_file(text, "d.toml"), shipped()));
}

std::string head(const std::string& id, const std::string& name) {
  return "id = '" + id + "'\nname = '" + name + "'\nkind = 'gpu'\n";
}

std::string peak(const std::string& dtype, double tflops, const std::string& more = {}) {
  return "[[peak]]\npath = '" + dtype + "_matrix'\ndtype = '" + dtype +
         "'\nflops_per_s = " + std::to_string(tflops) + "e12\nsource = 's'\n" + more;
}

TEST(DeviceLint, the_shipped_files_are_clean) {
  for (const DeviceFile& file : shipped()) {
    EXPECT_EQ(lines(lint_device(file, shipped())), "") << file.path;
  }
}

struct RuleRow {
  const char* id;
  const char* dtype;
  double units, fma_per_cycle, clock_ghz, tflops;
};

// Units, FMA per cycle and clocks as the vendors' architecture papers give them, with the product
// they print.
const RuleRow rule_rows[] = {
    {"v100", "f16", 640, 64, 1.530, 125.3},       {"a100", "bf16", 432, 256, 1.410, 311.9},
    {"h100-sxm", "bf16", 528, 512, 1.830, 989.4}, {"h100-pcie", "bf16", 456, 512, 1.620, 756.4},
    {"rtx-4090", "bf16", 512, 64, 2.520, 165.2},  {"mi250x", "bf16", 880, 128, 1.700, 383.0},
    {"mi300x", "bf16", 1216, 256, 2.100, 1307.4}, {"mi355x", "bf16", 1024, 512, 2.400, 2516.6},
    {"gaudi2", "bf16", 2, 65536, 1.650, 432.5},   {"gaudi3", "bf16", 8, 65536, 1.600, 1677.7}};

class RuleTable : public testing::TestWithParam<RuleRow> {};

TEST_P(RuleTable, the_shipped_peak_is_the_product_and_another_clock_is_refused) {
  const RuleRow& row = GetParam();
  const DeviceFile& file = shipped_file(row.id);
  const auto stated = file.device.peak(*parse_dtype(row.dtype), 0);
  ASSERT_TRUE(stated);
  EXPECT_NEAR(stated->flops_per_s / 1e12, row.tflops, 0.01 * row.tflops);
  ASSERT_TRUE(stated->rule);
  EXPECT_NEAR(stated->rule->flops_per_s() / 1e12, row.tflops, 0.05);
  EXPECT_EQ(stated->rule->units, row.units);
  EXPECT_EQ(stated->rule->fma_per_cycle, row.fma_per_cycle);
  EXPECT_DOUBLE_EQ(stated->rule->clock_hz, row.clock_ghz * 1e9);

  DeviceFile wrong = file;
  for (Peak& p : wrong.device.peaks) {
    if (p.rule) p.rule->clock_hz *= 1.980 / 1.830;
  }
  EXPECT_THAT(lines(lint_figures(wrong)), HasSubstr(": error: " + file.device.id));
}

INSTANTIATE_TEST_SUITE_P(Devices, RuleTable, testing::ValuesIn(rule_rows), [](const auto& info) {
  return test::case_name({info.param.id, info.param.dtype});
});

TEST(DeviceLint, a_finding_says_where_and_with_which_numbers) {
  EXPECT_EQ(
      lint(head("mine", "Mine") +
           peak("bf16", 1070, "units = 528\nfma_per_cycle = 512\nclock_hz = 1.83e9\n")),
      "d.toml:7:15: error: mine: bf16_matrix is 1070 TFLOP/s, but 528 units x 512 FMA/cycle x "
      "2 x 1.83 GHz = 989.43\n");
}

struct TrapRow {
  const char* where;  // the part, as people write it
  const char* id;
  std::string body;
  const char* expected;
};

std::string memory(double gb_per_s) {
  return "[[bandwidth]]\nlevel = 'memory'\nbytes_per_s = " + std::to_string(gb_per_s) +
         "e9\nsource = 's'\n";
}

std::string link(double gb_per_s) {
  return "[[link]]\nscope = 'scale_up'\nname = 'l'\nbytes_per_s = " + std::to_string(gb_per_s) +
         "e9\nsource = 's'\n";
}

const TrapRow trap_rows[] = {
    {"NVIDIA H100 SXM", "mine", peak("bf16", 1979), "twice the 989.4 of h100-sxm: probably sparse"},
    {"NVIDIA H100 SXM", "mine", peak("f8_e4m3fn", 3958), "twice the 1978.9 of h100-sxm"},
    {"NVIDIA H200", "mine", peak("bf16", 1979) + peak("f8_e4m3fn", 3958),
     "twice the 989.4 of h200"},
    {"NVIDIA GH200", "gh200", peak("bf16", 1979), "twice the 989.4 of gh200"},
    {"NVIDIA B100", "b100", peak("bf16", 3500), "twice the dense 1750 of b100: probably sparse"},
    {"NVIDIA GB200", "gb200", peak("bf16", 4500), "above the 2500 of gb200"},
    {"Gaudi 3", "gaudi3", peak("bf16", 1835), "in the range 1678 to 1835"},
    {"Gaudi 3", "mine", peak("bf16", 1835, "units = 8\nfma_per_cycle = 65536\nclock_hz = 1.6e9\n"),
     "= 1677.72"},
    {"A100", "mine", link(150), "half of a100's 300, which is one direction already"},
    {"GB200", "mine", memory(13400), "above the 8000 of gb200"},
    {"H800", "mine", memory(3430), "above the 3350 of h800"},
    {"H20", "mine", memory(4096), "above the 4000 of h20"},
    {"B300", "mine", peak("f8_e4m3fn", 7000), "above the 4500 of b300"},
    {"B300", "mine", peak("bf16", 3500), "above the 2250 of b300"},
    {"B200", "mine", peak("f8_e4m3fn", 9000), "twice the 4500 of b200: probably sparse"},
    {"H200", "mine", peak("bf16", 1970), "twice the 989.4 of h200: probably sparse"},
    {"Jetson AGX Orin", "mine", peak("s8", 275), "above the 85 of jetson-agx-orin"},
    {"GeForce RTX 5090", "mine", peak("f4_e2m1", 3352), "twice the 1676 of rtx-5090"},
    {"GeForce RTX 4090", "mine", peak("f16", 330), "the rate with FP16 accumulation"},
    {"A100 SXM", "mine", peak("f8_e4m3fn", 624), "a100 has no f8_e4m3fn; the figure is that of s8"},
    {"MI250X", "mine", peak("bf16", 383), "programs see as 2 devices of 191.5 TFLOP/s"},
    {"GB200 superchip", "mine", peak("bf16", 5000), "two devices of a superchip"},
    {"GB200 superchip", "mine", "", "372 GB is twice the memory of gb200"}};

class Trap : public testing::TestWithParam<TrapRow> {};

TEST_P(Trap, is_flagged) {
  const TrapRow& row = GetParam();
  std::string text = head(row.id, row.where);
  if (row.body.empty()) text += "memory_bytes = 372000000000\n";
  EXPECT_THAT(lint(text + row.body), HasSubstr(row.expected));
}

INSTANTIATE_TEST_SUITE_P(PublicTools, Trap, testing::ValuesIn(trap_rows), [](const auto& info) {
  return test::case_name({info.param.where, info.param.id, info.param.expected});
});

TEST(DeviceLint, sparse_figures_contradict_the_dense_ones_beside_them_on_any_part) {
  test::expect_each(lint,
                    {{head("x", "X") + peak("tf32", 500) + peak("bf16", 2000),
                      "d.toml:12:15: error: x: bf16_matrix is 2000 TFLOP/s, 4 times tf32_matrix"},
                     {head("x", "X") + peak("bf16", 1000) + peak("f8_e4m3fn", 4000),
                      "4 times bf16_matrix: probably the sparse figure"},
                     {head("x", "X") + peak("bf16", 1000) + peak("bf16", 2000),
                      "stands twice, once with twice the figure"},
                     {head("x", "X") + peak("bf16", 1000) + peak("f16", 2000), "error"}});
}

TEST(DeviceLint, a_part_that_does_not_double_says_so_or_is_warned_about) {
  const std::string same = head("x", "X") + peak("bf16", 1000) + peak("f8_e4m3fn", 1000);
  EXPECT_THAT(lint(same), HasSubstr(": warning: x: f8_e4m3fn_matrix is 1 times bf16_matrix"));
  EXPECT_EQ(lint(same + "rate_over_16_bit = 1.0\n"), "");
}

// 80 times a second and not more often; a hundredth beyond what the pins carry and not more.
TEST(DeviceLint, memory_limits_hold_on_both_sides) {
  const auto lint_of = [](double bytes_per_s, const std::string& more = {}) {
    return lint(head("own", "Own") +
                "memory_bytes = 1000000000\n[[bandwidth]]\nlevel = 'memory'\n" +
                "source = 's'\nbytes_per_s = " + std::to_string(bytes_per_s) + "\n" + more);
  };
  EXPECT_EQ(lint_of(80e9), "");
  EXPECT_THAT(lint_of(80.5e9), HasSubstr("reads all 1 GB"));
  const std::string pins = "bus_bits = 8\ntransfers_per_s = 1e9\n";
  EXPECT_EQ(lint_of(1.0095e9, pins), "");
  EXPECT_THAT(lint_of(1.0105e9, pins), HasSubstr("exceeds 8 bits x 1 GT/s = 1"));
}

TEST(DeviceLint, ratios_and_products_hold_on_both_sides) {
  const auto pair = [](const std::string& dtype, double ratio) {
    return lint(head("own", "Own") + peak("bf16", 100) + peak(dtype, 100 * ratio));
  };
  EXPECT_EQ(pair("f16", 1.019), "");
  EXPECT_EQ(pair("f16", 0.981), "");
  EXPECT_THAT(pair("f16", 1.021), HasSubstr("expected 1 times as much"));
  EXPECT_THAT(pair("f16", 0.979), HasSubstr("expected 1 times as much"));
  EXPECT_EQ(pair("f8_e4m3fn", 2.035), "");
  EXPECT_THAT(pair("f8_e4m3fn", 2.045), HasSubstr("parts usually double"));
  EXPECT_THAT(pair("f8_e4m3fn", 4.07), HasSubstr("probably the sparse figure"));
  EXPECT_THAT(pair("f8_e4m3fn", 4.09), HasSubstr("parts usually double"));
  EXPECT_THAT(pair("tf32", 1 / 3.93), HasSubstr("probably the sparse figure"));
  EXPECT_EQ(pair("tf32", 1 / 3.91), "");
  const auto rule = [](double tflops) {
    return lint(head("own", "Own") +
                peak("bf16", tflops, "units = 50\nfma_per_cycle = 1000\nclock_hz = 1e9\n"));
  };
  EXPECT_EQ(rule(100.95), "");
  EXPECT_EQ(rule(99.05), "");
  EXPECT_THAT(rule(101.05), HasSubstr("but 50 units x 1000 FMA/cycle"));
  EXPECT_THAT(rule(98.95), HasSubstr("but 50 units x 1000 FMA/cycle"));
}

// Figures of the whole device are compared, not those of one of its threads.
TEST(DeviceLint, a_known_part_is_compared_by_what_all_of_it_does) {
  const std::string known_text =
      head("part-x9", "Part X9") +
      "[[peak]]\npath = 'all'\ndtype = 'bf16'\nflops_per_s = 1e12\n"
      "source = 's'\n[[peak]]\npath = 'one'\ndtype = 'bf16'\nthreads = 1\n"
      "flops_per_s = 1e11\nsource = 's'\n";
  const std::vector<DeviceFile> known = {parse_device_file(known_text, "known.toml")};
  const auto lint_of = [&](double tflops) {
    return lines(lint_device(
        parse_device_file(head("own part-x9", "Own") + peak("bf16", tflops), "own.toml"), known));
  };
  EXPECT_EQ(lint_of(1), "");
  EXPECT_NE(lint_of(0.1), "");
  EXPECT_NE(lint_of(2), "");
}

// A percent is rounding of somebody's, 1.4 % is another figure: of peaks, bandwidths and ranges.
TEST(DeviceLint, a_known_part_is_compared_within_one_percent) {
  const std::string known_text =
      head("part-x9", "Part X9") + peak("bf16", 100) +
      "[[peak]]\npath = 'f16_matrix'\ndtype = 'f16'\nflops_per_s = 100e12\nflops_per_s_high = "
      "120e12\nsource = 's'\n" +
      memory(1000);
  const std::vector<DeviceFile> known = {parse_device_file(known_text, "known.toml")};
  const auto lint_of = [&](const std::string& figures) {
    return lines(
        lint_device(parse_device_file(head("own part-x9", "Own") + figures, "own.toml"), known));
  };
  for (const double sign : {-1.0, 1.0}) {
    EXPECT_EQ(lint_of(peak("bf16", 100 * (1 + sign * 0.009))), "");
    EXPECT_NE(lint_of(peak("bf16", 100 * (1 + sign * 0.014))), "");
    EXPECT_EQ(lint_of(peak("bf16", 100) + memory(1000 * (1 + sign * 0.009))), "");
    EXPECT_NE(lint_of(peak("bf16", 100) + memory(1000 * (1 + sign * 0.014))), "");
  }
  test::expect_each(lint_of, {{peak("f16", 110), "sources of part-x9 disagree about"},
                              {peak("f16", 120 * 1.009), "disagree about"},
                              {peak("f16", 120 * 1.014), "above the 120 of part-x9"},
                              {peak("f16", 240), "is twice the 100 of part-x9"}});
}

TEST(DeviceLint, what_was_measured_is_not_compared_with_sheets) {
  EXPECT_EQ(lint(head("mine", "H100 SXM") + "is_measured = true\n" + peak("bf16", 1979)), "");
}

TEST(DeviceLint, a_part_that_nobody_knows_is_derived_from_units_and_clock) {
  const std::string text = head("future", "Future part") +
                           "[[peak]]\npath = 'bf16_matrix'\ndtype = 'bf16'\nunits = 528\n"
                           "fma_per_cycle = 512\nclock_hz = 1.83e9\n";
  const Device device = parse_device(text, "d.toml");
  ASSERT_EQ(device.peaks.size(), 1u);
  EXPECT_TRUE(device.peaks[0].is_derived);
  EXPECT_THAT(device.peaks[0].source, HasSubstr("derived"));
  EXPECT_NEAR(device.peaks[0].flops_per_s, 989.4e12, 0.1e12);
  EXPECT_EQ(lint(text), "");
  const Device back = parse_device(device_text(device), "again.toml");
  EXPECT_TRUE(back.peaks[0].is_derived);
  EXPECT_EQ(back.peaks[0].flops_per_s, device.peaks[0].flops_per_s);
}

TEST(DeviceLint, half_a_rule_or_an_upside_down_range_is_refused) {
  const auto refusal = [](const std::string& text) {
    return test::error_of([&] { parse_device(head("x", "X") + text, "d.toml"); }).line();
  };
  test::expect_each(
      refusal,
      {{"[[peak]]\npath = 'p'\ndtype = 'bf16'\nunits = 4\n", "'fma_per_cycle' is missing"},
       {peak("bf16", 100, "flops_per_s_high = 1e12\n"), "d.toml:9:20: key 'flops_per_s_high'"},
       {peak("bf16", 100, "confidence = 'hihg'\n"), "'high'"}});
}

}  // namespace
}  // namespace halmark
