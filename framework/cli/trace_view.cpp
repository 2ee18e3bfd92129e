#include "cli/trace_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "cli/console/terminal.hpp"
#include "core/text/error.hpp"

namespace halmark::cli {
namespace {

using trace::Attribution;
using trace::OperatorClass;
using trace::Recording;

Json us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string layer_text(std::int32_t layer) { return layer < 0 ? "-" : std::to_string(layer); }

std::string flops_text(const std::optional<double>& flops, bool should_be_known) {
  if (flops) return fmt::format("{:.6f}", *flops / 1e9);
  return should_be_known ? "unknown" : "-";
}

bool should_be_known(const TraceLine& line) { return line.is_unexplained || line.flops; }

bool passes(const TraceLine& line, const TraceFilter& filter) {
  if (filter.stage && line.stage != *filter.stage) return false;
  if (!filter.category.empty() && line.category != filter.category) return false;
  const bool is_all = filter.layers.first == 0 && filter.layers.last == trace::LayerRange{}.last;
  if (line.layer < 0 ? !is_all : !filter.layers.has(line.layer)) return false;
  if (filter.flops_min <= 0) return true;
  return line.flops ? *line.flops >= filter.flops_min : line.is_unexplained;
}

void add_row(TraceLine& line, const trace::OperatorRow& row, const trace::OperatorCost& cost) {
  line.count += row.count;
  line.captured += row.captured;
  line.kernels += row.kernels;
  line.host_ns += row.host_ns;
  line.device_ns += row.device_ns;
  if (!trace::has_formula(row.of)) {
    line.is_unexplained = row.of == OperatorClass::unknown;
    line.flops_reason = line.is_unexplained ? "no formula for this operator" : "no matrix product";
    return;
  }
  const auto more = static_cast<double>(row.count);
  if (cost.flops && line.flops_reason.empty()) {
    line.flops = line.flops.value_or(0) + *cost.flops * more;
  } else if (!cost.flops) {
    line.flops.reset();
    line.flops_reason = cost.reason;
    line.is_unexplained = true;
  }
  if (cost.dtype) line.dtype = std::string(dtype_name(*cost.dtype));
}

std::int64_t shared_ns(const TraceLine& line, const Attribution& attribution) {
  return attribution.device.total_ns > 0 ? line.device_ns : line.host_ns;
}

double share(const TraceLine& line, const Attribution& attribution) {
  const std::int64_t total =
      attribution.device.total_ns > 0 ? attribution.device.total_ns : attribution.host_ns;
  return total > 0 ? static_cast<double>(shared_ns(line, attribution)) / static_cast<double>(total)
                   : 0;
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

TraceView trace_view(const Recording& recording, const Attribution& attribution,
                     const TraceFilter& filter) {
  using Key = std::tuple<trace::TraceStage, std::uint32_t, std::uint32_t>;
  std::map<Key, std::size_t> index;
  std::vector<TraceLine> lines;
  for (const trace::OperatorRow& row : attribution.rows) {
    const trace::TraceStage stage = row.pass < attribution.passes.size()
                                        ? attribution.passes[row.pass].stage
                                        : trace::TraceStage::unknown;
    const auto [it, is_new] = index.try_emplace({stage, row.scope, row.name}, lines.size());
    if (is_new) {
      const trace::Scope& scope = attribution.scopes[row.scope];
      lines.push_back({.stage = stage,
                       .layer = scope.layer,
                       .path = printable(scope.path),
                       .operator_name = printable(recording.names[row.name]),
                       .category = std::string(trace::operator_class_name(row.of))});
    }
    add_row(lines[it->second], row, attribution.cost_of(row));
  }
  TraceView out;
  for (TraceLine& line : lines) {
    if (!passes(line, filter)) continue;
    out.known_flops += line.flops.value_or(0);
    out.unknown_count += line.is_unexplained ? line.count : 0;
    out.lines.push_back(std::move(line));
  }
  std::ranges::stable_sort(out.lines, [](const TraceLine& a, const TraceLine& b) {
    return std::tuple(a.stage, a.layer) < std::tuple(b.stage, b.layer);
  });
  return out;
}

Json trace_json(const Recording& recording, const Attribution& attribution, const TraceView& view) {
  Json passes = Json::array();
  for (const trace::Pass& pass : attribution.passes) {
    passes.push_back({{"step", pass.step ? Json(*pass.step) : Json(nullptr)},
                      {"stage", std::string(trace::stage_name(pass.stage))},
                      {"stage_source", pass.stage_source},
                      {"begin_us", us(pass.begin_ns)},
                      {"duration_us", us(pass.end_ns - pass.begin_ns)}});
  }
  Json rows = Json::array(), unexplained = Json::array();
  for (const TraceLine& line : view.lines) {
    rows.push_back({{"stage", std::string(trace::stage_name(line.stage))},
                    {"layer", line.layer < 0 ? Json(nullptr) : Json(line.layer)},
                    {"module", line.path},
                    {"operator", line.operator_name},
                    {"category", line.category},
                    {"dtype", line.dtype.empty() ? Json(nullptr) : Json(line.dtype)},
                    {"count", line.count},
                    {"captured", line.captured},
                    {"matmul_flops", optional_number(line.flops)},
                    {"host_us", us(line.host_ns)},
                    {"device_us", us(line.device_ns)},
                    {"kernels", line.kernels},
                    {"share", share(line, attribution)}});
    if (!line.flops) rows.back()["matmul_flops_reason"] = line.flops_reason;
    if (line.is_unexplained) {
      unexplained.push_back({{"operator", line.operator_name},
                             {"module", line.path},
                             {"count", line.count},
                             {"reason", line.flops_reason}});
    }
  }
  const trace::DeviceTime& device = attribution.device;
  return {{"trace",
           {{"file", recording.where},
            {"bytes", recording.totals.bytes},
            {"events", recording.totals.events},
            {"operators", recording.operators},
            {"has_shapes", recording.has_shapes},
            {"has_modules", recording.has_modules}}},
          {"passes", passes},
          {"rows", rows},
          {"summary",
           {{"matmul_flops", view.known_flops},
            {"unknown_executions", view.unknown_count},
            {"host_us", us(attribution.host_ns)}}},
          {"device",
           {{"kernels", device.kernels},
            {"assigned_us", us(device.assigned_ns)},
            {"ambiguous_us", us(device.ambiguous_ns)},
            {"unlinked_us", us(device.unlinked_ns)},
            {"total_us", us(device.total_ns)},
            {"graph_replays", device.replays},
            {"unexplained_replays", device.unexplained_replays}}},
          {"unexplained", unexplained}};
}

std::string trace_text(const Recording& recording, const Attribution& attribution,
                       const TraceView& view) {
  TextTable table({"stage", "layer", "module", "operator", "category", "dtype", "count", "GFLOP",
                   "time", "share"},
                  {false, true, false, false, false, false, true, true, true, true});
  std::string unexplained;
  for (const TraceLine& line : view.lines) {
    table.add({std::string(trace::stage_name(line.stage)), layer_text(line.layer), line.path,
               line.operator_name, line.category, line.dtype, std::to_string(line.count),
               flops_text(line.flops, should_be_known(line)),
               duration_text(static_cast<double>(shared_ns(line, attribution))),
               rounded_percent_text(share(line, attribution))});
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

Json comparison_json(const trace::Comparison& comparison) {
  Json rows = Json::array();
  for (const trace::ComparedRow& row : comparison.rows) {
    rows.push_back({{"pass", row.pass},
                    {"layer", row.layer < 0 ? Json(nullptr) : Json(row.layer)},
                    {"operator", row.operators},
                    {"sources", row.sources},
                    {"trace_flops", optional_number(row.trace_flops)},
                    {"model_flops", optional_number(row.model_flops)},
                    {"verdict", std::string(trace::verdict_name(row.verdict))},
                    {"note", printable(row.note)}});
  }
  Json work = Json::array();
  for (const trace::ExplainedWork& w : comparison.work) {
    work.push_back({{"operator", printable(w.operator_name)},
                    {"count", w.count},
                    {"explained_by", w.explanation.empty() ? Json(nullptr) : Json(w.explanation)},
                    {"first_module", printable(w.path)}});
  }
  Json verdicts = Json::object();
  for (const auto verdict :
       {trace::Verdict::ok, trace::Verdict::mismatch, trace::Verdict::missing_in_trace,
        trace::Verdict::not_in_model, trace::Verdict::unknown}) {
    verdicts[std::string(trace::verdict_name(verdict))] = comparison.count(verdict);
  }
  return {{"rows", rows},
          {"verdicts", verdicts},
          {"work", work},
          {"unexplained", comparison.unexplained()}};
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
    const std::string note = row.note.empty() ? "" : "note: " + printable(row.note) + '\n';
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

}  // namespace halmark::cli
