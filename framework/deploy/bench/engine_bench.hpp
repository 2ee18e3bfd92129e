// The output of an engine's own benchmark as steps. Reads what these tools write, and nothing that
// they do not say: what is missing is the user's to state.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "core/measured/engine_step.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark::deploy {

// What the user states beside a file; "" and 0 are left to the file.
struct StatedFacts {
  std::string model_id;  // the known model
  // Of it, with its head and with the head and the embedding apart: what a file may state.
  std::int64_t parameters = 0, untied_parameters = 0;
  std::string engine_version, precision, device;
  std::int64_t batch = 0, input_tokens = 0, output_tokens = 0;

  void take(const ModelSpec& model, std::int64_t of_model);  // the model that was measured
};

// Steps of a file, and how many of its rows they are made of: the sum of what is taken and what is
// left out is what the file holds.
struct BenchRead {
  std::vector<EngineStep> steps;
  std::string unit = "rows";
  std::int64_t in_file = 0, taken = 0;
  std::vector<std::string> left_out;

  void take(std::int64_t count = 1) { in_file += count, taken += count; }
  // "3 rows of averages"; nothing where there is none.
  void leave_out(std::int64_t count, const std::string& what);
};

// "llama-bench", "vllm-bench", "openvino-bench".
const std::vector<std::string>& bench_tools();

// The one of them whose output a file is. Throws Error (exit 2): it is of none.
std::string bench_tool_of(const std::string& path);

// Throws Error (exit 2) naming the file and the place in it: malformed, not of this tool, a time
// that is none, a figure that contradicts another; a fact that the file states otherwise; a fact
// that neither states and without which the time means nothing.
EngineImport read_bench(const std::string& tool, const std::string& path,
                        const StatedFacts& stated);

// The known model whose steps they are: a name of a hub says it, one of an engine's own may stand
// for several. "" where none does.
std::string known_model_of(const EngineImport& steps,
                           const std::vector<std::filesystem::path>& models);

// Of one tool each; what read_bench chooses among. `text` is the whole file.
// llama-bench -o json, -o jsonl (llama.cpp tools/llama-bench/README.md, "Output formats").
// Lines of other programs around the rows are left out.
BenchRead llama_bench_steps(const std::string& text, const std::string& path,
                            const StatedFacts& stated = {});
// vllm bench latency --output-json, vllm bench serve --save-result (vllm/benchmarks/latency.py,
// serve.py).
BenchRead vllm_bench_steps(const std::string& text, const std::string& path,
                           const StatedFacts& stated);
// llm_bench --report_json and --report (openvino.genai tools/llm_bench/llm_bench_utils/
// output_json.py, output_csv.py), benchmark_app -report_type no_counters -json_stats (openvino
// samples/cpp/benchmark_app/main.cpp).
BenchRead openvino_bench_steps(const std::string& text, const std::string& path);
// Of the report that benchmark_app of the Python package writes.
struct BenchObject;
std::vector<EngineStep> openvino_app_steps(const BenchObject& setup, const BenchObject& results);

}  // namespace halmark::deploy
