// What commands print of devices, backends and engines: every cell by hand.
#include <gmock/gmock.h>

#include "report/views/backend_views.hpp"
#include "report/views/device_views.hpp"
#include "report/views/engine_views.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::report {
namespace {

using test::has_all;
using test::has_lines;
using test::HasValues;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two, so that what both share is told once; all columns that are left are texts or differ.
Device known(const char* id) {
  Device d{.id = id, .name = std::string("The ") + id, .kind = "gpu"};
  d.memory_bytes = 80'000'000'000;
  d.peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = 1e15},
             {.path = "s8_matrix", .dtype = Dtype::s8, .flops_per_s = 2e15}};
  d.bandwidths = {{.level = "l2", .bytes_per_s = 9e12}, {.level = "memory", .bytes_per_s = 3e12}};
  d.links = {{.name = "link", .bytes_per_s = 450e9}};
  d.power_w = 700;
  return d;
}

std::string known_text(const Device& device) {
  const Device other{.id = "none", .name = "Nothing known", .kind = "npu"};
  return known_devices_view(std::vector{device, other}).text;
}

TEST(KnownDevices, are_a_row_each_with_a_dash_for_what_nobody_stated) {
  const std::string text = known_text(known("a"));
  EXPECT_THAT(text, has_all({"The a", "gpu", "80 GB", "3.00 TB/s", "450 GB/s", "700 W",
                             "bf16_matrix 1000 TFLOP/s, s8_matrix 2000 TOP/s"}));
  const std::string row = text.substr(text.find("none  "));
  EXPECT_THAT(row, testing::ContainsRegex("npu +- +- +- +- +-"));
  EXPECT_THAT(text, Not(HasSubstr("9.00 TB/s"))) << "of the cache";
}

TEST(KnownDevices, ranges_have_both_ends_and_derived_figures_say_so) {
  Device d = known("a");
  d.memory_bytes_high = 96'000'000'000;
  d.power_w_high = 750;
  d.peaks[0].is_derived = true;
  d.bandwidths[1].bytes_per_s_high = 3.5e12;
  d.links[0].bytes_per_s_high = 450e9;
  d.links[0].domain_devices = 8;
  const std::string text = known_text(d);
  EXPECT_THAT(text, has_all({"80 to 96 GB", "700 to 750 W", "bf16_matrix 1000 TFLOP/s (derived)",
                             "3.00 TB/s to 3.50 TB/s", "450 GB/s x 8"}));
  EXPECT_THAT(text, Not(HasSubstr("450 GB/s to"))) << "one end is no range";
}

TEST(KnownDevices, the_document_has_every_figure_or_null) {
  Device d = known("a");
  d.peaks[0].rule = PeakRule{.units = 100, .fma_per_cycle = 64, .clock_hz = 1e9};
  d.peaks[0].flops_per_s_high = 1.2e15;
  d.links[0].domain_devices = 8;
  d.links[0].reduces_in_switch = true;
  const Json data = known_devices_view(std::vector{d, Device{.id = "b"}}).data["known"];
  EXPECT_THAT(data, HasValues(R"({"/0/memory_bytes": 80000000000, "/0/power_w": 700,
      "/0/power_w_high": null, "/0/memory_bytes_high": null})"));
  EXPECT_THAT(data, HasValues(R"({"/0/peaks/0/rule/units": 100, "/0/peaks/0/rule/fma_per_cycle": 64,
      "/0/peaks/0/flops_per_s_high": 1.2e15,
      "/0/bandwidths/1/bytes_per_s_high": null, "/0/links/0/domain": 8, "/0/links/0/in_switch_reduction": true,
      "/1/memory_bytes": null})"));
  EXPECT_FALSE(data[0]["peaks"][1].contains("rule"));
  EXPECT_EQ(data[0]["bandwidths"].size(), 2u);
  EXPECT_TRUE(data[1]["peaks"].empty());
}

Device measured() {
  Device d{.id = "cpu:0", .name = "A processor"};
  d.peaks = {{.path = "f32_vector",
              .dtype = Dtype::f32,
              .isa = "avx2",
              .threads = 2,
              .flops_per_s = 8e10}};
  d.peaks[0].occasions = {{"2026-11-21T10:00:00Z", 100, 6e10, {8.2e10, 8.1e10, 8e10}},
                          {"2026-11-22T10:00:00Z", 50, 7e10, {7.5e10}}};
  d.bandwidths = {{.level = "memory",
                   .threads = 2,
                   .bytes_per_s = 2e10,
                   .working_set_bytes = 256 << 20,
                   .access = "read"}};
  d.bandwidths[0].occasions = {{"", 30, 1.9e10, {2e10}}};
  d.bandwidths[0].is_provisional = true;
  return d;
}

