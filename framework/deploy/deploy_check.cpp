#include "deploy/deploy_check.hpp"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "deploy/bench/bench_field.hpp"
#include "deploy/engine/llama_server.hpp"
#include "deploy/engine/random_checkpoint.hpp"
#include "export/engine/launch_text.hpp"

namespace halmark::deploy {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t seed = 17;
constexpr std::int64_t decode_steps_max = 64, context_min = 8, prompt_repeats = 5;
constexpr std::int64_t first_word = 3 + 256;  // of the vocabulary that random_checkpoint writes

const Workload& workload_of(const PlannedCheck& p) { return p.deployment.configuration().workload; }

// "" where the point's step can be asked of a server on this machine.
std::string unaskable(const Deployment& d, const exports::Launch& launch) {
  const Configuration& c = d.configuration();
  if (!d.device.empty()) return "it is of the device " + d.device + ", not of this machine";
  if (c.served || !d.point.estimate) return "it is no step with a time";
  if (launch.servers > 1)
    return std::to_string(launch.servers) + " servers would share this machine";
  if (c.workload.phase == Phase::prefill && c.workload.context != c.workload.new_tokens) {
    return "its prompt follows tokens that are cached";
  }
  if (c.workload.phase == Phase::decode && c.workload.context < context_min) {
    return "a context of " + std::to_string(c.workload.context) +
           " tokens is too short to be timed";
  }
  return {};
}

// "Q8_0" of "NAME-Q8_0.gguf", as the exported command names its file.
std::string weights_word(const exports::Launch& launch) {
  const auto* model = find_or_null(launch.flags, "--model", &exports::LaunchFlag::flag);
  const std::string name = !model ? "" : fs::path(model->value).stem().string();
  return name.substr(name.rfind('-') + 1);
}

// Files of random weights, one per type; removed at the end.
class WeightFiles {
 public:
  WeightFiles(const ModelSpec& spec, std::int64_t longest) : spec_(spec), longest_(longest) {}
  ~WeightFiles() {
    std::error_code ignored;
    for (const auto& [type, path] : paths_) fs::remove(path, ignored);
  }
  WeightFiles(const WeightFiles&) = delete;
  WeightFiles& operator=(const WeightFiles&) = delete;

  const std::string& path(const std::string& type) {
    std::string& out = paths_[type];
    if (!out.empty()) return out;
    const GgufFile file = random_checkpoint(spec_, gguf_type(type), longest_);
    out = (fs::temp_directory_path() /
           ("halmark-" + std::to_string(::getpid()) + '-' + type + ".gguf"))
              .string();
    write_gguf(file, out, seed);
    return out;
  }

