#include "pages/trace/trace_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "core/numeric/cast.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"
#include "report/text/wrapped_text.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using report::duration_text;
using report::rounded_percent_text;
using report::TextTable;
using trace::Attribution;
using trace::Recording;
using trace::TraceLine;
using trace::TraceView;

std::string layer_text(std::int32_t layer) { return layer < 0 ? "-" : std::to_string(layer); }

std::string flops_text(const TraceLine& line) {
  if (line.flops) return fmt::format("{:.6f}", *line.flops / 1e9);
  return line.should_be_known() ? "unknown" : "-";
}

// "not read: 1313 events of mtia_ccp_events": what a figure below may lack. The profiler's own
// frame around everything is no event of the job.
std::string unread_text(const Recording& recording) {
  std::string out;
  for (const auto& [category, count] : recording.unread_events) {
    if (category == "Trace") continue;
    out += fmt::format("{}{} events of {}", out.empty() ? "not read: " : ", ", count,
                       category.empty() ? "no category" : printable(category));
  }
  return out.empty() ? out : out + '\n';
}

std::string head_text(const Recording& recording, const Attribution& attribution) {
  std::map<trace::TraceStage, std::size_t> stages;
  for (const trace::Pass& pass : attribution.passes) ++stages[pass.stage];
  std::string passes;
  for (const auto& [stage, count] : stages) {
    append_item(passes, ", ", fmt::format("{} {}", count, trace::stage_name(stage)));
  }
  std::string out = fmt::format(
      "{}: {} events, {} operators in {} of JSON; {} passes{}\n", printable(recording.where),
      recording.totals.events, recording.operators, bytes_text(recording.totals.bytes),
      attribution.passes.size(), passes.empty() ? "" : " (" + passes + ")");
  if (!recording.has_modules) {
    out += "no module frames: record with with_stack=True to see layers and modules\n";
  }
  if (!recording.has_shapes) out += "no shapes: record with record_shapes=True to count FLOPs\n";
  return out + unread_text(recording);
}

// Causes below a percent are one.
std::string causes_text(const trace::TimeCauses& time) {
  if (time.wall_ns <= 0) return {};
  std::string out =
      fmt::format("where the time went, {} of {}: ",
                  time.passes == 1 ? "a step" : std::to_string(time.passes) + " steps",
                  duration_text(time.wall_ns));
  double rest = 0;
  for (const trace::TimeCause& cause : time.causes) {
    const bool is_last = &cause == &time.causes.back();
    if (cause.share < 0.01 && !is_last) {
      rest += cause.share;
      continue;
    }
    if (is_last && rest > 0) out += "others " + rounded_percent_text(rest) + ", ";
    out += cause.name + ' ' + rounded_percent_text(cause.share) + (is_last ? "" : ", ");
  }
  return out + '\n';
}

// What recomputing adds: a model's training step is 3 forward passes of products.
std::string training_text(const trace::TrainingStep& step, const std::string& model) {
  std::string out = fmt::format(
      "pass {}: a training step of {} sequences of {} tokens; {:.6g} GFLOP of products in the "
      "trace, {:.6g} by {}",
      step.pass, step.workload.batch, step.workload.new_tokens, step.trace_flops / 1e9,
      step.model_flops / 1e9, printable(model));
  const double more = step.trace_flops / step.model_flops - 1;
  out += fmt::format(" ({:+.1f} %", 100 * more);
  if (more > 0.05) out += ": recomputed, or more than the model has";
  if (step.unknown > 0)
    out += fmt::format("; {} executions of unknown FLOPs left out", step.unknown);
  return out + ")\n";
}

std::string device_text(const trace::DeviceTime& device) {
  if (device.kernels == 0) return "no device events are read: times are those of the host\n";
  const std::int64_t rest = device.total_ns - device.assigned_ns;
  std::string out = fmt::format(
      "device time: {} assigned + {} of unexplained graph replays + {} without a launch = {} ({} "
      "kernels)\n",
      duration_text(as_double(device.assigned_ns)), duration_text(as_double(device.ambiguous_ns)),
      duration_text(as_double(rest - device.ambiguous_ns)),
      duration_text(as_double(device.total_ns)), device.kernels);
  if (device.replays > 0) {
    out += fmt::format("graph replays: {}, of which {} unexplained{}\n", device.replays,
                       device.unexplained_replays,
                       device.replay_reason.empty() ? "" : " (" + device.replay_reason + ")");
  }
  return out;
}

