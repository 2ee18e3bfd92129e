#include "profile/capture/recipes.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

CaptureRecipe vllm() {
  return {
      .engine = "vllm",
      .title = "vLLM",
      .steps =
          {{.versions = "0.13.0 and later",
            .commands =
                {"vllm serve MODEL --enforce-eager --profiler-config '{\"profiler\": \"torch\", "
                 "\"torch_profiler_dir\": \"/tmp/traces\", \"torch_profiler_record_shapes\": "
                 "true}'",
                 "curl -X POST http://localhost:8000/start_profile",
                 "# send one or two requests; a trace of many is gigabytes",
                 "curl -X POST http://localhost:8000/stop_profile"},
            .source = "https://docs.vllm.ai/en/v0.13.0/contributing/profiling/"},
           {.versions = "before 0.13.0",
            .commands = {"VLLM_TORCH_PROFILER_DIR=/tmp/traces VLLM_RPC_TIMEOUT=1800000 vllm serve "
                         "MODEL --enforce-eager",
                         "curl -X POST http://localhost:8000/start_profile",
                         "# send one or two requests",
                         "curl -X POST http://localhost:8000/stop_profile"},
            .source =
                "https://docs.vllm.ai/en/v0.7.3/contributing/profiling/profiling_index.html"}},
      .notes = {
          "Shapes are off by default: without them no FLOPs are counted. Before 0.13.0 no "
          "documented flag records them.",
          "Stacks (torch_profiler_with_stack) are on by default: layers and modules come from "
          "them.",
          "--enforce-eager: a compiled or captured forward pass shows no modules. Times are "
          "then those of eager execution, FLOPs are the same.",
          "The folder gets one file per rank: read one, and say --tp to --compare."}};
}

CaptureRecipe sglang() {
  return {
      .engine = "sglang",
      .title = "SGLang",
      .steps =
          {{.versions = "as documented on main",
            .commands =
                {"SGLANG_TORCH_PROFILER_DIR=/tmp/traces SGLANG_PROFILE_WITH_STACK=True "
                 "SGLANG_PROFILE_RECORD_SHAPES=True python -m sglang.launch_server --model-path "
                 "MODEL --disable-cuda-graph",
                 "curl -X POST http://127.0.0.1:30000/start_profile -H 'Content-Type: "
                 "application/json' -d '{\"output_dir\": \"/tmp/traces\", \"num_steps\": 5, "
                 "\"activities\": [\"CPU\", \"GPU\"]}'",
                 "# send one or two requests; it stops by itself after num_steps"},
            .source = "https://docs.sglang.io/docs/developer_guide/benchmark_and_profiling"}},
      .notes = {
          "Files are named ID-TP-0[-DP-..][-PP-..][-EP-..].trace.json.gz, one per rank: read "
          "one, and say --tp to --compare. Do not merge them (merge_profiles): a merged trace "
          "is of no rank.",
          "--disable-cuda-graph: replays of a graph show no modules.",
          "One batch without a server: python -m sglang.bench_one_batch --model-path MODEL "
          "--batch 8 --input-len 1024 --output-len 4 --profile",
          "SGLANG_PROFILE_RECORD_SHAPES and SGLANG_PROFILE_WITH_STACK are documented with "
          "their default True in the guide of Ascend devices, and the latter in the general "
          "one."}};
}

CaptureRecipe trtllm() {
  return {
      .engine = "trtllm",
      .title = "TensorRT-LLM (PyTorch backend)",
      .steps =
          {{.versions = "PyTorch workflow, as documented",
            .commands =
                {"TLLM_PROFILE_START_STOP=100-105 TLLM_TORCH_PROFILE_TRACE=/tmp/trace.json "
                 "trtllm-bench --model MODEL --model_path PATH throughput --dataset dataset.txt "
                 "--warmup 0 --backend pytorch --streaming",
                 "# or the same two variables in front of trtllm-serve"},
            .source = "https://nvidia.github.io/TensorRT-LLM/performance/perf-analysis.html"}},
      .notes = {"Iterations are counted from the start; without TLLM_PROFILE_START_STOP nothing is "
                "recorded.",
                "Newer versions write trace-rank-N.json, one per rank.",
                "The engine records shapes and no stacks: operators and their FLOPs are counted, "
                "layers and modules are not seen, so --compare cannot match them. The engines that "
                "are compiled ahead (TensorRT backend) write no such trace."}};
}

CaptureRecipe torch() {
  return {.engine = "torch",
          .title = "torch.profiler around any forward pass",
          .steps = {{.versions = "torch 2.x",
                     .commands =
                         {"from torch.profiler import profile, ProfilerActivity",
                          "with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], "
                          "record_shapes=True, with_stack=True) as p: model(**inputs)",
                          "p.export_chrome_trace('trace.json.gz')"},
                     .source = "https://docs.pytorch.org/docs/stable/profiler.html"}},
          .notes = {"record_shapes: FLOPs. with_stack: layers and modules."}};
}

}  // namespace

const std::vector<CaptureRecipe>& capture_recipes() {
  static const std::vector<CaptureRecipe> all = {vllm(), sglang(), trtllm(), torch()};
  return all;
}

const CaptureRecipe& capture_recipe(std::string_view engine) {
  const auto& all = capture_recipes();
  const auto found = std::ranges::find(all, engine, &CaptureRecipe::engine);
  if (found != all.end()) return *found;
  auto known = mapped(all, &CaptureRecipe::engine);
  throw refused("no recipe for '" + printable(engine) + "'", {}, suggestion(engine, known));
}

Json recipe_json(const CaptureRecipe& recipe) {
  Json steps = json_list(recipe.steps, [](const CaptureStep& step) -> Json {
    return {{"versions", step.versions}, {"commands", step.commands}, {"source", step.source}};
  });
  return {{"engine", recipe.engine}, {"steps", std::move(steps)}, {"notes", recipe.notes}};
}

// Commands are copied from here: they are not wrapped.
std::string recipe_text(const CaptureRecipe& recipe) {
  std::string out;
  for (const CaptureStep& step : recipe.steps) {
    out += recipe.title + ", " + step.versions + " (" + step.source + "):\n";
    for (const std::string& command : step.commands) out += "    " + command + '\n';
  }
  for (const std::string& note : recipe.notes) out += "- " + note + '\n';
  return out + "then: halmark trace FILE --compare MODEL [--tp N]\n" +
         "Taken from these pages, not tried on a server.\n";
}

}  // namespace halmark