 private:
  const ModelSpec& spec_;
  std::int64_t longest_;
  std::map<std::string, std::string> paths_;
};

std::vector<std::vector<std::int64_t>> prompts(const ModelSpec& spec, std::int64_t sequences,
                                               std::int64_t tokens, std::int64_t repeat) {
  std::vector<std::vector<std::int64_t>> out;
  std::uint64_t counter = 0;
  const auto words = as_uint64(spec.vocab - first_word);
  for (std::int64_t s = 0; s < sequences; ++s) {
    out.emplace_back();
    for (std::int64_t t = 0; t < tokens; ++t) {
      const std::uint64_t bits = hash_u64(seed + as_uint64(repeat), counter++);
      out.back().push_back(first_word + as_int64(uniform_below(bits, words)));
    }
  }
  return out;
}

// Steps of the first sequence while every sequence was generating, the last `wanted` of them.
std::vector<double> steps_together(const std::vector<TokenTimes>& all, std::int64_t wanted) {
  std::int64_t begin = 0, end = INT64_MAX;
  for (const TokenTimes& t : all) {
    if (t.arrival_ns.empty()) return {};
    begin = std::max(begin, t.arrival_ns.front());
    end = std::min(end, t.arrival_ns.back());
  }
  const TokenTimes& first = all.front();
  std::vector<double> out;
  for (std::size_t i = first.token_ns.size(); i-- > 1;) {
    if (first.arrival_ns[i] > end || first.arrival_ns[i - 1] < begin) continue;
    if (std::ssize(out) == wanted) break;
    out.push_back(first.token_ns[i] - first.token_ns[i - 1]);
  }
  return out;
}

// From one token each to the context of the point: all sequences begin and go on together, which
// long prompts, one after the other, would not.
std::vector<double> decode_samples(LlamaServer& server, const ModelSpec& spec, const Workload& w,
                                   EngineStep& step) {
  const std::int64_t wanted = std::min(decode_steps_max, w.context / 4);
  const auto all = server.complete(prompts(spec, w.batch, 1, 0), w.context - 1);
  step.output_tokens = wanted;
  step.cached_tokens = w.context - 1 - wanted;
  step.how =
      "tokens at contexts up to " + std::to_string(w.context - 1) + ", by the server's clock";
  return steps_together(all, wanted);
}

// Of one sequence the server's own time; of several from the first request to the last answer.
std::vector<double> prefill_samples(LlamaServer& server, const ModelSpec& spec, const Workload& w,
                                    EngineStep& step) {
  step.input_tokens = w.new_tokens;
  step.how = w.batch == 1 ? "whole prompts, by the server's clock"
                          : "from the first request to the first token of the last";
  std::vector<double> out;
  for (std::int64_t repeat = 0; repeat <= prompt_repeats; ++repeat) {
    const auto all = server.complete(prompts(spec, w.batch, w.new_tokens, repeat), 1);
    std::int64_t begin = INT64_MAX, end = 0;
    for (const TokenTimes& t : all) {
      begin = std::min(begin, t.sent_ns);
      if (!t.arrival_ns.empty()) end = std::max(end, t.arrival_ns.front());
    }
    if (repeat == 0) continue;  // warms up
    out.push_back(w.batch == 1 ? all.front().prompt_ns : as_double(end - begin));
  }
  return out;
}

std::vector<std::string> replaced_model(std::vector<std::string> words, const std::string& path) {
  const auto flag = std::ranges::find(words, "--model");
  if (flag != words.end() && flag + 1 != words.end()) *(flag + 1) = path;
  words.erase(words.begin());  // the name of the program
  return words;
}

CheckedPoint check_point(const ModelSpec& spec, const PlannedCheck& planned, WeightFiles& weights,
                         const CheckSettings& settings) {
  const Workload& w = workload_of(planned);
  const Estimate& estimate = *planned.deployment.point.estimate;
  const std::string type = weights_word(planned.launch), phase(phase_name(w.phase));
  settings.progress(phase + ": random weights, " + type);
  const std::string& path = weights.path(type);
  CheckedPoint out{
      .planned = planned,
      .added = {"--model: a file of random weights", "--host 127.0.0.1 --port: a free one"},
      .predicted_ns = estimate.step_ns,
      .low_ns = estimate.low_ns,
      .high_ns = estimate.high_ns,
      .measured = {}};
  settings.progress(phase + ": the server loads them");
  LlamaServer server(
      {settings.program, replaced_model(exports::server_words(planned.launch, 0), path)},
      settings.stop);
  EngineStep& step = out.measured;
  step.engine = planned.launch.engine;
  step.engine_version = server.build();
  step.model = spec.id + ", random weights";
  step.model_id = planned.deployment.configuration().model;
  step.precision = type;
  step.device = settings.device;
  step.phase = phase;
  step.batch = w.batch;
  settings.progress(phase + ": the server computes");
  const std::vector<double> samples = w.phase == Phase::decode
                                          ? decode_samples(server, spec, w, step)
                                          : prefill_samples(server, spec, w, step);
  if (samples.empty()) throw unfit("llama-server gave no time of a " + phase + " step");
  const SampleFigures figures = figures_of(samples);
  step.step_ns = checked_time(figures.mean, "llama-server");
  step.deviation_ns = figures.deviation;
  step.samples = std::ssize(samples);
  return out;
}

}  // namespace

std::string server_program(const std::string& folder) {
  const fs::path path = fs::path(folder) / "llama-server";
  std::error_code ignored;
  if (!folder.empty() && ::access(path.c_str(), X_OK) == 0 && !fs::is_directory(path, ignored)) {
    return fs::absolute(path).string();
  }
  throw unfit(folder.empty() ? "no llama.cpp is named: --engine FOLDER, the one of llama-server"
                             : "there is no program llama-server in " + printable(folder),
              "pip download --no-deps --no-binary :all: llama-cpp-python, unpack it, cmake -S "
              "vendor/llama.cpp -B B && cmake --build B --target llama-server, --engine B/bin");
}

std::vector<PlannedCheck> plan_checks(const SearchedFront& front, std::optional<std::int64_t> point,
                                      const exports::EngineTable& table,
                                      const exports::DeploymentAt& deployment_at) {
  std::vector<PlannedCheck> out;
  std::string why;
  for (const auto i : indices(front.points)) {
    if (point && *point != as_int64(i + 1)) continue;
    const Phase phase = front.points[i].configuration.workload.phase;
    const auto has_phase = [&](const PlannedCheck& p) { return workload_of(p).phase == phase; };
    if (std::ranges::any_of(out, has_phase)) continue;
    std::string reason;
    try {
      PlannedCheck planned{.deployment = deployment_at(i), .launch = {}};
      planned.launch = exports::launch_of(planned.deployment, table);
      planned.launch.flags.push_back({"--no-cache-prompt", "", "every prompt is computed"});
      reason = unaskable(planned.deployment, planned.launch);
      if (reason.empty()) out.push_back(std::move(planned));
    } catch (const Error& error) {
      reason = error.what();
    }
    if (why.empty()) why = reason;
  }
  if (!out.empty()) return out;
  if (why.empty()) why = point ? "it has no such point" : "it has no point";
  throw refused("no point can be run with " + table.name() + " here: " + why, front.origin);
}

std::vector<CheckedPoint> check_points(const ModelSpec& spec,
                                       const std::vector<PlannedCheck>& planned,
                                       const CheckSettings& settings) {
  std::int64_t longest = 0;
  for (const PlannedCheck& p : planned) {
    longest = std::max(longest, admission_of(p.deployment.configuration()).longest + 1);
  }
  WeightFiles weights(spec, longest);
  return mapped(planned,
                [&](const PlannedCheck& p) { return check_point(spec, p, weights, settings); });
}

}  // namespace halmark::deploy