// Figures of a line, behind what names it.
std::vector<std::string> figures_of(const TraceLine& line, bool has_device) {
  return {duration_text(as_double(has_device ? line.device_ns : line.host_ns)),
          rounded_percent_text(line.share),
          std::to_string(line.count),
          flops_text(line),
          std::string(trace::stage_name(line.stage)),
          layer_text(line.layer),
          line.dtype,
          line.category};
}

// A row says everything of itself: for files and pipes.
std::string flat_table(const TraceView& view, bool has_device) {
  TextTable table({"module", "operator", ">time", ">share", ">count", ">GFLOP", "stage", ">layer",
                   "dtype", "category"});
  for (const TraceLine& line : view.lines) {
    std::vector<std::string> cells = {line.path.empty() ? "-" : line.path, line.operator_name};
    std::ranges::move(figures_of(line, has_device), std::back_inserter(cells));
    table.add(cells);
  }
  return table.text();
}

// Module paths and operator names do not fit beside each other on a terminal.
std::string table_by_module(const TraceView& view, bool has_device, int width) {
  TextTable table({"module, operator", "time", "share", "count", "GFLOP", "stage", "layer", "dtype",
                   "category"},
                  {false, true, true, true, true, false, true, false, false});
  const TraceLine* last = nullptr;
  for (const TraceLine& line : view.lines) {
    if (last == nullptr || last->path != line.path || last->stage != line.stage) {
      table.add({line.path.empty() ? "(no module)" : line.path});
    }
    last = &line;
    std::vector<std::string> cells = {"  " + line.operator_name};
    std::ranges::move(figures_of(line, has_device), std::back_inserter(cells));
    table.add(cells);
  }
  return table.text(width);
}

std::string comparison_text(const trace::Comparison& comparison, int width) {
  constexpr std::size_t rows_max = 400;
  const bool shows_all = comparison.rows.size() <= rows_max;
  TextTable table({"operator of the model", ">layer", ">pass", "verdict", ">trace FLOPs",
                   ">model FLOPs", "trace"});
  std::string notes, unexplained;
  for (const trace::ComparedRow& row : comparison.rows) {
    if (!shows_all && row.verdict == trace::Verdict::ok) continue;
    const auto number = [](const std::optional<double>& flops) {
      return flops ? fmt::format("{:.0f}", *flops) : std::string("unknown");
    };
    std::string sources = join(row.sources, ", ", printable);
    table.add({row.operators.empty() ? "-" : row.operators, layer_text(row.layer),
               std::to_string(row.pass), std::string(trace::verdict_name(row.verdict)),
               number(row.trace_flops), row.model_flops ? number(row.model_flops) : "-",
               sources.empty() ? "-" : sources});
    const std::string note = row.note.empty() ? "" : "note: " + message_text(row.note) + '\n';
    if (notes.find(note) == std::string::npos) notes += note;
  }
  for (const trace::ExplainedWork& w : comparison.work) {
    if (!w.explanation.empty()) continue;
    unexplained += fmt::format("  {} x{} in {}\n", printable(w.operator_name), w.count,
                               w.path.empty() ? "no module" : printable(w.path));
  }
  std::string out = table.text(width) + report::wrapped_lines(notes, width);
  if (!unexplained.empty()) out += "unexplained operators:\n" + unexplained;
  out += report::wrapped(
      fmt::format("{}{} ok, {} mismatch, {} missing in trace, {} not in model, {} unknown; {} "
                  "unexplained operators",
                  shows_all ? "" : "rows that are ok are left out above; ",
                  comparison.count(trace::Verdict::ok), comparison.count(trace::Verdict::mismatch),
                  comparison.count(trace::Verdict::missing_in_trace),
                  comparison.count(trace::Verdict::not_in_model),
                  comparison.count(trace::Verdict::unknown), comparison.unexplained()),
      width);
  return out;
}

