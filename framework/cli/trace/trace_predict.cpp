// Steps share their kernels: each problem is measured once, in the ring of the step that executes
// it most often.
#include "cli/trace/trace_predict.hpp"

#include <map>

#include "cli/console/session.hpp"
#include "host/process/interrupt.hpp"
#include "pages/trace/prediction_page.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::cli {
namespace {

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

// What was measured, by the key of its case.
std::map<std::string, KernelPoint> measured(const GlobalOptions& global,
                                            const PredictionRequest& asked,
                                            const FoundPlugin& plugin, LocalMachine& machine,
                                            const Cases& cases, CommandResult& out) {
  std::vector<KernelCase> list;
  for (const auto& [problem, kernel_case] : cases) list.push_back(kernel_case);
  std::optional<RunPeaks> peaks = run_peaks(machine);
  tune::KernelMeasuring measuring = measuring_with(global, machine, plugin, peaks);
  if (asked.rounds) measuring.rounds = *asked.rounds;
  measuring.seconds = asked.seconds;
  tune::KeptRows kept = kept_rows(global, machine, {});
  measuring.sink = keeping_sink(kept, peaks, machine.cores);
  Progress progress(global, "trace");
  measuring.progress = campaign_progress(progress);
  const std::vector<Measurement> rows = tune::measure_kernels(list, measuring);
  progress.finish();
  keep_seen_peaks(machine, peaks ? &*peaks : nullptr);
  say_what_is_kept(global, kept, out);
  return tune::points_by_key(rows, reporting_machine(machine));
}

trace::KernelTime time_of(const KernelCase& kernel_case,
                          const std::map<std::string, KernelPoint>& points) {
  const auto found = points.find(kernel_case.key());
  if (found == points.end()) return {{}, {}, {}, "interrupted before it was measured"};
  const KernelPoint& point = found->second;
  if (!point.duration_ns) {
    return {{}, {}, {}, std::string(status_name(point.status)) + ": " + point.reason};
  }
  return {point.duration_ns, point.low_ns, point.high_ns, {}};
}

}  // namespace

void predict_steps(const GlobalOptions& global, const PredictionRequest& asked,
                   const std::string& file, const trace::Attribution& attribution,
                   CommandResult& out) {
  const std::vector<trace::TracedStep> steps = trace::traced_steps(attribution);
  if (steps.empty()) {
    throw refused("has no pass to predict", file,
                  "record each step inside record_function(\"ProfilerStep#N\"), or call "
                  "profiler.step()");
  }
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, asked.backend);
  check_device(plugin, asked.device);
  LocalMachine machine = local_machine();
  rows_are_of(machine, plugin, asked.device);
  const Cases cases = cases_of(steps, target_of(machine, asked.backend, asked.device, {}));
  if (cases.empty()) {
    throw refused("has no matrix product or attention of known shape", file,
                  "record with record_shapes=True");
  }
  const HeldInterrupts until_reported;
  const auto points = measured(global, asked, plugin, machine, cases, out);
  Json& data = out.data["predictions"] = Json::array();
  for (const trace::TracedStep& step : steps) {
    const trace::StepPrediction prediction = trace::predict(
        step, [&](const Problem& problem) { return time_of(cases.at(problem), points); });
    data.push_back(trace::prediction_json(step, prediction));
    out.text += pages::prediction_text(step, prediction, stdout_columns());
    if (prediction.measured == 0) out.exit_code = ExitCode::partial;
  }
  if (interrupted()) out.exit_code = interrupt_exit_code();
}

}  // namespace halmark::cli
