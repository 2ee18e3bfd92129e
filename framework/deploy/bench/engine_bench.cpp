#include "deploy/bench/engine_bench.hpp"

#include <algorithm>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/ranges.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"

namespace halmark::deploy {
namespace {

// The file's own word and the user's are the same, or one of them is silent.
void complete(std::string& of_file, const std::string& stated, const char* option,
              const std::string& path) {
  if (stated.empty() || stated == of_file) return;
  if (!of_file.empty()) {
    throw refused("states '" + printable(of_file) + "' itself", path,
                  "leave out " + std::string(option) + " or correct it");
  }
  of_file = stated;
}

void require_same(std::int64_t of_file, std::int64_t stated, const char* option,
                  const std::string& path) {
  if (stated == 0 || stated == of_file) return;
  throw refused("states " + std::to_string(of_file) + " itself", path,
                "leave out " + std::string(option) + " or correct it");
}

BenchRead read_of(const std::string& tool, const std::string& text, const std::string& path,
                  const StatedFacts& stated) {
  if (tool == "llama-bench") return llama_bench_steps(text, path, stated);
  require_kind(text, path, tool);
  if (tool == "vllm-bench") return vllm_bench_steps(text, path, stated);
  return openvino_bench_steps(text, path);
}

}  // namespace

void StatedFacts::take(const ModelSpec& model, std::int64_t of_model) {
  model_id = model.id;
  parameters = of_model;
  untied_parameters = of_model + model.vocab * model.hidden;
}

void BenchRead::leave_out(std::int64_t count, const std::string& what) {
  if (count == 0) return;
  in_file += count;
  left_out.push_back(std::to_string(count) + ' ' + what);
}

const std::vector<std::string>& bench_tools() {
  static const std::vector<std::string> tools = {"llama-bench", "vllm-bench", "openvino-bench"};
  return tools;
}

std::string bench_tool_of(const std::string& path) {
  const std::string text = read_input(path, json_input);
  const FileKind* kind = kind_of(text);
  if (kind != nullptr && contains(bench_tools(), kind->id)) return std::string(kind->id);
  throw refused("is " + kind_text(text), input_name(path),
                "halmark import reads output of " + join(bench_tools(), ", "));
}

EngineImport read_bench(const std::string& tool, const std::string& path,
                        const StatedFacts& stated) {
  if (!contains(bench_tools(), tool)) {
    throw refused("'" + printable(tool) + "' is no benchmark whose output is read", {},
                  suggestion(tool, bench_tools()));
  }
  const std::string text = read_input(path, json_input), name = input_name(path);
  BenchRead read = read_of(tool, text, name, stated);
  EngineImport out{.tool = tool,
                   .file = name,
                   .file_sha256 = sha256_of(text),
                   .imported_utc = {},
                   .steps = std::move(read.steps),
                   .unit = read.unit,
                   .in_file = read.in_file,
                   .taken = read.taken,
                   .left_out = std::move(read.left_out)};
  if (out.steps.empty()) throw refused("no test is in it", name);
  for (EngineStep& step : out.steps) {
    complete(step.engine_version, stated.engine_version, "--engine-version", name);
    complete(step.precision, stated.precision, "--dtype", name);
    complete(step.device, stated.device, "--device", name);
    if (step.batch == 0) step.batch = stated.batch;
    require_same(step.batch, stated.batch, "--batch", name);
    require_same(step.input_tokens, stated.input_tokens, "--input", name);
    require_same(step.output_tokens, stated.output_tokens, "--output", name);
    step.model_id = stated.model_id;
  }
  return out;
}

std::string known_model_of(const EngineImport& steps,
                           const std::vector<std::filesystem::path>& models) {
  const std::string& name = steps.steps.front().model;
  if (name.find('/') == std::string::npos) return {};
  try {
    (void)load_model(name, models);
    return name;
  } catch (const Error&) {
    return {};
  }
}

}  // namespace halmark::deploy