// The rank that was recorded against its share, and both over all ranks.
Json flops_json(const trace::PassFlops& flops) {
  return {{"trace_flops", flops.trace},
          {"model_flops", flops.model},
          {"scaled_flops", flops.scaled},
          {"whole_flops", flops.whole},
          {"rows_left_out", flops.unknown}};
}

std::string pass_flops_text(const trace::PassFlops& flops) {
  std::string out = fmt::format(
      "  this rank {:.6g} GFLOP of products, its share by the model {:.6g}; scaled to the model "
      "{:.6g} of {:.6g} GFLOP",
      flops.trace / 1e9, flops.model / 1e9, flops.scaled / 1e9, flops.whole / 1e9);
  if (flops.unknown > 0) {
    out += fmt::format("; without {} rows that only one side has or knows", flops.unknown);
  }
  return out + '\n';
}

// One entry, and two lines, per pass.
report::View passes_view(const trace::ModelComparison& compared, const ComparedPage& page) {
  report::View out{.data = Json::array()};
  const char* source = page.has_workload ? "options" : "trace";
  for (const trace::ComparedPass& p : compared.passes) {
    Json& entry =
        out.data.emplace_back(Json{{"pass", p.pass}, {"compared", p.workload.has_value()}});
    if (!p.workload) {
      entry["reason"] = p.reason;
      out.text += fmt::format("pass {}: not compared: {}\n", p.pass, p.reason);
      continue;
    }
    entry["workload"] = *p.workload;
    entry["workload_source"] = source;
    if (p.workload->phase == Phase::training) {
      const trace::TrainingStep& step =
          *std::ranges::find(compared.training, p.pass, &trace::TrainingStep::pass);
      entry["workload_source"] = "trace";
      entry["flops"] = {{"trace_flops", step.trace_flops},
                        {"model_flops", step.model_flops},
                        {"unknown_executions", step.unknown}};
      out.text += training_text(step, page.model);
      continue;
    }
    entry["flops"] = flops_json(compared.flops(p.pass));
    out.text += fmt::format("pass {}: {} batch {} new tokens {} context {} (from the {})\n", p.pass,
                            phase_name(p.workload->phase), p.workload->batch,
                            p.workload->new_tokens, p.workload->context, source);
    out.text += pass_flops_text(compared.flops(p.pass));
  }
  return out;
}

}  // namespace

std::string trace_text(const Recording& recording, const Attribution& attribution,
                       const TraceView& view, int width) {
  const bool has_device = attribution.device.total_ns > 0;
  std::string unexplained;
  for (const TraceLine& line : view.lines) {
    if (line.is_unexplained) {
      unexplained += fmt::format("  {} x{} in {}: {}\n", line.operator_name, line.count,
                                 line.path.empty() ? "no module" : line.path, line.flops_reason);
    }
  }
  const std::string table = width == report::unlimited_width
                                ? flat_table(view, has_device)
                                : table_by_module(view, has_device, width);
  std::string out = report::wrapped_lines(causes_text(trace::causes_of(attribution)), width) +
                    report::wrapped_lines(head_text(recording, attribution), width) + '\n' + table;
  std::string rest = fmt::format("matmul FLOPs {:.0f}; of unknown FLOPs: {} executions\n",
                                 view.known_flops, view.unknown_count) +
                     device_text(attribution.device);
  if (!unexplained.empty()) rest += "FLOPs unknown, not zero:\n" + unexplained;
  return out + '\n' + report::wrapped_lines(rest, width);
}

report::View comparison_view(const trace::ModelComparison& compared, const ComparedPage& page) {
  const report::View passes = passes_view(compared, page);
  Json data = trace::comparison_json(compared.comparison);
  data["model"] = page.model;
  data["tolerance"] = page.tolerance_pct / 100;
  data["passes"] = passes.data;
  return {
      .data = {{"comparison", std::move(data)}},
      .text = fmt::format("\ncompared with {}, tolerance {} %\n", printable(page.model),
                          page.tolerance_pct) +
              report::wrapped_lines(passes.text, page.width) +
              (compared.training.empty() ? '\n' + comparison_text(compared.comparison, page.width)
                                         : std::string())};
}

}  // namespace halmark::pages
