// Unknown FLOPs are said to be unknown: a dash is for operators that have none.
#include "cli/trace_view.hpp"

#include <fmt/format.h>

#include <map>

#include "cli/console/terminal.hpp"
#include "core/text/clean_text.hpp"

namespace halmark::cli {
namespace {

using trace::Attribution;
using trace::Recording;
using trace::TraceLine;
using trace::TraceView;

std::string layer_text(std::int32_t layer) { return layer < 0 ? "-" : std::to_string(layer); }

std::string flops_text(const TraceLine& line) {
  if (line.flops) return fmt::format("{:.6f}", *line.flops / 1e9);
  return line.should_be_known() ? "unknown" : "-";
}

std::string head_text(const Recording& recording, const Attribution& attribution) {
  std::map<trace::TraceStage, std::size_t> stages;
  for (const trace::Pass& pass : attribution.passes) ++stages[pass.stage];
  std::string passes;
  for (const auto& [stage, count] : stages) {
    passes += fmt::format("{}{} {}", passes.empty() ? "" : ", ", count, trace::stage_name(stage));
  }
  std::string out =
      fmt::format("{}: {} events, {} operators in {} of JSON; {} passes{}\n",
                  printable(recording.where), recording.totals.events, recording.operators,
                  bytes_text(static_cast<double>(recording.totals.bytes)),
                  attribution.passes.size(), passes.empty() ? "" : " (" + passes + ")");
  if (!recording.has_modules) {
    out += "no module frames: record with with_stack=True to see layers and modules\n";
  }
  if (!recording.has_shapes) out += "no shapes: record with record_shapes=True to count FLOPs\n";
  return out;
}

std::string device_text(const trace::DeviceTime& device) {
  if (device.kernels == 0) return "no device events: times are those of the host\n";
  const std::int64_t rest = device.total_ns - device.assigned_ns;
  std::string out = fmt::format(
      "device time: {} assigned + {} of unexplained graph replays + {} without a launch = {} ({} "
      "kernels)\n",
      duration_text(static_cast<double>(device.assigned_ns)),
      duration_text(static_cast<double>(device.ambiguous_ns)),
      duration_text(static_cast<double>(rest - device.ambiguous_ns)),
      duration_text(static_cast<double>(device.total_ns)), device.kernels);
  if (device.replays > 0) {
    out += fmt::format("graph replays: {}, of which {} unexplained{}\n", device.replays,
                       device.unexplained_replays,
                       device.replay_reason.empty() ? "" : " (" + device.replay_reason + ")");
  }
  return out;
}

}  // namespace

std::string trace_text(const Recording& recording, const Attribution& attribution,
                       const TraceView& view) {
  TextTable table({"stage", "layer", "module", "operator", "category", "dtype", "count", "GFLOP",
                   "time", "share"},
                  {false, true, false, false, false, false, true, true, true, true});
  const bool has_device = attribution.device.total_ns > 0;
  std::string unexplained;
  for (const TraceLine& line : view.lines) {
    table.add({std::string(trace::stage_name(line.stage)), layer_text(line.layer), line.path,
               line.operator_name, line.category, line.dtype, std::to_string(line.count),
               flops_text(line),
               duration_text(static_cast<double>(has_device ? line.device_ns : line.host_ns)),
               rounded_percent_text(line.share)});
    if (line.is_unexplained) {
      unexplained += fmt::format("  {} x{} in {}: {}\n", line.operator_name, line.count,
                                 line.path.empty() ? "no module" : line.path, line.flops_reason);
    }
  }
  std::string out = head_text(recording, attribution) + '\n' + table.text() + '\n';
  out += fmt::format("matmul FLOPs {:.0f}; of unknown FLOPs: {} executions\n", view.known_flops,
                     view.unknown_count);
  out += device_text(attribution.device);
  if (!unexplained.empty()) out += "FLOPs unknown, not zero:\n" + unexplained;
  return out;
}

std::string comparison_text(const trace::Comparison& comparison) {
  constexpr std::size_t rows_max = 400;
  const bool shows_all = comparison.rows.size() <= rows_max;
  TextTable table(
      {"pass", "layer", "operator of the model", "trace FLOPs", "model FLOPs", "verdict", "trace"},
      {true, true, false, true, true, false, false});
  std::string notes, unexplained;
  for (const trace::ComparedRow& row : comparison.rows) {
    if (!shows_all && row.verdict == trace::Verdict::ok) continue;
    const auto number = [](const std::optional<double>& flops) {
      return flops ? fmt::format("{:.0f}", *flops) : std::string("unknown");
    };
    std::string sources;
    for (const std::string& source : row.sources) {
      sources += (sources.empty() ? "" : ", ") + printable(source);
    }
    table.add({std::to_string(row.pass), layer_text(row.layer),
               row.operators.empty() ? "-" : row.operators, number(row.trace_flops),
               row.model_flops ? number(row.model_flops) : "-",
               std::string(trace::verdict_name(row.verdict)), sources.empty() ? "-" : sources});
    const std::string note = row.note.empty() ? "" : "note: " + message_text(row.note) + '\n';
    if (notes.find(note) == std::string::npos) notes += note;
  }
  for (const trace::ExplainedWork& w : comparison.work) {
    if (!w.explanation.empty()) continue;
    unexplained += fmt::format("  {} x{} in {}\n", printable(w.operator_name), w.count,
                               w.path.empty() ? "no module" : printable(w.path));
  }
  std::string out = table.text() + notes;
  if (!unexplained.empty()) out += "unexplained operators:\n" + unexplained;
  out += fmt::format(
      "{}{} ok, {} mismatch, {} missing in trace, {} not in model, {} unknown; {} "
      "unexplained operators\n",
      shows_all ? "" : "rows that are ok are left out above; ",
      comparison.count(trace::Verdict::ok), comparison.count(trace::Verdict::mismatch),
      comparison.count(trace::Verdict::missing_in_trace),
      comparison.count(trace::Verdict::not_in_model), comparison.count(trace::Verdict::unknown),
      comparison.unexplained());
  return out;
}

std::string prediction_text(const trace::TracedStep& step,
                            const trace::StepPrediction& prediction) {
  TextTable table({"problem", "count", "in the trace", "here", "of the step"},
                  {false, true, true, true, true});
  std::string reasons;
  for (std::size_t i = 0; i < step.kernels.size(); ++i) {
    const trace::TracedKernel& kernel = step.kernels[i];
    const trace::KernelTime& time = prediction.kernels[i];
    const auto count = static_cast<double>(kernel.count);
    const double all_ns = time.ns ? count * *time.ns : kernel.traced_ns;
    table.add({kernel.problem.text(), std::to_string(kernel.count),
               duration_text(kernel.traced_ns / count), time.ns ? duration_text(*time.ns) : "-",
               rounded_percent_text(all_ns / prediction.total_ns())});
    if (!time.ns) reasons += "  " + kernel.problem.text() + ": " + message_text(time.reason) + '\n';
  }
  const std::string stage =
      step.stage == trace::TraceStage::unknown ? "" : std::string(trace::stage_name(step.stage));
  std::string out = fmt::format(
      "\n{}{}step predicted: {} ({} to {} by the intervals of its kernels)\n"
      "  {} in {} executions measured here, {} as in the trace: {} operators and {} outside of "
      "operators\n  recorded under the profiler: {}, median of {} {}\n",
      stage, stage.empty() ? "" : " ", duration_text(prediction.total_ns()),
      duration_text(prediction.low_ns), duration_text(prediction.high_ns),
      duration_text(prediction.measured_ns), prediction.measured,
      duration_text(prediction.traced_ns), prediction.traced, duration_text(step.outside_ns),
      duration_text(step.wall_ns), step.passes, step.passes == 1 ? "pass" : "passes");
  out += '\n' + table.text();
  if (!reasons.empty()) out += "not measured here, time of the trace:\n" + reasons;
  return out;
}

}  // namespace halmark::cli
