#include "plan/device/device_file.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/checkout.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

Device full_device() {
  return {
      .id = "cpu:0",
      .name = "A \"quoted\\\" name",
      .kind = "cpu",
      .fingerprint = "0123abcd",
      .is_measured = true,
      .memory_bytes = 25769803776,
      .peaks = {{.path = "bf16_matrix",
                 .dtype = Dtype::bf16,
                 .isa = "avx512_core_amx",
                 .threads = 2,
                 .flops_per_s = 1.0 / 3 * 1e12,
                 .flops_per_s_q90 = 3e11,
                 .flops_per_s_high = 4e11,
                 .source = "measured 2026-11-21"},
                {.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e11, .source = "s"}},
      .bandwidths = {{.level = "memory",
                      .threads = 2,
                      .bytes_per_s = 1.5e10 + 0.25,
                      .working_set_bytes = 268435456,
                      .source = "measured"}},
      .ring_plateau_bytes = 268435456,
      .clock_hz = 2.5e9,
      .power_w = 0,
      .aliases = {"a", "b c"},
      .vendor = "V",
      .memory_type = "HBM",
      .devices_in_part = 2,
      .memory_bytes_high = 26000000000,
      .power_w_high = 10,
      .memory_source = "sheet",
      .power_source = "page",
      .memory_confidence = Confidence::low,
      .power_confidence = Confidence::high,
      .links = {{.name = "NVLink",
                 .bytes_per_s = 4.5e11,
                 .bytes_per_s_high = 9e11,
                 .domain_devices = 8,
                 .source = "sheet",
                 .confidence = Confidence::medium}},
      .notes = {"one says \"two\""}};
}

TEST(DeviceFile, occasions_of_a_ceiling_read_back) {
  Device d{.id = "cpu:0", .name = "X", .kind = "cpu"};
  const std::vector<Occasion> occasions = {
      {"", 1, 4e10, {4e10}},
      {"2026-11-22T15:04:05Z", 30, 4.5e10, {5.5e10, 5.25e10, 5e10}},
      {"2026-11-22T16:04:05Z", 3, 4e10, {4e10, 3e10}, true}};
  d.bandwidths.push_back({.level = "memory",
                          .threads = 2,
                          .bytes_per_s = 5e10,
                          .access = "read",
                          .source = "measured 2026-11-22T15:04:05Z, read",
                          .occasions = occasions});
  d.peaks.push_back({.path = "f32_vector",
                     .threads = 1,
                     .flops_per_s = 1e11,
                     .source = "measured",
                     .occasions = {occasions[1]},
                     .is_provisional = true});
  const Device back = parse_device(device_text(d), "d.toml");
  ASSERT_EQ(back.bandwidths.size(), 1U);
  EXPECT_EQ(back.bandwidths[0].occasions, occasions);
  EXPECT_EQ(back.bandwidths[0].access, "read");
  EXPECT_EQ(back.bandwidths[0].bytes_per_s, 5e10);
  EXPECT_FALSE(back.bandwidths[0].is_provisional);
  ASSERT_EQ(back.peaks.size(), 1U);
  EXPECT_EQ(back.peaks[0].occasions, d.peaks[0].occasions);
  EXPECT_TRUE(back.peaks[0].is_provisional);
}

TEST(DeviceFile, the_access_of_older_files_is_in_the_source) {
  const auto access_of = [](const std::string& source) {
    return parse_device(
               "id=\"a\"\nname=\"b\"\nkind=\"cpu\"\n[[bandwidth]]\nlevel=\"memory\"\n"
               "bytes_per_s=1e9\nsource=\"" +
                   source + "\"\n",
               "d.toml")
        .bandwidths.at(0)
        .access;
  };
  EXPECT_EQ(access_of("measured 2026-11-22T15:04:05Z, read"), "read");
  EXPECT_EQ(access_of("measured, copy"), "copy");
  EXPECT_EQ(access_of("a sheet that says: to read"), "");
}

TEST(DeviceFile, an_occasion_without_a_time_that_can_be_read_is_refused) {
  const std::string text =
      "id=\"a\"\nname=\"b\"\nkind=\"cpu\"\n[[bandwidth]]\nlevel=\"memory\"\nbytes_per_s=1e9\n"
      "source=\"s\"\n[[bandwidth.occasion]]\nutc=\"yesterday\"\nprobes=3\nmedian=1e9\nhighest="
      "1e9\n";
  EXPECT_THROW(parse_device(text, "d.toml"), Error);
}

