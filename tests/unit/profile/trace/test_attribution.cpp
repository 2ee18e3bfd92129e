// What counts, where and in which pass.
// Steps of a trace as kernels and a rest, and what is predicted of them: sums by hand.
#include <gmock/gmock.h>

#include "core/json/json.hpp"
#include "profile/comparison/step_prediction.hpp"
#include "profile/trace/stages.hpp"
#include "tests/unit/expect.hpp"
#include "trace_text.hpp"

namespace halmark::trace_test {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

constexpr const char* mm = "[[4, 8], [8, 16]]";
constexpr double mm_flops = 2. * 4 * 8 * 16;

TEST(Attribution, a_linear_and_the_product_inside_count_once) {
  const Read r = read_text(TraceText()
                               .op("aten::linear", 0, 10, "[[4, 8], [16, 8], []]")
                               .op("aten::t", 1, 1)
                               .op("aten::matmul", 2, 7, mm)
                               .op("aten::mm", 3, 5, mm)
                               .text());
  EXPECT_THAT(r.executed(), ElementsAre("aten::mm x1"));
  EXPECT_EQ(r.flops(), mm_flops);
}

TEST(Attribution, helpers_inside_a_product_belong_to_it_and_those_beside_it_do_not) {
  const Read r = read_text(TraceText()
                               .op("aten::matmul", 0, 20, "[[2, 4, 8], [2, 8, 16]]")
                               .op("aten::clone", 1, 4)
                               .op("aten::copy_", 2, 2)
                               .op("aten::bmm", 8, 8, "[[2, 4, 8], [2, 8, 16]]")
                               .op("aten::copy_", 9, 1)
                               .text());
  EXPECT_THAT(r.executed(), ElementsAre("aten::copy_ x1", "aten::bmm x1"));
}

TEST(Attribution, order_in_the_file_does_not_matter) {
  TraceText a, b;
  a.module("Linear_0", 0, 10)
      .op("aten::linear", 1, 8, "[[4, 8], [16, 8], []]")
      .op("aten::mm", 2, 5, mm);
  b.op("aten::mm", 2, 5, mm)
      .op("aten::linear", 1, 8, "[[4, 8], [16, 8], []]")
      .module("Linear_0", 0, 10);
  EXPECT_EQ(read_text(a.text()).executed(), read_text(b.text()).executed());
  EXPECT_EQ(read_text(b.text()).flops(), mm_flops);
}

TEST(Attribution, the_whole_chain_of_modules_names_an_operator_not_its_innermost_frame) {
  TraceText t;
  t.module("LlamaForCausalLM_0", 0, 100).module("LlamaModel_0", 1, 90);
  for (int layer = 0; layer < 2; ++layer) {
    const double at = 10 + 40 * layer;
    const auto number = [&](int n) { return std::to_string(7 * layer + n); };
    t.module("LlamaDecoderLayer_" + std::to_string(layer), at, 39);
    t.module("LlamaAttention_" + std::to_string(layer), at + 1, 18);
    for (int i = 0; i < 4; ++i) {
      t.module("Linear_" + number(i), at + 2 + 4 * i, 3);
      t.frame("torch/nn/modules/linear.py(110): forward", at + 2.1 + 4 * i, 2.8);
      t.op("aten::mm", at + 2.2 + 4 * i, 2, mm);
    }
    t.module("LlamaMLP_" + std::to_string(layer), at + 20, 18);
    for (int i = 4; i < 7; ++i) {
      t.module("Linear_" + number(i), at + 21 + 4 * (i - 4), 3);
      t.op("aten::mm", at + 21.2 + 4 * (i - 4), 2, mm);
    }
  }
  t.module("Linear_14", 95, 3).op("aten::mm", 95.5, 1, mm);
  std::vector<std::string> expected;
  for (const std::string layer : {"0", "1"}) {
    for (const char* name : {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj",
                             "self_attn.o_proj", "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"}) {
      expected.push_back("model.layers." + layer + '.' + name + " aten::mm x1");
    }
  }
  expected.push_back("lm_head aten::mm x1");
  const Read r = read_text(t.text());
  EXPECT_EQ(r.executed(), expected);
  EXPECT_EQ(r.attribution.scopes[r.attribution.rows[8].scope].layer, 1);
}

TEST(Attribution, a_path_that_the_model_annotates_is_taken_as_it_is) {
  const Read r = read_text(TraceText()
                               .annotation("model.layers.3", 0, 20)
                               .annotation("model.layers.3.mlp.down_proj", 1, 10)
                               .op("aten::mm", 2, 5, mm)
                               .text());
  EXPECT_THAT(r.executed(), ElementsAre("model.layers.3.mlp.down_proj aten::mm x1"));
  EXPECT_EQ(r.attribution.scopes[r.row("aten::mm").scope].layer, 3);
}

TEST(Attribution, names_do_not_decide_by_keyword) {
  EXPECT_EQ(kind_of_class("Qwen3MoeMLP"), ModuleKind::mlp);
  EXPECT_EQ(kind_of_class("Qwen3MoeSparseMoeBlock"), ModuleKind::moe);
  EXPECT_EQ(kind_of_class("DeepseekV3TopkRouter"), ModuleKind::router);
  EXPECT_EQ(kind_of_class("Qwen3RMSNorm"), ModuleKind::norm);
  EXPECT_EQ(kind_of_class("MergedColumnParallelLinear"), ModuleKind::linear);
}

TEST(Attribution, threads_do_not_mix) {
  const Read r = read_text(TraceText()
                               .module("Linear_0", 0, 100)
                               .op("aten::mm", 10, 5, mm)
                               .op("aten::mm", 12, 5, mm, "", 0, 2)
                               .text());
  EXPECT_THAT(r.executed(), UnorderedElementsAre("lm_head aten::mm x1", "aten::mm x1"));
}

TEST(Attribution, steps_and_calls_of_the_root_are_passes) {
  TraceText t;
  for (int step = 0; step < 2; ++step) {
    const double at = 100 * step;
    t.annotation("ProfilerStep#" + std::to_string(step + 7), at, 90);
    for (int call = 0; call < 2; ++call) {
      t.module("LlamaForCausalLM_0", at + 1 + 40 * call, 30)
          .op("aten::mm", at + 5 + 40 * call, 5, mm);
    }
  }
  t.module("LlamaForCausalLM_0", 300, 30).op("aten::mm", 310, 5, mm);
  const Read r = read_text(t.text());
  ASSERT_EQ(r.attribution.passes.size(), 5u);
  EXPECT_EQ(r.attribution.passes[0].step, 7);
  EXPECT_EQ(r.attribution.passes[3].step, 8);
  EXPECT_EQ(r.attribution.passes[4].step, std::nullopt);
  EXPECT_EQ(r.executed().size(), 5u);
}

TEST(Attribution, stages_follow_from_lengths) {
  const auto stage = [](const char* dims) {
    const Read r = read_text(TraceText()
                                 .module("LlamaForCausalLM_0", 0, 50)
                                 .op("aten::scaled_dot_product_attention", 5, 5, dims,
                                     R"(["", "", "", "", "0.", "False", "", ""])")
                                 .text());
    return r.attribution.passes.at(0).stage;
  };
  EXPECT_EQ(stage("[[2, 4, 6, 8], [2, 2, 6, 8], [2, 2, 6, 8], [], [], [], [], []]"),
            TraceStage::prefill);
  EXPECT_EQ(stage("[[2, 4, 1, 8], [2, 2, 6, 8], [2, 2, 6, 8], [], [], [], [], []]"),
            TraceStage::decode);
}

TEST(Attribution, kernels_count_where_they_were_launched) {
  const Read r = read_text(TraceText()
                               .module("Linear_0", 0, 100)
                               .op("aten::linear", 1, 30, "[[4, 8], [16, 8], []]")
                               .op("aten::mm", 2, 20, mm)
                               .launch(41, 5)
                               .launch(42, 9)
                               .op("mylib::fused", 40, 10)
                               .launch(43, 45)
                               .launch(44, 60)  // by compiled code, outside of every operator
                               .kernel("gemm", 41, 200, 7)
                               .kernel("splitk", 42, 210, 2)
                               .kernel("fused", 43, 220, 4)
                               .kernel("triton_red", 44, 230, 5)
                               .kernel("lost", 99, 240, 11)
                               .text());
  EXPECT_EQ(r.row("aten::mm").device_ns, 9000);
  EXPECT_EQ(r.row("aten::mm").kernels, 2u);
  EXPECT_EQ(r.row("mylib::fused").device_ns, 4000);
  EXPECT_EQ(r.row("triton_red").device_ns, 5000);
  const DeviceTime& d = r.attribution.device;
  EXPECT_EQ(d.total_ns, 29000);
  EXPECT_EQ(d.unlinked_ns, 11000);
  EXPECT_EQ(d.assigned_ns + d.unlinked_ns + d.ambiguous_ns, d.total_ns);
}

TEST(Attribution, the_memory_of_views_and_frames_is_not_kept) {
  TraceText t;
  for (int i = 0; i < 100; ++i) t.op("aten::view", i, 0.5).frame("<built-in method x>", i, 0.5);
  const auto source = bytes_of(t.text(), "t.json");
  const Recording recording = record(*source, "t.json");
  EXPECT_EQ(recording.operators, 100u);
  EXPECT_TRUE(recording.threads.empty());
}

// One product of 4 x 8 by 8 x 16 in `us`, one of another length in 10 us, and an addition.
void add_step(TraceText& text, int number, double begin, double us, double addition_us) {
  const std::string types = R"("Input type": ["float", "float"], "Input Dims": )";
  text.annotation("ProfilerStep#" + std::to_string(number), begin, 100)
      .event("cpu_op", "aten::mm", begin + 1, us, types + "[[4, 8], [8, 16]]")
      .event("cpu_op", "aten::mm", begin + 30, us, types + "[[4, 8], [8, 16]]")
      .event("cpu_op", "aten::mm", begin + 60, 10, types + "[[4, 8], [8, 32]]")
      .event("cpu_op", "aten::add", begin + 80, addition_us, types + "[[4, 16], [4, 16]]");
}

std::vector<TracedStep> three_passes() {
  TraceText text;
  add_step(text, 0, 0, 4, 6);
  add_step(text, 1, 1000, 5, 7);
  add_step(text, 2, 2000, 20, 9);  // disturbed
  return traced_steps(read_text(text.text()).attribution);
}

TEST(StepPrediction, equal_passes_are_one_step_with_their_medians) {
  const std::vector<TracedStep> steps = three_passes();
  ASSERT_EQ(steps.size(), 1u);
  const TracedStep& step = steps[0];
  EXPECT_EQ(step.passes, 3);
  ASSERT_EQ(step.kernels.size(), 2u);
  EXPECT_EQ(step.kernels[0].problem.params.at("n"), 16);
  EXPECT_EQ(step.kernels[0].problem.params.at("m"), 4);
  EXPECT_EQ(step.kernels[0].problem.params.at("k"), 8);
  EXPECT_EQ(step.kernels[0].count, 2);
  EXPECT_DOUBLE_EQ(step.kernels[0].traced_ns, 10e3);
  EXPECT_EQ(step.kernels[1].problem.params.at("n"), 32);
  EXPECT_EQ(step.other_count, 1);
  EXPECT_DOUBLE_EQ(step.other_ns, 7e3);
  EXPECT_DOUBLE_EQ(step.wall_ns, 100e3);
  // 100 - (8 + 10 + 6), 100 - (10 + 10 + 7), 100 - (40 + 10 + 9) us.
  EXPECT_DOUBLE_EQ(step.outside_ns, 73e3);
  EXPECT_DOUBLE_EQ(constant_bytes(step), 4 * (2 * 8 * 16 + 8 * 32)) << "f32 weights";
}

TEST(StepPrediction, measured_kernels_take_the_place_of_traced_ones) {
  const TracedStep step = three_passes().at(0);
  const StepPrediction out = predict(step, [](const Problem& problem) -> KernelTime {
    if (problem.params.at("n") == 16) return {2e3, 1.5e3, 4e3, ""};
    return {{}, {}, {}, "unsupported: no f32"};
  });
  EXPECT_DOUBLE_EQ(out.measured_ns, 2 * 2e3);
  EXPECT_DOUBLE_EQ(out.traced_ns, 10e3 + 7e3 + 73e3);
  EXPECT_DOUBLE_EQ(out.total_ns(), 94e3);
  EXPECT_DOUBLE_EQ(out.low_ns, 94e3 - 2 * 0.5e3);
  EXPECT_DOUBLE_EQ(out.high_ns, 94e3 + 2 * 2e3);
  EXPECT_EQ(out.measured, 2);
  EXPECT_EQ(out.traced, 2);
  const Json json = prediction_json(step, out);
  EXPECT_THAT(json, test::HasValues(R"({"/kernels/0/source": "measured",
      "/kernels/1/reason": "unsupported: no f32", "/step_ns": 94e3})"));
}

TEST(StepPrediction, other_kernels_are_another_step) {
  TraceText text;
  add_step(text, 0, 0, 4, 6);
  text.annotation("ProfilerStep#1", 1000, 50)
      .event("cpu_op", "aten::mm", 1001, 5,
             R"("Input type": ["float", "float"], "Input Dims": [[4, 8], [8, 16]])");
  const auto steps = traced_steps(read_text(text.text()).attribution);
  ASSERT_EQ(steps.size(), 2u);
  EXPECT_EQ(steps[1].kernels.size(), 1u);
  EXPECT_DOUBLE_EQ(steps[1].outside_ns, 45e3);
}

TEST(StepPrediction, what_no_contract_of_ours_does_stays_with_the_trace) {
  TraceText text;
  text.annotation("ProfilerStep#0", 0, 100)
      .event("cpu_op", "aten::bmm", 1, 5,
             R"("Input type": ["float", "float"], "Input Dims": [[3, 4, 8], [3, 8, 16]])")
      .event("cpu_op", "aten::mm", 10, 5, R"("Input Dims": [[4, 8], [8, 16]])");
  const auto steps = traced_steps(read_text(text.text()).attribution);
  ASSERT_EQ(steps.size(), 1u);
  EXPECT_TRUE(steps[0].kernels.empty()) << "a batch of three, and a product of unknown types";
  EXPECT_DOUBLE_EQ(steps[0].other_ns, 10e3);
}

}  // namespace
}  // namespace halmark::trace_test
