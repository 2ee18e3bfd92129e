// Values that databases keep, written and read back with every field set to something of its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "core/chosen/serving.hpp"
#include "core/chosen/table_use.hpp"
#include "core/chosen/winner.hpp"
#include "core/json/json.hpp"
#include "core/json/table_use_json.hpp"
#include "core/measured/duet.hpp"
#include "core/measured/engine_step.hpp"
#include "tests/unit/full_values.hpp"

namespace halmark {
namespace {

// Every value of a document of which the reader takes note: each is changed in turn, and what is
// written then has to have the change.
template <class Value>
void expect_every_field_comes_back(const Value& full) {
  const Json written = full;
  EXPECT_EQ(dump_json(Json(written.get<Value>())), dump_json(written));
  const Json flat = written.flatten();
  for (const auto& [path, value] : flat.items()) {
    Json other = written;
    Json& field = other[Json::json_pointer(path)];
    if (value.is_boolean()) field = !value.template get<bool>();
    if (value.is_number_integer()) field = value.template get<std::int64_t>() + 1;
    if (value.is_number_float()) field = value.template get<double>() + 0.5;
    if (field == value) continue;  // names: other tests read them
    EXPECT_EQ(dump_json(Json(other.get<Value>())), dump_json(other)) << path;
  }
}

EngineStep full_step() {
  return {.engine = "llamacpp",
          .engine_version = "b5163",
          .model = "qwen3 0.6B Q8_0",
          .model_id = "qwen3-0.6b",
          .precision = "Q8_0",
          .device = "cpu",
          .phase = "decode",
          .batch = 4,
          .input_tokens = 512,
          .output_tokens = 128,
          .cached_tokens = 64,
          .step_ns = 1.5e6,
          .deviation_ns = 2.5e4,
          .least_ns = 1.25e6,
          .most_ns = 1.75e6,
          .samples = 5,
          .how = "tokens after the prompt"};
}

TEST(StoredValues, a_step_of_an_engine_reads_back_whole) {
  const EngineStep step = full_step();
  EXPECT_EQ(Json(step).get<EngineStep>(), step);
  expect_every_field_comes_back(step);
  EngineStep bare = step;
  bare.deviation_ns = bare.least_ns = bare.most_ns = std::nullopt;
  EXPECT_EQ(Json(bare).get<EngineStep>(), bare);
}

TEST(StoredValues, an_imported_file_of_an_engine_reads_back_whole) {
  const EngineImport import{.tool = "llama-bench",
                            .file = "bench.json",
                            .file_sha256 = "00ff",
                            .imported_utc = "2026-01-02T03:04:05Z",
                            .steps = {full_step(), {}}};
  expect_every_field_comes_back(import);
  const auto back = Json(import).get<EngineImport>();
  EXPECT_EQ(back.tool + back.file + back.file_sha256 + back.imported_utc,
            "llama-benchbench.json00ff2026-01-02T03:04:05Z");
  ASSERT_EQ(back.steps.size(), 2u);
  EXPECT_EQ(back.steps[0], import.steps[0]);
}

TEST(StoredValues, a_device_reads_back_whole) {
  Device d{.id = "x", .name = "X", .kind = "gpu", .fingerprint = "f", .memory_bytes = 1 << 30};
  d.peaks = {{.path = "bf16_matrix",
              .dtype = Dtype::bf16,
              .isa = "amx",
              .threads = 2,
              .flops_per_s = 1e12,
              .flops_per_s_q90 = 9e11,
              .flops_per_s_high = 2e12,
              .source = "s",
              .confidence = Confidence::low,
              .rule = PeakRule{.units = 2, .fma_per_cycle = 3, .clock_hz = 4e9},
              .occasions = {{.utc = "2026-01-02T03:04:05Z",
                             .probes = 5,
                             .median = 6,
                             .highest = {8, 7},
                             .is_busy = true}},
              .is_provisional = true}};
  d.bandwidths = {{.level = "memory",
                   .threads = 2,
                   .bytes_per_s = 1e11,
                   .working_set_bytes = 1 << 20,
                   .access = "read",
                   .source = "t",
                   .bytes_per_s_high = 2e11,
                   .confidence = Confidence::high}};
  d.ring_plateau_bytes = 1 << 22;
  d.clock_hz = 2e9;
  d.power_w = 300;
  d.usd_per_hour = 1.5;
  d.aliases = {"y"};
  d.devices_in_part = 2;
  d.memory_bytes_high = std::int64_t{1} << 31;
  d.power_w_high = 350;
  d.memory_confidence = Confidence::medium;
  d.links = {{.name = "l", .bytes_per_s = 1e10, .domain_devices = 8, .reduces_in_switch = true}};
  d.notes = {"n"};
  expect_every_field_comes_back(d);
  expect_every_field_comes_back(Device{.id = "y"});
  d.peaks[0].is_derived = true;  // left out where it is not
  EXPECT_TRUE(Json(d).get<Device>().peaks[0].is_derived);
}

TEST(StoredValues, a_stack_reads_back_whole) {
  Stack stack{.instances = {1, 2}, .steps = {{0, 1, "q_proj", "decoder"}}};
  stack.members = {{3, {0, 2}}};
  stack.place = ShardPlace{.backend = "cpu", .device = "0"};
  expect_every_field_comes_back(stack);
  Json other = stack;
  other["members"] = {{"three", {0}}};
  EXPECT_THROW(other.get<Stack>(), std::invalid_argument) << "ranks by the number of a kernel";
}

TEST(StoredValues, a_duet_reads_back_whole_and_an_unknown_status_is_none) {
  const Duet duet{.kernel_case = test::full_case(),
                  .plugin_name = "cpu",
                  .old_build = "a",
                  .new_build = "b",
                  .log_ratios = {0.125, -0.25},
                  .choosing_pairs = 1,
                  .old_ns = 1000.5,
                  .new_ns = 1100.5,
                  .status = Status::suspect,
                  .reason = "noisy"};
  expect_every_field_comes_back(duet);
  const auto back = Json(duet).get<Duet>();
  EXPECT_EQ(back.kernel_case, duet.kernel_case);
  EXPECT_EQ(back.plugin_name + back.old_build + back.new_build + back.reason, "cpuabnoisy");
  EXPECT_EQ(back.status, Status::suspect);
  Json unknown = duet;
  unknown["status"] = "fine";
  EXPECT_ANY_THROW(unknown.get<Duet>());
}

TEST(StoredValues, a_winner_reads_back_whole_and_an_unknown_status_is_none) {
  const Variant chosen{"gemm_packed", {{{"threads", 2}}, {}}, true};
  const Winner winner{.question = test::full_case(),
                      .plugin_name = "cpu",
                      .plugin_hash = "00ff",
                      .variants = {{.variant = chosen,
                                    .implementation = "brg",
                                    .ns = 10.5,
                                    .interval_ns = {9.5, 11.5},
                                    .rounds = 3,
                                    .status = Status::suspect,
                                    .reason = "noisy",
                                    .is_tied = true},
                                   {.variant = {"gemm_plain", {}, false}, .ns = 20.5}},
                      .chosen = chosen,
                      .status = Status::suspect,
                      .reason = "noisy as well"};
  expect_every_field_comes_back(winner);
  const auto back = Json(winner).get<Winner>();
  EXPECT_EQ(back.question, winner.question);
  EXPECT_EQ(back.chosen, chosen);
  EXPECT_EQ(back.variants.at(0).variant, chosen);
  EXPECT_EQ(back.variants.at(0).implementation, "brg");
  EXPECT_EQ(back.tied(), 1u);
  EXPECT_EQ(back.plugin_name + back.plugin_hash + back.reason, "cpu00ffnoisy as well");
  for (const char* at : {"/status", "/variants/0/status"}) {
    Json unknown = winner;
    unknown[Json::json_pointer(at)] = "fine";
    EXPECT_ANY_THROW(unknown.get<Winner>()) << at;
  }
}

TEST(StoredValues, measured_memory_reads_back_whole_and_has_a_rank) {
  const MeasuredMemory memory{
      {{.rank = 1,
        .roles = {{.role = "weights",
                   .modelled_bytes = 10,
                   .allocated_bytes = 12,
                   .causes = {{.name = "alignment", .bytes = 2}}}},
        .beside_bytes = 3,
        .set_size = ProportionalSet{.baseline_bytes = 4, .grown_bytes = 5, .expected_bytes = 6},
        .set_size_reason = "as read"},
       {.rank = 2, .set_size = {}, .set_size_reason = "no smaps"}}};
  expect_every_field_comes_back(memory);
  const auto back = Json(memory).get<MeasuredMemory>();
  EXPECT_FALSE(back.ranks.at(1).set_size);
  EXPECT_EQ(back.ranks.at(1).set_size_reason, "no smaps");
  EXPECT_EQ(back.ranks.at(0).roles.at(0).role, "weights");
  EXPECT_EQ(back.ranks.at(0).roles.at(0).causes.at(0).name, "alignment");
  EXPECT_ANY_THROW(Json(MeasuredMemory{}).get<MeasuredMemory>());
}

TEST(StoredValues, what_became_of_a_table_is_said_series_by_series) {
  TableUse use{.name = "t.csv",
               .file = "a/t.csv",
               .device = "h100",
               .rows = 7,
               .skipped = {{"no layout", 2}},
               .passed_over = {},
               .series = {{.name = "gemm bf16", .points = 5, .exact = 3, .interpolated = 2}}};
  EXPECT_EQ(Json(use),
            Json::parse(R"({"name": "t.csv", "file": "a/t.csv", "device": "h100", "rows": 7,
              "skipped": {"no layout": 2}, "is_passed_over": false,
              "series": [{"name": "gemm bf16", "points": 5, "kernels": 3,
                          "kernels_interpolated": 2, "passed_over": 0}]})"));
  use.passed_over = "of another device";
  use.series[0].passed_over = 1;
  use.series[0].reason = "below the bound";
  EXPECT_EQ(Json(use).at("is_passed_over"), true);
  EXPECT_EQ(Json(use).at("passed_over_reason"), "of another device");
  EXPECT_EQ(Json(use).at("series").at(0).at("passed_over_reason"), "below the bound");
}

TEST(StoredValues, quarantined_times_have_an_example_where_there_are_some) {
  EXPECT_EQ(Json(QuarantinedTimes{.asked = 4}),
            Json::parse(R"({"kernels": 0, "of": 4, "example": null})"));
  const QuarantinedTimes times{.kernels = 1,
                               .asked = 4,
                               .problem = "gemm m=1",
                               .source = "t.csv:2",
                               .ns = 5,
                               .lower_bound_ns = 50,
                               .reason = "too fast; t.csv:2"};
  EXPECT_EQ(Json(times), Json::parse(R"({"kernels": 1, "of": 4, "example": {"problem": "gemm m=1",
    "time_ns": 5.0, "lower_bound_ns": 50.0, "source": "t.csv:2", "reason": "too fast; t.csv:2"}})"));
  EXPECT_THAT(lines_of(times), testing::ElementsAre(testing::StartsWith("1 of 4 kernels"),
                                                    "gemm m=1", "too fast", "t.csv:2"));
}

// Standard normal law: 5 %, 50 %, 95 % at the ends and the middle; at half of the way up one
// standard deviation less: Phi(1.6449 / 2) = 0.7946.
TEST(ProbabilityAtMost, is_normal_in_the_logarithm_on_each_side) {
  EXPECT_NEAR(probability_at_most(100, 100, 50, 400), 0.5, 1e-12);
  EXPECT_NEAR(probability_at_most(50, 100, 50, 400), 0.05, 1e-9);
  EXPECT_NEAR(probability_at_most(400, 100, 50, 400), 0.95, 1e-9);
  EXPECT_NEAR(probability_at_most(200, 100, 50, 400), 0.7946, 1e-4);
  EXPECT_NEAR(probability_at_most(100 / std::sqrt(2), 100, 50, 400), 1 - 0.7946, 1e-4);
}

TEST(ProbabilityAtMost, without_an_interval_it_is_none_or_all) {
  EXPECT_EQ(probability_at_most(101, 100, 100, 100), 1);
  EXPECT_EQ(probability_at_most(100, 100, 100, 100), 1);
  EXPECT_EQ(probability_at_most(99, 100, 100, 100), 0);
  EXPECT_EQ(probability_at_most(0, 100, 50, 200), 0);
  EXPECT_EQ(probability_at_most(-1, 0, 0, 0), 0);
  EXPECT_EQ(probability_at_most(0.5, 0, 0, 0), 1) << "no time keeps every limit";
  EXPECT_EQ(probability_at_most(99, 100, 0, 200), 0) << "an end that is no figure";
  // Units do not matter.
  EXPECT_NEAR(probability_at_most(2e-3, 1e-3, 5e-4, 4e-3), 0.7946, 1e-4);
}

}  // namespace
}  // namespace halmark
