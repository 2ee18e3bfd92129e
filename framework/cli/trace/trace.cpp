// halmark trace: what a torch-profiler trace executed, per layer and operator, and whether that is
// what the model says.
#include <algorithm>
#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "cli/trace/trace_predict.hpp"
#include "core/input/input_file.hpp"
#include "profile/capture/recipes.hpp"

#ifdef HALMARK_HAS_TRACE
#include "pages/trace/trace_page.hpp"
#include "profile/trace/stages.hpp"
#endif

namespace halmark::cli {
namespace {

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
  CommandResult out{.data = trace::trace_json(recording, attribution, view),
                    .text = pages::trace_text(recording, attribution, view, stdout_columns())};
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

CommandResult shown_recipe(const std::string& engine) {
  const CaptureRecipe& recipe = capture_recipe(engine);
  return {.data = recipe_json(recipe), .text = recipe_text(recipe)};
}

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
  return [=](const GlobalOptions& global) {
    options->has_workload = std::ranges::any_of(sizes, &Option::is_given);
    if (!options->recipe.empty()) return shown_recipe(options->recipe);
    if (options->file.empty()) {
      throw refused("no trace is named", {},
                    "name a file; --recipe vllm says how a server records one");
    }
    return execute(global, *options);
  };
}

}  // namespace halmark::cli