TEST(DeviceFile, the_text_reads_back_to_the_same_value) {
  const Device d = full_device();
  const Device back = parse_device(device_text(d), "d.toml");
  EXPECT_EQ(device_text(back), device_text(d));
  EXPECT_EQ(back.id, d.id);
  EXPECT_EQ(back.name, d.name);
  EXPECT_EQ(back.fingerprint, d.fingerprint);
  EXPECT_TRUE(back.is_measured);
  EXPECT_EQ(back.memory_bytes, d.memory_bytes);
  ASSERT_EQ(back.peaks.size(), 2u);
  EXPECT_EQ(back.peaks[0].flops_per_s, d.peaks[0].flops_per_s) << "bit for bit";
  EXPECT_EQ(back.peaks[0].flops_per_s_q90, 3e11);
  EXPECT_EQ(back.peaks[0].flops_per_s_high, 4e11);
  EXPECT_EQ(back.peaks[0].isa, "avx512_core_amx");
  EXPECT_EQ(back.peaks[0].dtype, Dtype::bf16);
  EXPECT_EQ(back.peaks[0].threads, 2);
  EXPECT_EQ(back.peaks[1].flops_per_s_q90, std::nullopt);
  ASSERT_EQ(back.bandwidths.size(), 1u);
  EXPECT_EQ(back.bandwidths[0].bytes_per_s, d.bandwidths[0].bytes_per_s);
  EXPECT_EQ(back.bandwidths[0].working_set_bytes, 268435456);
  EXPECT_EQ(back.ring_plateau_bytes, d.ring_plateau_bytes);
  EXPECT_EQ(back.clock_hz, d.clock_hz);
  EXPECT_EQ(back.power_w, 0.0);
  EXPECT_EQ(back.aliases, d.aliases);
  EXPECT_EQ(back.notes, d.notes);
  EXPECT_EQ(back.devices_in_part, 2);
  EXPECT_EQ(back.memory_bytes_high, d.memory_bytes_high);
  EXPECT_EQ(back.memory_confidence, Confidence::low);
  EXPECT_EQ(back.power_w_high, 10.0);
  EXPECT_EQ(back.power_source, "page");
  ASSERT_EQ(back.links.size(), 1u);
  EXPECT_EQ(back.links[0].bytes_per_s_high, 9e11);
  EXPECT_EQ(back.links[0].domain_devices, 8);
  EXPECT_EQ(back.links[0].confidence, Confidence::medium);
}

TEST(DeviceFile, absent_figures_stay_absent) {
  const Device back = parse_device(device_text({.id = "x", .name = "X", .kind = "gpu"}), "d.toml");
  EXPECT_EQ(back.ring_plateau_bytes, std::nullopt);
  EXPECT_EQ(back.clock_hz, std::nullopt);
  EXPECT_EQ(back.power_w, std::nullopt);
  EXPECT_TRUE(back.peaks.empty());
}

TEST(DeviceFile, foreign_names_cannot_break_the_file) {
  Device d = full_device();
  d.name = "two\nlines\x01\x7f\t\"";
  Device back;
  ASSERT_NO_THROW(back = parse_device(device_text(d), "d.toml"));
  EXPECT_EQ(back.name.find('\n'), std::string::npos);
  EXPECT_EQ(back.id, d.id);
}

TEST(DeviceFile, mistakes_are_refused_with_their_place) {
  const std::string head = "id = 'x'\nname = 'X'\nkind = 'cpu'\n";
  const auto refusal = [&](const std::string& rest) {
    const Error error = error_of([&] { parse_device(head + rest, "d.toml"); });
    EXPECT_EQ(error.exit_code(), ExitCode::refused);
    return error.line();
  };
  EXPECT_EQ(refusal("[[peak]]\npath = 'p'\ndtype = 'bf61'\nflops_per_s = 1.0\nsource = ''\n")
                .substr(0, 38),
            "d.toml:6:9: 'bf61' is no data type; di");
  EXPECT_TRUE(refusal("[[bandwidth]]\nlevel = 'l4'\n").starts_with("d.toml:5:9: key 'level'"));
  EXPECT_TRUE(refusal("clock_mhz = 3\n").starts_with("d.toml:4:1: unknown key 'clock_mhz'"));
  EXPECT_TRUE(
      refusal("[[peak]]\npath = 'p'\ndtype = 'f32'\nflops_per_s = 0\n").starts_with("d.toml:7:15"));
}

TEST(DeviceFile, every_shipped_file_is_read_and_says_where_its_figures_are_from) {
  const std::vector<Device> devices = known_devices({test::in_source("/configs/devices")});
  EXPECT_GE(devices.size(), 10u);
  std::set<std::string> ids;
  for (const Device& d : devices) {
    EXPECT_TRUE(ids.insert(d.id).second) << d.id;
    EXPECT_EQ(d.peaks.empty(), d.kind == "qpu-sim") << d.id << ": a simulated one has no peaks";
    for (const Peak& p : d.peaks) EXPECT_FALSE(p.source.empty()) << d.id << ' ' << p.path;
    for (const Bandwidth& b : d.bandwidths) EXPECT_FALSE(b.source.empty()) << d.id;
    EXPECT_EQ(device_text(parse_device(device_text(d), d.id)), device_text(d));
  }
  EXPECT_TRUE(std::ranges::is_sorted(devices, {}, &Device::id));
}

TEST(DeviceFile, a_folder_that_is_absent_has_no_devices) {
  EXPECT_TRUE(known_devices({"/nonexistent"}).empty());
}

}  // namespace
}  // namespace halmark