TEST(MeasuredDevice, shows_the_best_the_span_of_medians_and_how_often_it_was_seen) {
  const std::string text = measured_device_view(measured(), {}).text;
  EXPECT_THAT(text, testing::StartsWith("A processor\n\npath"));
  EXPECT_THAT(text, has_lines({"f32_vector +avx2 +2 +80.0 GFLOP/s +60.0 GFLOP/s .. "
                               "70.0 GFLOP/s +2, 150 probes +-\n",
                               "memory +2 +read +20.0 GB/s +19.0 GB/s +1, 30 probes, "
                               "provisional +256 MiB\n"}));
  EXPECT_THAT(text, HasSubstr("the third-highest probe of at least two occasions"));
  EXPECT_THAT(text, test::has_none({"at most", "ring"}));
}

TEST(MeasuredDevice, without_occasions_or_access_has_dashes) {
  Device d = measured();
  d.peaks[0].occasions.clear();
  d.bandwidths[0].occasions.clear();
  d.bandwidths[0].access.clear();
  const std::string text = measured_device_view(d, {}).text;
  EXPECT_THAT(text,
              has_lines({"80.0 GFLOP/s +- +- +-\n", "memory +2 +- +20.0 GB/s +- +- +256 MiB\n"}));
}

TEST(MeasuredDevice, tells_upper_ends_notes_and_its_ring) {
  Device d = measured();
  d.peaks[0].flops_per_s_high = 1e11;
  d.bandwidths[0].bytes_per_s_high = 3e10;
  d.notes = {"the cache: no probe"};
  d.ring_plateau_bytes = 64 << 20;
  const std::string text = measured_device_view(d, {}).text;
  EXPECT_THAT(text, has_all({"\nat most, by the datasheet at the highest clock of the driver: "
                             "f32_vector 100 GFLOP/s, memory 30.0 GB/s\n",
                             "\nno figure of the cache: no probe\n",
                             "\nconstants are cold from a ring of 64.0 MiB\n"}));
  const Json data = measured_device_view(d, {}).data;
  EXPECT_EQ(data["ring_plateau_bytes"], 64 << 20);
  EXPECT_THAT(data, HasValues(R"({"/peaks/0/occasions/0/probes": 100,
      "/bandwidths/0/provisional": true})"));
  EXPECT_FALSE(data["bandwidths"][0]["occasions"][0].contains("utc")) << "not recorded";
}

// By path; else by type, but not for a peak of the whole device.
TEST(MeasuredDevice, is_set_against_the_path_or_the_type_of_its_datasheet) {
  Device sheet{.id = "s"};
  sheet.peaks = {{.path = "vector", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1.6e11}};
  EXPECT_THAT(measured_device_view(measured(), sheet).text, HasSubstr(" 50.0 %\n"));
  Device whole = measured();
  whole.peaks[0].threads = 0;
  EXPECT_THAT(measured_device_view(whole, sheet).text, Not(HasSubstr(" %\n")));
  sheet.peaks.push_back({.path = "f32_vector", .dtype = Dtype::f32, .flops_per_s = 1e11});
  EXPECT_THAT(measured_device_view(whole, sheet).text, HasSubstr(" 80.0 %\n"));
}

BackendTime time_of(const char* backend, std::optional<double> ns, double low, double high) {
  BackendTime out{.backend = backend, .variant = "default", .point = {}};
  out.point.duration_ns = ns;
  if (ns) out.point.low_ns = low, out.point.high_ns = high;
  if (!ns) out.point.reason = "no kernel", out.point.status = Status::unsupported;
  return out;
}

TEST(BackendViews, the_fastest_wins_and_those_whose_interval_it_touches_are_tied) {
  const BackendComparison c =
      compared("gemm m=1", "f32",
               {time_of("slow", 300, 290, 310), time_of("near", 110, 105, 120),
                time_of("none", {}, 0, 0), time_of("fast", 100, 95, 105)});
  std::vector<std::string> order;
  for (const BackendTime& t : c.times) {
    order.push_back(t.backend + (t.is_winner ? " winner" : "") + (t.is_tied ? " tied" : ""));
  }
  EXPECT_THAT(order, ElementsAre("fast winner tied", "near tied", "slow", "none"));
  const View view = backends_view(std::vector{c});
  EXPECT_THAT(view.text, testing::StartsWith("gemm m=1\n"));
  EXPECT_THAT(view.text, has_lines({"fast .* 100 ns +95.0 ns .. 105 ns +1 x .* tied ",
                                    "near .* 110 ns +105 ns .. 120 ns +1.1 x .* tied ",
                                    "slow .* 3 x ", "none .* - +- +- .*unsupported: no kernel"}));
  EXPECT_THAT(view.data, HasValues(R"({"/tied": 1, "/without_a_time": 0, "/wins/fast": 0})"));
}

