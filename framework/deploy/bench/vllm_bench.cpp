// vllm bench: latency knows its times alone, serve its model and load too; neither the version.
#include <algorithm>
#include <cmath>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/bench/engine_bench.hpp"

namespace halmark::deploy {
namespace {

constexpr double second_ns = 1e9, agreement = 1e-6;

// A whole batch from its prompts to its last token; the file has neither its size nor its lengths.
EngineStep latency_step(const BenchObject& file, const StatedFacts& stated) {
  if (stated.batch == 0 || stated.input_tokens == 0 || stated.output_tokens == 0) {
    throw refused("the output of vllm bench latency does not say what its batch was", file.where,
                  "--batch, --input and --output as they were given to it (its defaults: 8, 32, "
                  "128)");
  }
  EngineStep out{.engine = "vllm",
                 .phase = "request",
                 .batch = stated.batch,
                 .input_tokens = stated.input_tokens,
                 .output_tokens = stated.output_tokens,
                 .step_ns = file.time_ns("avg_latency", second_ns),
                 .how = "the prompts and all generated tokens of the batch"};
  const BenchObject list = file.list("latencies");
  std::vector<double> samples;
  for (const Json& sample : list.value) {
    if (!sample.is_number()) throw refused("a number is expected", list.where);
    samples.push_back(checked_time(sample.get<double>() * second_ns, list.where));
  }
  if (samples.empty()) throw refused("there is no sample", list.where);
  const SampleFigures figures = figures_of(samples);
  if (std::fabs(figures.mean - out.step_ns) > agreement * out.step_ns) {
    throw refused("its mean is " + number_text(figures.mean / second_ns, 8) +
                      " s, and avg_latency says " + number_text(out.step_ns / second_ns, 8),
                  list.where);
  }
  out.samples = std::ssize(samples);
  out.deviation_ns = figures.deviation;  // std_latency, which older releases leave out
  return out;
}

std::int64_t mean_count(std::int64_t total, std::int64_t of) {
  return std::llround(as_double(total) / as_double(of));
}

// Means over requests, queueing included: what a client saw.
BenchRead served_steps(const BenchObject& file, const StatedFacts& stated) {
  const std::int64_t completed = file.count("completed");
  BenchRead out{.steps = {}, .unit = "requests", .left_out = {}};
  out.take(completed);
  const std::int64_t others = file.has("num_prompts") ? file.count("num_prompts") - completed : 0;
  const std::int64_t failed =
      file.has("failed") ? file.count("failed") : std::max<std::int64_t>(others, 0);
  out.leave_out(failed, "that failed");
  if (file.has("num_prompts") && file.count("num_prompts") != out.in_file) {
    throw refused(std::to_string(out.in_file) + " requests completed or failed of " +
                      std::to_string(file.count("num_prompts")),
                  file.place("num_prompts"));
  }
  if (completed == 0) throw refused("no request was completed", file.place("completed"));
  EngineStep step{
      .engine = "vllm",
      .model = file.text("model_id"),
      .batch = file.has("max_concurrency") ? file.count("max_concurrency") : stated.batch,
      .input_tokens = mean_count(file.count("total_input_tokens"), completed),
      .output_tokens = mean_count(file.count("total_output_tokens"), completed),
      .samples = completed};
  step.phase = "prefill";
  step.how = "time to the first token of a request, queueing included";
  step.step_ns = file.time_ns("mean_ttft_ms", millisecond_ns);
  step.deviation_ns = file.deviation_ns("std_ttft_ms", millisecond_ns);
  out.steps.push_back(step);
  if (step.output_tokens < 2) return out;  // it generated no token behind the first
  step.phase = "decode";
  step.how = "time per later token of a request, other requests' prompts between them";
  step.step_ns = file.time_ns("mean_tpot_ms", millisecond_ns);
  step.deviation_ns = file.deviation_ns("std_tpot_ms", millisecond_ns);
  out.steps.push_back(step);
  return out;
}

}  // namespace

BenchRead vllm_bench_steps(const std::string& text, const std::string& path,
                           const StatedFacts& stated) {
  const Json document = parse_json(text, path);
  const BenchObject file{document, path + ':'};
  if (file.has("avg_latency")) {
    BenchRead out{
        .steps = {latency_step(file, stated)}, .unit = "runs of the batch", .left_out = {}};
    out.take(out.steps.front().samples);
    return out;
  }
  if (file.has("mean_ttft_ms")) return served_steps(file, stated);
  throw refused(
      "no output of vllm bench: neither avg_latency nor mean_ttft_ms is there", path,
      "vllm bench latency --output-json FILE or vllm bench serve --save-result writes it");
}

}  // namespace halmark::deploy
