// The least device against the closed forms of a dense decoder.
#include "core/numeric/cast.hpp"
#include "tests/unit/expect.hpp"
#include "tune/sizing/device_floor.hpp"

#include <gmock/gmock.h>

#include "core/text/error.hpp"
#include "model/spec/model_spec.hpp"
#include "plan/precision.hpp"
#include "tests/checkout.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {
namespace {

using halmark::test::expect_error;

const std::filesystem::path models =
    std::filesystem::path(halmark::test::in_source()) / "configs/models";

// Llama 3.1 8B: 32 layers, hidden 4096, 32 heads of 128 with 8 of keys and values, intermediate
// 14336, vocabulary 128256 (its config.json).
constexpr double layers = 32, hidden = 4096, heads = 32, kv_heads = 8, head_dim = 128,
                 intermediate = 14336, vocabulary = 128256;
constexpr double layer_weights = hidden * (heads + 2 * kv_heads) * head_dim +
                                 heads * head_dim * hidden + 3 * hidden * intermediate;

DeviceFloor floor_of(const FloorQuestion& question) {
  const ModelSpec spec = load_model("llama-3.1-8b", {models});
  return device_floor(spec, precision_of("bf16", precision_facts(spec, true)), question);
}

double alone(const DeviceFloor& floor, Ceiling ceiling) { return floor.alone[as_size(ceiling)]; }

// Every weight and every cached key and value is read once per token.
TEST(DeviceFloor, decode_needs_the_bandwidth_of_its_bytes) {
  const FloorQuestion question{.request = {.input_tokens = 4096, .output_tokens = 256},
                               .levels = {{.objective = Objective::tpot, .limit = 10e6}}};
  const DeviceFloor floor = floor_of(question);
  const double weights = 2 * (layers * layer_weights + vocabulary * hidden);
  const double cache = 2 * layers * 2 * kv_heads * head_dim * (4096 + 128);
  // Activations of one token are below a thousandth of it.
  EXPECT_NEAR(alone(floor, Ceiling::memory_bandwidth) / ((weights + cache) / 10e-3), 1, 0.01);
  EXPECT_EQ(floor.binding, Ceiling::memory_bandwidth);
  EXPECT_EQ(floor.set_by[1], Objective::tpot);
  EXPECT_EQ(alone(floor, Ceiling::link), 0) << "one device passes nothing on";
}

TEST(DeviceFloor, a_prompt_needs_the_rate_of_its_products) {
  constexpr double tokens = 4096;
  const FloorQuestion question{.request = {.input_tokens = 4096, .output_tokens = 2},
                               .levels = {{.objective = Objective::ttft, .limit = 200e6}}};
  const DeviceFloor floor = floor_of(question);
  const double products = 2 * (layers * layer_weights * tokens + vocabulary * hidden);
  const double attention = layers * 4 * heads * head_dim * tokens * (tokens + 1) / 2;
  EXPECT_NEAR(alone(floor, Ceiling::flops) / ((products + attention) / 200e-3), 1, 0.01);
  EXPECT_EQ(floor.binding, Ceiling::flops);
  EXPECT_EQ(floor.set_by[0], Objective::ttft);
}

TEST(DeviceFloor, half_the_time_needs_twice_the_rate_and_together_more_than_alone) {
  FloorQuestion question{.request = {.input_tokens = 1024, .output_tokens = 128},
                         .concurrency = 8,
                         .levels = {{.objective = Objective::ttft, .limit = 400e6},
                                    {.objective = Objective::tpot, .limit = 20e6}}};
  const DeviceFloor slow = floor_of(question);
  for (ServiceLevel& level : question.levels) level.limit /= 2;
  const DeviceFloor fast = floor_of(question);
  for (const Ceiling c : {Ceiling::flops, Ceiling::memory_bandwidth}) {
    EXPECT_NEAR(alone(fast, c) / alone(slow, c), 2, 1e-6);
  }
  EXPECT_GE(slow.factor, 1);
  EXPECT_LE(slow.factor, 2) << "the sum of two times is at most twice the larger";
  EXPECT_EQ(fast.memory_bytes, slow.memory_bytes);
  const double weights = 2 * (layers * layer_weights + 2 * vocabulary * hidden);
  EXPECT_GT(as_double(slow.memory_bytes), weights / 0.9);
}

TEST(DeviceFloor, two_devices_need_a_link) {
  const DeviceFloor floor = floor_of({.request = {.input_tokens = 1024, .output_tokens = 128},
                                      .tp = 2,
                                      .levels = {{.objective = Objective::tpot, .limit = 10e6}}});
  EXPECT_GT(alone(floor, Ceiling::link), 0);
}

TEST(DeviceFloor, refuses_levels_that_say_nothing_of_rates) {
  FloorQuestion question{.request = {.input_tokens = 16, .output_tokens = 16}, .levels = {}};
  expect_error([&] { (void)floor_of(question); }, "no level is stated");
  question.levels = {{.objective = Objective::cost, .limit = 1}};
  expect_error([&] { (void)floor_of(question); }, "says nothing of the rates");
}

}  // namespace
}  // namespace halmark::tune