TEST(BackendViews, problems_are_counted_by_who_won_them_alone) {
  auto won = compared("gemm m=1", "f32", {time_of("a", 100, 95, 105), time_of("b", 300, 290, 310)});
  won.notes = {"b is new"};
  const auto tied =
      compared("gemm m=2", "f32", {time_of("a", 100, 95, 105), time_of("b", 101, 99, 110)});
  const auto none = compared("gemm m=3", "f32", {time_of("a", {}, 0, 0), time_of("b", {}, 0, 0)});
  const View view = backends_view(std::vector{won, tied, none, won});
  EXPECT_THAT(view.text, testing::ContainsRegex("a .* 1 x .* wins "));
  EXPECT_THAT(view.text, has_all({"\n  b is new\n",
                                  "4 problems: a wins 2, b wins 0, 1 cannot be told apart, 1 "
                                  "without a time\n"}));
  EXPECT_THAT(view.data, HasValues(R"({"/wins/a": 2, "/tied": 1, "/without_a_time": 1})"));
  EXPECT_FALSE(view.data.contains("what_if"));
  EXPECT_THAT(backends_view(std::vector{won}).text, testing::EndsWith("0 cannot be told apart\n"));
}

TEST(BackendViews, a_variant_that_is_not_the_usual_one_is_named) {
  auto c = compared("gemm m=1", "f32", {time_of("a", 100, 95, 105)});
  c.times[0].variant = "tile=4";
  EXPECT_THAT(backends_view(std::vector{c}).text, HasSubstr("\na tile=4 "));
}

EngineStep step() {
  return {.engine = "llamacpp",
          .engine_version = "b5163",
          .model = "its name",
          .phase = "decode",
          .batch = 2,
          .output_tokens = 128,
          .step_ns = 8.41e6,
          .samples = 5,
          .how = "tg128"};
}

TEST(EngineViews, a_step_is_a_line_of_what_is_known) {
  EngineStep s = step();
  EXPECT_EQ(engine_step_text(s), "decode, batch 2, 128 generated: 8.41 ms, -");
  s.deviation_ns = 74300;
  s.cached_tokens = 64;
  EXPECT_EQ(engine_step_text(s),
            "decode, batch 2, 128 generated behind 64: 8.41 ms, deviation 74.3 us");
  s.deviation_ns.reset();
  s.least_ns = 8e6;
  EXPECT_THAT(engine_step_text(s), testing::EndsWith("8.41 ms, -"));
  s.most_ns = 9e6;
  s.input_tokens = 512;
  s.cached_tokens = 0;
  s.batch = 0;
  EXPECT_EQ(engine_step_text(s),
            "decode, batch -, 512 prompt + 128 generated: 8.41 ms, 8.00..9.00 ms");
  s.output_tokens = 0;
  EXPECT_THAT(engine_step_text(s), HasSubstr(", 512 prompt: "));
  s.input_tokens = 0;
  EXPECT_THAT(engine_step_text(s), HasSubstr(", -: "));
}

TEST(EngineViews, imports_are_numbered_and_say_where_they_are_from) {
  EXPECT_EQ(engine_steps_view({}).text, "no steps of engines are stored\n");
  EngineStep second = step(), third = step();
  second.model_id = "qwen3";
  third.phase = "prefill";
  third.how = "pp512";
  const std::vector<EngineImport> imports = {
      {"llama-bench",
       "r.json",
       "0123456789abcdef",
       "2026-11-21T10:00:00Z",
       {step(), second, third}},
      {"llama-bench", "empty.json", "00", "2026-11-21T10:00:00Z", {}},
      {"deploy-check", "d.json", "fedcba9876543210", "2026-11-22T10:00:00Z", {step()}}};
  const View view = engine_steps_view(imports);
  EXPECT_THAT(view.text, HasSubstr("\n1: imported from llama-bench, r.json (sha256 0123456789ab), "
                                   "b5163; 2026-11-21T10:00:00Z\n   decode: tg128\n   prefill: "
                                   "pp512\n3: measured by deploy-check, d.json (sha256 "
                                   "fedcba987654), b5163; 2026-11-22T10:00:00Z\n   decode: "
                                   "tg128\n"));
  EXPECT_THAT(view.text, has_lines({"llamacpp +its name +decode +2 +128 generated "
                                    "+8.41 ms +- +5 +- +- +1\n",
                                    "llamacpp +qwen3 +decode"}));
  EXPECT_EQ(view.data["imports"].size(), 3u);
  EngineStep unknown = step();
  unknown.engine_version.clear();
  EXPECT_THAT(origin_text(imports[0], unknown), testing::EndsWith("), version not stated"));
}

}  // namespace
}  // namespace halmark::report
