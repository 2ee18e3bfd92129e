// halmark trace: what a torch-profiler trace executed, per layer and operator, and whether that is
// what the model says.
#include <fmt/format.h>

#include <charconv>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "core/text/error.hpp"

#ifdef HALMARK_HAS_TRACE
#include "cli/trace_view.hpp"
#include "model/graph/graph.hpp"
#include "model/spec/model_spec.hpp"
#include "profile/trace/stages.hpp"
#endif

namespace halmark::cli {
namespace {

struct Options {
  std::string file;
  std::string layers, stage, category;
  double min_flops = 0;
  std::string compare;
  double tolerance_pct = 1;
  std::uint64_t max_unpacked_mib = 4096;
  DeploymentOptions configuration;
  bool has_workload = false;  // any of its sizes was given
};

#ifdef HALMARK_HAS_TRACE

trace::LayerRange layer_range(const std::string& text) {
  trace::LayerRange out;
  if (text.empty()) return out;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, out.first);
  bool is_valid = first.ec == std::errc() && out.first >= 0;
  out.last = out.first;
  if (is_valid && first.ptr != end) {
    const bool has_dots = end - first.ptr > 2 && first.ptr[0] == '.' && first.ptr[1] == '.';
    const auto last = std::from_chars(has_dots ? first.ptr + 2 : end, end, out.last);
    is_valid = has_dots && last.ec == std::errc() && last.ptr == end && out.last >= out.first;
  }
  if (!is_valid) throw refused("--layers '" + text + "' is no range", {}, "write 3 or 0..5");
  return out;
}

TraceFilter filter_from(const Options& options) {
  TraceFilter out{.flops_min = options.min_flops,
                  .layers = layer_range(options.layers),
                  .category = options.category};
  for (const auto stage : {trace::TraceStage::prefill, trace::TraceStage::decode,
                           trace::TraceStage::mixed, trace::TraceStage::unknown}) {
    if (options.stage == trace::stage_name(stage)) out.stage = stage;
  }
  return out;
}

OperatorGraph graph_or_refuse(const ModelSpec& spec, const Configuration& configuration) {
  auto built = build_graph(spec, configuration);
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  return *std::move(built);
}

struct Compared {
  trace::Comparison comparison;
  Json passes = Json::array();
  std::string text;  // one line per pass
};

// Each pass against the model with the pass's own sizes, or with those that were given.
Compared compare(const Options& options, const trace::Recording& recording,
                 const trace::Attribution& attribution, const TraceFilter& filter) {
  const ModelSpec spec = load_model(options.compare, config_dirs("models"));
  Configuration configuration = deployment_from(options.configuration, spec, true);
  const Workload given = configuration.workload;
  Compared out;
  std::size_t compared = 0;
  for (std::uint32_t i = 0; i < attribution.passes.size(); ++i) {
    const trace::Pass& pass = attribution.passes[i];
    if (filter.stage && pass.stage != *filter.stage) continue;
    const auto seen = trace::workload_of(attribution, i, spec, configuration.parallel);
    std::string reason;
    if (pass.stage == trace::TraceStage::mixed) {
      reason = "prefill and decode are mixed";
    } else if (options.has_workload && pass.stage != trace::TraceStage::unknown &&
               trace::stage_name(pass.stage) != phase_name(given.phase)) {
      reason = "is " + std::string(trace::stage_name(pass.stage)) + ", " +
               std::string(phase_name(given.phase)) + " was asked for";
    } else if (!options.has_workload && !seen) {
      reason = "its attention does not tell batch and lengths; give --batch, --context";
    }
    if (reason.empty()) {
      configuration.workload = options.has_workload ? given : *seen;
      compare_pass(recording, attribution, i, graph_or_refuse(spec, configuration),
                   options.tolerance_pct / 100, filter.layers, out.comparison);
      ++compared;
    }
    const Workload& w = configuration.workload;
    out.passes.push_back({{"pass", i}, {"compared", reason.empty()}});
    if (reason.empty()) {
      out.passes.back()["workload"] = w;
      out.passes.back()["workload_source"] = options.has_workload ? "options" : "trace";
    } else {
      out.passes.back()["reason"] = reason;
    }
    out.text += reason.empty()
                    ? fmt::format("pass {}: {} batch {} new tokens {} context {} (from the {})\n",
                                  i, phase_name(w.phase), w.batch, w.new_tokens, w.context,
                                  options.has_workload ? "options" : "trace")
                    : fmt::format("pass {}: not compared: {}\n", i, reason);
  }
  if (compared == 0) {
    throw refused("no pass of the trace can be compared", options.file,
                  "the trace needs shapes and modules (record_shapes, with_stack); --stage and the "
                  "sizes must be those of a pass");
  }
  return out;
}

CommandResult execute(const Options& options) {
  const TraceFilter filter = filter_from(options);
  const auto source =
      trace::open_bytes(options.file, {.bytes_max = options.max_unpacked_mib << 20});
  trace::Recording recording = trace::record(*source, options.file);
  const trace::Attribution attribution = trace::attribute(recording);
  if (recording.operators == 0) {
    throw refused("has no operators", options.file,
                  "profile with activities=[ProfilerActivity.CPU, ...]");
  }
  const TraceView view = trace_view(recording, attribution, filter);
  CommandResult out{.data = trace_json(recording, attribution, view),
                    .text = trace_text(recording, attribution, view)};
  if (options.compare.empty()) return out;
  const Compared compared = compare(options, recording, attribution, filter);
  out.data["comparison"] = comparison_json(compared.comparison);
  out.data["comparison"]["model"] = options.compare;
  out.data["comparison"]["tolerance"] = options.tolerance_pct / 100;
  out.data["comparison"]["passes"] = compared.passes;
  out.text += fmt::format("\ncompared with {}, tolerance {} %\n", printable(options.compare),
                          options.tolerance_pct) +
              compared.text + '\n' + comparison_text(compared.comparison);
  const bool is_equal =
      compared.comparison.count(trace::Verdict::ok) == compared.comparison.rows.size() &&
      compared.comparison.unexplained() == 0;
  if (!is_equal) out.exit_code = ExitCode::gate_failed;
  return out;
}

#else

CommandResult execute(const Options&) {
  throw unfit("halmark trace was built without simdjson and zlib",
              "install libsimdjson-dev and zlib1g-dev and build again");
}

#endif

}  // namespace

Action add_trace(OptionSet& app) {
  auto options = std::make_shared<Options>();
  app.add_option("file", options->file, "Trace of torch.profiler, .json or .json.gz")->required();
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
      ->check(within(0.0, 100.0));
  app.add_option("--max-unpacked-mib", options->max_unpacked_mib, "Limit for .gz files")
      ->check(within(1, 1 << 20));
  add_deployment_options(app, options->configuration);
  return [options, app](const GlobalOptions&) {
    for (const char* size : {"--phase", "--batch", "--new-tokens", "--context"}) {
      options->has_workload |= app.is_given(size);
    }
    return execute(*options);
  };
}

}  // namespace halmark::cli
