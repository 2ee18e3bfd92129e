// llama-bench: one test per row; one sequence at a time, whose tokens are prompt or generated.
#include <cmath>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"

namespace halmark::deploy {
namespace {

constexpr double mean_agreement = 1e-3;  // of a mean with its samples: both are rounded

// The mean that a row states is that of its own samples.
void check_samples(const BenchObject& row, double avg_ns, EngineStep& step) {
  const BenchObject list = row.list("samples_ns");
  std::vector<double> samples;
  for (const Json& sample : list.value) {
    if (!sample.is_number()) throw refused("a number is expected", list.where);
    samples.push_back(checked_time(sample.get<double>(), list.where));
  }
  if (samples.empty()) throw refused("there is no sample", list.where);
  const double mean = figures_of(samples).mean;
  if (std::fabs(mean - avg_ns) > mean_agreement * avg_ns) {
    throw refused(
        "its mean is " + number_text(mean, 6) + " ns, and avg_ns says " + number_text(avg_ns, 6),
        list.where);
  }
  step.samples = static_cast<std::int64_t>(samples.size());
}

std::string device_of(const BenchObject& row) {
  const std::string backends = row.text("backends"), cpu = row.text("cpu_info");
  const std::string gpu = row.text_or_none("gpu_info");
  return backends == "CPU" || gpu.empty()
             ? cpu + ", " + std::to_string(row.count("n_threads")) + " threads"
             : gpu + " (" + backends + ')';
}

EngineStep step_of(const BenchObject& row) {
  const std::int64_t prompt = row.count("n_prompt"), generated = row.count("n_gen");
  if (prompt + generated == 0) throw refused("a test of no token", row.where);
  EngineStep out{.engine = "llamacpp",
                 .engine_version = 'b' + std::to_string(row.count("build_number")) + " (" +
                                   row.text("build_commit") + ')',
                 .model = row.text("model_filename"),
                 .precision = row.text("model_type"),
                 .device = device_of(row),
                 .batch = 1,
                 .input_tokens = prompt,
                 .output_tokens = generated,
                 .cached_tokens = row.has("n_depth") ? row.count("n_depth") : 0};
  const double avg_ns = row.time_ns("avg_ns", 1);
  check_samples(row, avg_ns, out);
  // Of generated tokens the time of one: the test ran them one after the other.
  const double steps = prompt == 0 ? static_cast<double>(generated) : 1;
  out.phase = prompt == 0 ? "decode" : generated == 0 ? "prefill" : "request";
  out.how = prompt == 0 ? "mean of " + std::to_string(generated) + " tokens in a row"
            : generated == 0
                ? "the prompt in parts of " + std::to_string(row.count("n_ubatch")) + " tokens"
                : "the prompt and all generated tokens";
  out.step_ns = checked_time(avg_ns / steps, row.place("avg_ns"));
  if (const auto deviation = row.deviation_ns("stddev_ns", 1)) {
    out.deviation_ns = *deviation / steps;
  }
  return out;
}

// A line of JSONL keeps its number in messages: the lines before it are white space to a parser.
std::vector<EngineStep> steps_of_lines(const std::string& text, const std::string& path) {
  std::vector<EngineStep> out;
  std::string before;
  for (std::size_t begin = 0; begin < text.size(); before += '\n') {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    const Json row = parse_json(before + line, path);
    out.push_back(step_of({row, path + ':' + std::to_string(before.size() + 1)}));
  }
  return out;
}

}  // namespace

std::vector<EngineStep> llama_bench_steps(const std::string& text, const std::string& path) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && text[first] == '{') return steps_of_lines(text, path);
  const Json rows = parse_json(text, path);
  if (!rows.is_array()) {
    throw refused("no output of llama-bench", path, "llama-bench -o json or -o jsonl writes it");
  }
  std::vector<EngineStep> out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.push_back(step_of(BenchObject{rows, path + ':'}.at(i)));
  }
  return out;
}

}  // namespace halmark::deploy
