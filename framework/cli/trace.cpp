// halmark trace: what a torch-profiler trace executed, per layer and operator, and whether that is
// what the model says.
#include <algorithm>
#include <map>
#include <memory>

#include "cli/console/session.hpp"
#include "core/input/input_file.hpp"
#include "core/lists.hpp"
#include "profile/capture/recipes.hpp"

#ifdef HALMARK_HAS_TRACE
#include "pages/trace/prediction_page.hpp"
#include "pages/trace/trace_page.hpp"
#include "profile/trace/stages.hpp"
#include "tune/plan/kernel_cases.hpp"
#endif

namespace halmark::cli {
namespace {

struct PredictionRequest {
  std::string backend = "cpu", device = "0";
  std::optional<int> rounds;  // absent: what this machine needs
  double seconds = 0.2;       // per kernel and round
};

struct TraceOptions {
  std::string file, recipe;
  std::string layers, stage, category;
  double min_flops = 0;
  std::string compare;
  double tolerance_pct = 1;
  std::uint64_t max_unpacked_mib = trace_input.bytes_max / mebibyte;
  DeploymentOptions configuration;
  bool has_workload = false;  // any of its sizes was given
  bool predicts = false;
  PredictionRequest prediction;
};

#ifdef HALMARK_HAS_TRACE

trace::TraceFilter filter_from(const TraceOptions& options) {
  return {.flops_min = options.min_flops,
          .layers = trace::layer_range(options.layers),
          .stage = trace::parse_stage(options.stage),
          .category = options.category};
}

void compare(const TraceOptions& options, const trace::Recording& recording,
             const trace::Attribution& attribution, const trace::TraceFilter& filter,
             CommandResult& out) {
  const ModelSpec spec = load_model(options.compare, config_dirs("models"));
  const trace::ModelComparison compared =
      trace::compare_model(recording, attribution,
                           {spec, deployment_from(options.configuration, spec, true),
                            options.has_workload, options.tolerance_pct / 100},
                           filter);
  const report::View view =
      pages::comparison_view(compared, {.model = options.compare,
                                        .tolerance_pct = options.tolerance_pct,
                                        .has_workload = options.has_workload,
                                        .width = stdout_columns()});
  out.data.update(view.data);
  out.text += view.text;
  if (!compared.is_equal()) out.exit_code = ExitCode::gate_failed;
}

// Steps share their kernels: each problem is measured once, in the ring of the step that executes
// it most often.
using Cases = std::map<Problem, KernelCase>;

Cases cases_of(const std::vector<trace::TracedStep>& steps, const tune::Target& target) {
  Cases out;
  for (const trace::TracedStep& step : steps) {
    for (const trace::TracedKernel& kernel : step.kernels) {
      KernelCase next = tune::executed_case(kernel.problem, trace::constant_bytes(step), target);
      KernelCase& of_problem = out.try_emplace(kernel.problem, next).first->second;
      of_problem.sets = std::max(of_problem.sets, next.sets);
    }
  }
  return out;
}

trace::KernelTime time_of(const KernelCase& kernel_case,
                          const std::map<std::string, KernelPoint>& points) {
  const auto* found = find_value(points, kernel_case.key());
  if (!found) return {{}, {}, {}, "interrupted before it was measured"};
  const KernelPoint& point = *found;
  if (!point.duration_ns) {
    return {{}, {}, {}, std::string(status_name(point.status)) + ": " + point.reason};
  }
  return {point.duration_ns, point.low_ns, point.high_ns, {}};
}

// Adds "predictions" to the result, one for each step that the trace has. Throws Error (exit 2)
// where the trace has no pass, or no kernel of ours.
void predict_steps(const GlobalOptions& global, const PredictionRequest& asked,
                   const std::string& file, const trace::Attribution& attribution,
                   CommandResult& out) {
  const std::vector<trace::TracedStep> steps = trace::traced_steps(attribution);
  if (steps.empty()) {
    throw refused("has no pass to predict", file,
                  "record each step inside record_function(\"ProfilerStep#N\"), or call "
                  "profiler.step()");
  }
  PluginDevice on = plugin_device(global, asked.backend, asked.device);
  const Cases cases = cases_of(steps, target_of(on.machine, asked.backend, asked.device, {}));
  if (cases.empty()) {
    throw refused("has no matrix product or attention of known shape", file,
                  "record with record_shapes=True");
  }
  MeasuringSession session(global, "trace", &on.plugin, std::move(on.machine));
  if (asked.rounds) session.measuring.rounds = *asked.rounds;
  session.measuring.seconds = asked.seconds;
  session.keep();
  std::vector<KernelCase> list;
  for (const auto& [problem, kernel_case] : cases) list.push_back(kernel_case);
  const std::vector<Measurement> rows = tune::measure_kernels(list, session.measuring);
  session.finish();
  session.say_what_is_kept(out);
  const auto points = tune::points_by_key(rows, session.judge());
  Json& data = out.data["predictions"] = Json::array();
  for (const trace::TracedStep& step : steps) {
    const trace::StepPrediction prediction = trace::predict(
        step, [&](const Problem& problem) { return time_of(cases.at(problem), points); });
    data.push_back(trace::prediction_json(step, prediction));
    out.text += pages::prediction_text(step, prediction, stdout_columns());
    if (prediction.measured == 0) out.exit_code = ExitCode::partial;
  }
}

CommandResult execute(const GlobalOptions& global, const TraceOptions& options) {
  const trace::TraceFilter filter = filter_from(options);
  const auto source =
      trace::open_bytes(options.file, {.bytes_max = options.max_unpacked_mib << 20});
  trace::Recording recording = trace::record(*source, input_name(options.file));
  const trace::Attribution attribution = trace::attribute(recording);
  if (recording.operators == 0) {
    throw refused("has no operators", options.file,
                  "profile with activities=[ProfilerActivity.CPU, ...]");
  }
  const trace::TraceView view = trace::trace_view(recording, attribution, filter);
  CommandResult out =
      report::View{trace::trace_json(recording, attribution, view),
                   pages::trace_text(recording, attribution, view, stdout_columns())};
  if (!options.compare.empty()) compare(options, recording, attribution, filter, out);
  if (options.predicts) {
    predict_steps(global, options.prediction, options.file, attribution, out);
  }
  return out;
}

#else

CommandResult execute(const GlobalOptions&, const TraceOptions&) {
  throw unfit("halmark trace was built without simdjson and zlib",
              "install libsimdjson-dev and zlib1g-dev and build again");
}

#endif

}  // namespace

Action add_trace(OptionSet& app) {
  auto options = std::make_shared<TraceOptions>();
  app.add_option("file", options->file, "Trace of torch.profiler, .json or .json.gz");
  app.add_option("--recipe", options->recipe,
                 "How a server records such a trace: vllm, sglang, trtllm or torch")
      ->check(one_of({"vllm", "sglang", "trtllm", "torch"}));
  app.add_option("--min-flops", options->min_flops, "Only rows of at least that many matmul FLOPs")
      ->check(within(0.0, 1e30));
  app.add_option("--layers", options->layers, "Only these layers: 3 or 0..5");
  app.add_option("--stage", options->stage, "Only passes of this stage")
      ->check(one_of({"prefill", "decode", "mixed", "unknown"}));
  app.add_option("--category", options->category, "Only operators of this category")
      ->check(one_of({"matmul", "attention", "experts", "lookup", "elementwise", "normalization",
                      "activation", "rotary", "routing", "quantization", "cache_store", "movement",
                      "creation", "communication", "unknown"}));
  app.add_option("--compare", options->compare,
                 "Model to compare with, layer by layer: an id or a config.json; exit 3 when they "
                 "differ");
  app.add_option("--tolerance", options->tolerance_pct, "Largest difference that is ok, percent")
      ->check(within(0.0, 100.0))
      .with("--compare");
  app.add_option("--max-unpacked-mib", options->max_unpacked_mib,
                 "Limit of the file and of what it unpacks to")
      ->check(within(1, 1 << 20));
  app.add_flag("--predict", options->predicts,
               "Measure the trace's matrix products and attention here, and predict each step: the "
               "rest has the time of the trace");
  PredictionRequest& prediction = options->prediction;
  app.add_option("--backend", prediction.backend, "With --predict: who executes the kernels")
      .with("--predict");
  app.add_option("--device", prediction.device, "With --predict: device of the backend")
      .with("--predict");
  app.add_option("--rounds", prediction.rounds, "With --predict: fresh processes per kernel")
      ->check(within(1, 99))
      .with("--predict");
  app.add_option("--seconds", prediction.seconds,
                 "With --predict: sampling time per kernel and round")
      ->check(within(0.001, 600.0))
      .with("--predict");
  const auto sizes = add_layout_options(app, options->configuration);
  return [=](const GlobalOptions& global) -> CommandResult {
    options->has_workload = std::ranges::any_of(sizes, &Option::is_given);
    if (!options->recipe.empty()) {
      const CaptureRecipe& recipe = capture_recipe(options->recipe);
      return report::View{recipe_json(recipe), recipe_text(recipe)};
    }
    if (options->file.empty()) {
      throw refused("no trace is named", {},
                    "name a file; --recipe vllm says how a server records one");
    }
    return execute(global, *options);
  };
}

}  // namespace halmark::cli
