// The output of an engine's own benchmark as steps. Reads what these tools write, and nothing that
// they do not say: what is missing is the user's to state.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "core/measured/engine_step.hpp"

namespace halmark::deploy {

// What the user states beside a file; "" and 0 are left to the file.
struct StatedFacts {
  std::string model_id;  // the known model
  std::string engine_version, precision, device;
  std::int64_t batch = 0, input_tokens = 0, output_tokens = 0;
};

// "llama-bench", "vllm-bench", "openvino-bench".
const std::vector<std::string>& bench_tools();

// Throws Error (exit 2) naming the file and the place in it: malformed, not of this tool, a time
// that is none, a figure that contradicts another; a fact that the file states otherwise; a fact
// that neither states and without which the time means nothing.
EngineImport read_bench(const std::string& tool, const std::string& path,
                        const StatedFacts& stated);

// Of one tool each; what read_bench chooses among. `text` is the whole file.
// llama-bench -o json, -o jsonl (llama.cpp tools/llama-bench/README.md, "Output formats").
std::vector<EngineStep> llama_bench_steps(const std::string& text, const std::string& path);
// vllm bench latency --output-json, vllm bench serve --save-result (vllm/benchmarks/latency.py,
// serve.py).
std::vector<EngineStep> vllm_bench_steps(const std::string& text, const std::string& path,
                                         const StatedFacts& stated);
// llm_bench --report_json and --report (openvino.genai tools/llm_bench/llm_bench_utils/
// output_json.py, output_csv.py), benchmark_app -report_type no_counters -json_stats (openvino
// samples/cpp/benchmark_app/main.cpp).
std::vector<EngineStep> openvino_bench_steps(const std::string& text, const std::string& path);
// Of the report that benchmark_app of the Python package writes.
struct BenchObject;
std::vector<EngineStep> openvino_app_steps(const BenchObject& setup, const BenchObject& results);

}  // namespace halmark::deploy
