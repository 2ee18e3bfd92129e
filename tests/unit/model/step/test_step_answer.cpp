// The time of a step and its shares, against sums of the graph.
#include "core/json/json.hpp"
#include "model/step/step_answer.hpp"

#include "fixtures.hpp"
#include "model/step/reference_json.hpp"
#include "model/step/step_json.hpp"

namespace halmark::model_test {
namespace {

Device device() {
  Device out{.id = "d", .memory_bytes = 1'000'000};
  out.peaks = {{.path = "bf16", .dtype = Dtype::bf16, .flops_per_s = 1e12}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = 1e9}};
  return out;
}

PricedStep step_of(const Configuration& configuration, std::optional<double> measured_ms = {}) {
  StepQuestion question;
  question.measured_ms = measured_ms;
  return price_step(tiny(), configuration, device(), question);
}

TEST(StepAnswer, the_floor_is_the_sum_of_the_operators_floors_and_utilisation_has_the_same) {
  const PricedStep step = step_of(decode(2, 64), 5);
  double sum = 0;
  for (const Operator& op : step.graph.operators) {
    sum += operator_floor(step, op)->ns * static_cast<double>(op.count);
  }
  const StepAnswer answer = answer_of(step);
  EXPECT_NEAR(*answer.floor_ns / sum, 1, 1e-12);
  EXPECT_NEAR(*utilisation_of(step).roofline * 5e6 / sum, 1, 1e-12);
}

TEST(Shares, add_up_over_operators_and_over_layers) {
  for (const Configuration& c :
       {decode(2, 64), prefill(2, 16, 16), decode(4, 64, {.pp = 2}), training(4, 16)}) {
    for (const std::optional<double> ms : {std::optional<double>(), std::optional<double>(7)}) {
      const StepAnswer answer = answer_of(step_of(c, ms));
      double flops = 0, time = 0, ns = 0;
      for (const StepShare& s : answer.operators) {
        flops += s.flops;
        time += *s.time;
        ns += *s.ns;
      }
      EXPECT_NEAR(flops, 1, 1e-12);
      EXPECT_NEAR(time, 1, 1e-12);
      EXPECT_NEAR(ns / (ms ? 7e6 : *answer.floor_ns), 1, 1e-12);
      double layer_time = 0, layer_flops = 0;
      for (const LayerShare& layer : answer.layers) {
        layer_time += *layer.share.time;
        layer_flops += layer.share.flops;
      }
      EXPECT_NEAR(layer_time, 1, 1e-12);
      EXPECT_NEAR(layer_flops, 1, 1e-12);
    }
  }
}

TEST(StepAnswer, one_layer_takes_its_part_of_all_layers) {
  const StepAnswer answer = answer_of(step_of(decode(2, 64)));
  const auto decoder = std::ranges::find(answer.layers, "decoder", &LayerShare::layer_type);
  ASSERT_NE(decoder, answer.layers.end());
  EXPECT_EQ(decoder->layers, 4);
  EXPECT_NEAR(*decoder->share.ns_each * 4 / *decoder->share.ns, 1, 1e-12);
}

// A half of the layers on each of two stages, the head on the last.
TEST(StepAnswer, a_pipeline_s_floor_is_that_of_its_busiest_stage) {
  const PricedStep step = step_of(decode(4, 64, {.pp = 2}));
  const StepAnswer answer = answer_of(step);
  EXPECT_EQ(answer.stage, 1u);
  for (std::size_t i = 0; i < step.graph.operators.size(); ++i) {
    if (step.graph.operators[i].layer_type == "embedding") {
      EXPECT_EQ(*answer.operators[i].ns, 0);
      EXPECT_FALSE(answer.operators[i].ns_each) << "it is not executed there";
    }
  }
}

TEST(StepAnswer, without_a_device_there_is_a_reason_and_no_figure) {
  const StepAnswer answer = answer_of(price_step(tiny(), decode(2, 64), std::nullopt, {}));
  EXPECT_EQ(answer.source, TimeSource::none);
  EXPECT_FALSE(answer.ns);
  EXPECT_EQ(answer.reason, "no device named (--device)");
  EXPECT_FALSE(answer.mfu);
  EXPECT_FALSE(answer.bottleneck);
  for (const StepShare& share : answer.operators) EXPECT_FALSE(share.time);
}

TEST(StepAnswer, a_device_that_lacks_a_figure_is_named_with_the_operator) {
  Device bare{.id = "bare"};
  const StepAnswer answer = answer_of(price_step(tiny(), decode(2, 64), bare, {}));
  says(answer.floor_reason, "bare states no peak or bandwidth");
}

// Keys of the tool's format_json; values are ours.
TEST(ReferenceJson, has_the_keys_of_the_tool_in_their_order) {
  const Json data = reference_json(step_of(decode(2, 64), 5));
  std::vector<std::string> keys;
  for (const auto& [key, value] : data.items()) keys.push_back(key);
  EXPECT_THAT(
      keys, ElementsAre("model", "config_source", "batch_size", "seq_len", "tp", "dp", "ep", "gpu",
                        "dtype", "total_flops", "embed_flops", "layer_template", "num_layers",
                        "measured_ms", "mfu_pct", "per_layer_mfu_pct", "per_op_mfu", "model_arch"));
  EXPECT_EQ(data["num_layers"], 4);
  EXPECT_EQ(data["measured_ms"], 5);
  for (const char* key : {"name", "flops", "shape_in", "shape_out", "category"}) {
    EXPECT_TRUE(data["layer_template"][0].contains(key)) << key;
  }
  // Products of 4 layers and the head: 2 x 2 tokens x 8 x 32.
  EXPECT_EQ(data["embed_flops"], 2 * 2 * 8 * 32);
  EXPECT_EQ(data["total_flops"].get<double>(), step_of(decode(2, 64)).graph.totals.matmul_flops);
  EXPECT_TRUE(data["per_layer_mfu_pct"].is_null());
}

TEST(ReferenceJson, sorts_operators_into_the_tool_s_categories) {
  const Json data = reference_json(step_of(decode(2, 64), 5));
  std::map<std::string, std::string> categories;
  for (const Json& op : data["layer_template"]) categories[op["name"]] = op["category"];
  EXPECT_EQ(categories.at("q_proj"), "attention");
  EXPECT_EQ(categories.at("attention"), "attention");
  EXPECT_EQ(categories.at("gate_up_proj"), "ffn");
  EXPECT_EQ(categories.at("down_proj"), "ffn");
  EXPECT_EQ(categories.at("input_norm"), "norm");
}

}  // namespace
}  // namespace halmark::model_test
