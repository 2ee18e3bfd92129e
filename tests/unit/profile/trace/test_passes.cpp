// Where passes begin and end, what annotations say of them, and whose time it is.
#include <gmock/gmock.h>

#include "trace_text.hpp"

#include "profile/trace/stages.hpp"

namespace halmark::trace_test {
namespace {

using testing::ElementsAre;

constexpr const char* mm = "[[4, 8], [8, 16]]";

// "step stage begin-end" in microseconds.
std::vector<std::string> passes_of(const Read& r) {
  std::vector<std::string> out;
  for (const Pass& pass : r.attribution.passes) {
    out.push_back((pass.step ? std::to_string(*pass.step) : "-") + ' ' +
                  std::string(stage_name(pass.stage)) + ' ' + std::to_string(pass.begin_ns / 1000) +
                  '-' + std::to_string(pass.end_ns / 1000));
  }
  return out;
}

std::vector<std::string> rows_of(const Read& r) {
  std::vector<std::string> out;
  for (const OperatorRow& row : r.attribution.rows) {
    out.push_back((row.pass == absent ? "-" : std::to_string(row.pass)) + ' ' +
                  r.recording.names[row.name] + " x" + std::to_string(row.count) + " k" +
                  std::to_string(row.kernels) + " host " + std::to_string(row.host_ns / 1000));
  }
  return out;
}

TEST(Passes, annotations_of_stages_are_passes_where_nothing_else_is) {
  const Read r = read_text(TraceText()
                               .annotation("run prefill", 10, 20)
                               .op("aten::mm", 12, 5, mm)
                               .annotation("run decode", 40, 20)
                               .op("aten::mm", 41, 6, mm)
                               .annotation("run decode", 70, 20)
                               .op("aten::mm", 71, 7, mm)
                               .text());
  EXPECT_THAT(passes_of(r), ElementsAre("- prefill 10-30", "- decode 40-60", "- decode 70-90"));
  EXPECT_THAT(rows_of(r), ElementsAre("0 aten::mm x1 k0 host 5", "1 aten::mm x1 k0 host 6",
                                      "2 aten::mm x1 k0 host 7"));
  for (const Pass& pass : r.attribution.passes) EXPECT_EQ(pass.stage_source, "annotation");
}

TEST(Passes, the_first_stage_of_a_step_is_that_of_the_step_and_the_next_a_pass_of_its_own) {
  const Read r = read_text(TraceText()
                               .annotation("ProfilerStep#3", 0, 100)
                               .annotation("prefill", 1, 20)
                               .annotation("decode", 30, 20)
                               .annotation("decode", 100, 20)
                               .text());
  EXPECT_THAT(passes_of(r), ElementsAre("3 prefill 0-100", "3 decode 30-50", "- decode 100-120"));
}

TEST(Passes, a_root_called_again_begins_a_pass_and_another_root_does_not) {
  const Read r = read_text(TraceText()
                               .module("Vision_0", 0, 10)
                               .module("LlamaForCausalLM_0", 20, 10)
                               .module("Vision_0", 40, 10)
                               .module("LlamaForCausalLM_0", 60, 10)
                               .annotation("decode", 80, 10)
                               .module("LlamaForCausalLM_0", 82, 5)
                               .text());
  EXPECT_THAT(passes_of(r), ElementsAre("- unknown 0-30", "- unknown 40-70", "- decode 80-90"));
}

TEST(Passes, a_stage_named_inside_of_a_module_or_an_operator_is_no_pass) {
  const Read r = read_text(TraceText()
                               .module("LlamaForCausalLM_0", 0, 50)
                               .annotation("decode", 5, 10)
                               .op("aten::mul", 20, 20)
                               .annotation("prefill", 22, 5)
                               .text());
  EXPECT_THAT(passes_of(r), ElementsAre("- unknown 0-50"));
  const Read op = read_text(TraceText()
                                .annotation("ProfilerStep#1", 0, 50)
                                .op("aten::mul", 20, 20)
                                .annotation("prefill", 22, 5)
                                .text());
  EXPECT_THAT(passes_of(op), ElementsAre("1 unknown 0-50"));
}

TEST(Passes, what_ends_where_the_next_begins_does_not_enclose_it) {
  const Read r = read_text(TraceText()
                               .annotation("model.layers.0", 0, 10)
                               .op("aten::mul", 1, 9)
                               .op("aten::add", 10, 5)
                               .text());
  EXPECT_THAT(r.executed(), ElementsAre("model.layers.0 aten::mul x1", "aten::add x1"));
}

TEST(Passes, other_threads_fall_into_passes_by_time) {
  const Read r = read_text(TraceText()
                               .annotation("ProfilerStep#1", 100, 50)
                               .annotation("ProfilerStep#2", 200, 50)
                               .op("aten::mul", 50, 3, "", "", 0, 2)
                               .op("aten::mul", 100, 4, "", "", 0, 2)
                               .op("aten::mul", 190, 5, "", "", 0, 2)
                               .op("aten::mul", 200, 6, "", "", 0, 2)
                               .op("aten::mul", 900, 7, "", "", 0, 2)
                               .text());
  EXPECT_THAT(rows_of(r), ElementsAre("0 aten::mul x2 k0 host 9", "1 aten::mul x2 k0 host 13",
                                      "- aten::mul x1 k0 host 3"));
  EXPECT_EQ(r.attribution.host_ns, 25'000);
}

TEST(Passes, threads_with_steps_of_their_own_keep_their_passes_apart) {
  TraceText t;
  t.annotation("ProfilerStep#1", 100, 50).op("aten::mul", 110, 3);
  t.event("user_annotation", "ProfilerStep#2", 10, 50, "", 2).op("aten::add", 20, 4, "", "", 0, 2);
  t.op("aten::div", 6, 2, "", "", 0, 2);  // before the first step of its thread
  t.op("aten::sub", 5, 1, "", "", 0, 3).op("aten::sub", 15, 1, "", "", 0, 3);
  t.op("aten::sub", 105, 1, "", "", 0, 3);
  const Read r = read_text(t.text());
  EXPECT_THAT(passes_of(r), ElementsAre("1 unknown 100-150", "2 unknown 10-60"));
  EXPECT_THAT(rows_of(r), ElementsAre("0 aten::mul x1 k0 host 3", "0 aten::sub x1 k0 host 1",
                                      "1 aten::add x1 k0 host 4", "1 aten::sub x1 k0 host 1",
                                      "- aten::div x1 k0 host 2", "- aten::sub x1 k0 host 1"));
}

TEST(Passes, an_operator_that_launches_beside_what_it_calls_counts_without_their_time) {
  const Read r = read_text(TraceText()
                               .op("aten::linear", 1, 30, "[[4, 8], [16, 8], []]")
                               .op("aten::mm", 2, 18, mm)
                               .launch(41, 5)
                               .launch(42, 25)
                               .kernel("gemm", 41, 200, 7)
                               .kernel("bias", 42, 210, 2)
                               .text());
  EXPECT_THAT(rows_of(r), ElementsAre("- aten::mm x1 k1 host 18", "- aten::linear x1 k1 host 0"));
  EXPECT_EQ(r.row("aten::mm").device_ns, 7'000);
  EXPECT_EQ(r.row("aten::linear").device_ns, 2'000);
  EXPECT_EQ(r.attribution.host_ns, 18'000);
}

TEST(Passes, external_ids_of_what_an_operator_calls_are_its_own_where_it_claims_all) {
  const auto trace = [](int id) {
    return TraceText()
        .op("nccl:all_reduce", 0, 30, "", "", 5)
        .op("aten::copy_", 2, 10, "", "", 6)
        .kernel("ring", 41, 200, 7, ", \"External id\": " + std::to_string(id))
        .text();
  };
  EXPECT_EQ(read_text(trace(5)).row("nccl:all_reduce").device_ns, 7'000);
  EXPECT_EQ(read_text(trace(6)).row("nccl:all_reduce").device_ns, 7'000);
  EXPECT_EQ(read_text(trace(7)).attribution.device.unlinked_ns, 7'000);
  // Where the trace has launches, these alone say whose a kernel is.
  const Read r = read_text(TraceText()
                               .op("aten::mul", 0, 30, "", "", 5)
                               .launch(40, 50)
                               .kernel("k", 41, 200, 7, R"(, "External id": 5)")
                               .text());
  EXPECT_EQ(r.attribution.device.unlinked_ns, 7'000);
  EXPECT_EQ(r.row("aten::mul").kernels, 0u);
}

TEST(Passes, a_call_without_a_device_s_work_is_no_launch) {
  const Read r = read_text(TraceText()
                               .op("aten::mul", 0, 30, "", "", 5)
                               .launch(43, 5, "cudaDeviceSynchronize")
                               .kernel("k", 41, 200, 7, R"(, "External id": 5)")
                               .text());
  EXPECT_FALSE(r.recording.has_launches);
  EXPECT_EQ(r.row("aten::mul").device_ns, 7'000);
  for (const char* name :
       {"cudaLaunchKernel", "hipModuleLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync",
        "cudaMemcpy", "cudaMemset", "hipMemcpy", "hipMemset"}) {
    const Read with = read_text(TraceText().op("aten::mul", 0, 30).launch(41, 5, name).text());
    EXPECT_TRUE(with.recording.has_launches) << name;
  }
}

TEST(Passes, frames_of_a_model_are_scopes_where_no_modules_were_recorded) {
  const auto executed = [](const char* frame) {
    return read_text(TraceText().frame(frame, 0, 50).op("aten::mul", 5, 3).text()).executed();
  };
  EXPECT_THAT(executed("my/model.py(12): forward"),
              ElementsAre("my/model.py(12): forward aten::mul x1"));
  for (const char* other :
       {"<built-in method forward>", "torch/nn/linear.py(3): forward",
        "/usr/lib/torch/nn/linear.py(3): forward", "my/model.py(12): run", "model: forward"}) {
    EXPECT_THAT(executed(other), ElementsAre("aten::mul x1")) << other;
  }
  const Read modules = read_text(TraceText()
                                     .module("Linear_0", 0, 90)
                                     .frame("my/model.py(12): forward", 1, 50)
                                     .op("aten::mul", 5, 3)
                                     .text());
  EXPECT_THAT(modules.executed(), ElementsAre("lm_head aten::mul x1"));
  EXPECT_TRUE(modules.recording.has_modules);
}

TEST(Passes, annotations_that_are_no_path_are_scopes_where_no_modules_were_recorded) {
  const auto executed = [](const char* annotation, bool has_modules) {
    TraceText t;
    if (has_modules) t.module("Linear_0", 0, 90);
    return read_text(t.annotation(annotation, 1, 50).op("aten::mul", 5, 3).text()).executed();
  };
  EXPECT_THAT(executed("sampler", false), ElementsAre("sampler aten::mul x1"));
  EXPECT_THAT(executed("Optimizer#step", false), ElementsAre("aten::mul x1"));
  EXPECT_THAT(executed("sampler", true), ElementsAre("lm_head aten::mul x1"));
  EXPECT_THAT(executed("model.norm", true), ElementsAre("model.norm aten::mul x1"));
}

TEST(Passes, spans_that_begin_together_enclose_by_length_then_by_kind_then_by_place) {
  const Read length = read_text(TraceText()
                                    .op("aten::mm", 0, 5, mm)
                                    .op("aten::linear", 0, 10, "[[4, 8], [16, 8], []]")
                                    .text());
  EXPECT_THAT(length.executed(), ElementsAre("aten::mm x1"));
  const Read kind = read_text(TraceText().op("aten::mul", 0, 10).module("Linear_0", 0, 10).text());
  EXPECT_THAT(kind.executed(), ElementsAre("lm_head aten::mul x1"));
  const Read place = read_text(TraceText().op("aten::add", 0, 10).op("aten::mul", 0, 10).text());
  EXPECT_THAT(place.executed(), ElementsAre("aten::mul x1"));
}

TEST(Stages, packed_batches_tell_their_stage) {
  const auto stage = [](int tokens, int sequences, int longest) {
    const std::string n = std::to_string(tokens), offsets = std::to_string(sequences + 1);
    const std::string dims = "[[" + n + ", 4, 8], [" + n + ", 2, 8], [" + n + ", 2, 8], [" +
                             offsets + "], [" + offsets + "], [], [], [], [], []]";
    const std::string values = R"(["", "", "", "", "", ")" + std::to_string(longest) + R"(", ")" +
                               std::to_string(longest) + R"(", "0.", "0.1", "True"])";
    const Read r = read_text(TraceText()
                                 .module("LlamaForCausalLM_0", 0, 50)
                                 .op("flash_attn::_flash_attn_varlen_forward", 5, 5, dims, values)
                                 .text());
    EXPECT_EQ(r.attribution.passes.at(0).stage_source.empty(),
              r.attribution.passes.at(0).stage == TraceStage::unknown);
    return r.attribution.passes.at(0).stage;
  };
  EXPECT_EQ(stage(4, 4, 1), TraceStage::decode);
  EXPECT_EQ(stage(4, 4, 2), TraceStage::decode) << "one token each, whatever the padding";
  EXPECT_EQ(stage(12, 4, 9), TraceStage::mixed) << "9 and three times 1";
  EXPECT_EQ(stage(12, 4, 8), TraceStage::prefill);
  EXPECT_EQ(stage(12, 4, 3), TraceStage::prefill);
  EXPECT_EQ(stage(9, 1, 9), TraceStage::prefill);
}

TEST(Stages, words_of_annotations) {
  const std::pair<const char*, std::optional<TraceStage>> table[] = {
      {"execute_context_2(9)_generation_0(0)", TraceStage::prefill},
      {"execute_context_0(0)_generation_1(1)", TraceStage::decode},
      {"execute_context_1(26)_generation_3(3)", TraceStage::mixed},
      {"decoder", std::nullopt},
      {"execute_context_1(4)", TraceStage::prefill},
      {"execute generation 12", TraceStage::decode},
      {"execute_generation", TraceStage::unknown},
      {"execute", std::nullopt},
      {"generation_3(3)", std::nullopt},
      {"context 3", std::nullopt},
      {"Mixed batch", TraceStage::mixed},
      {"EXTEND", TraceStage::prefill},
      {"prefill+decode", TraceStage::mixed},
      {"--decode--", TraceStage::decode},
      {"prefilled", std::nullopt}};
  for (const auto& [name, stage] : table) EXPECT_EQ(stage_of_annotation(name), stage) << name;
  EXPECT_EQ(step_of_annotation("ProfilerStep#12"), 12);
  EXPECT_EQ(step_of_annotation("ProfilerStep#"), std::nullopt);
  EXPECT_EQ(step_of_annotation("MyProfilerStep#12"), std::nullopt);
}

TEST(Stages, products_of_the_attention_tell_where_no_operator_does) {
  const auto stage = [](const char* dims) {
    const Read r = read_text(TraceText()
                                 .module("LlamaForCausalLM_0", 0, 50)
                                 .module("LlamaAttention_0", 1, 40)
                                 .op("aten::bmm", 5, 5, dims)
                                 .text());
    return r.attribution.passes.at(0).stage;
  };
  EXPECT_EQ(stage("[[2, 1, 8], [2, 8, 6]]"), TraceStage::decode);
  EXPECT_EQ(stage("[[2, 6, 8], [2, 8, 6]]"), TraceStage::prefill);
  EXPECT_EQ(stage("[[1, 6, 8], [1, 8, 6]]"), TraceStage::unknown);
}

}  // namespace
}  // namespace halmark::trace_test
