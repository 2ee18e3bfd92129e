// Traces and comparisons as results/schema writes them; times in microseconds, as profilers do.

#include "core/json/json.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "profile/comparison/trace_view.hpp"

namespace halmark::trace {
namespace {

Json us(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

Json layer_json(std::int32_t layer) { return layer < 0 ? Json(nullptr) : Json(layer); }

Json passes_json(const Attribution& attribution) {
  return json_list(attribution.passes, [](const Pass& pass) -> Json {
    return {{"step", pass.step ? Json(*pass.step) : Json(nullptr)},
            {"stage", stage_name(pass.stage)},
            {"stage_source", pass.stage_source},
            {"begin_us", us(pass.begin_ns)},
            {"duration_us", us(pass.end_ns - pass.begin_ns)}};
  });
}

Json line_json(const TraceLine& line) {
  Json out = {{"stage", stage_name(line.stage)},
              {"layer", layer_json(line.layer)},
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
              {"share", line.share}};
  if (!line.flops) out["matmul_flops_reason"] = line.flops_reason;
  return out;
}

Json device_json(const DeviceTime& device) {
  return {{"kernels", device.kernels},
          {"assigned_us", us(device.assigned_ns)},
          {"ambiguous_us", us(device.ambiguous_ns)},
          {"unlinked_us", us(device.unlinked_ns)},
          {"total_us", us(device.total_ns)},
          {"graph_replays", device.replays},
          {"unexplained_replays", device.unexplained_replays}};
}

Json causes_json(const TimeCauses& time) {
  Json causes = Json::object();
  for (const TimeCause& cause : time.causes) {
    causes[cause.name] = {{"us", cause.ns / 1e3}, {"share", cause.share}};
  }
  return {{"wall_us", time.wall_ns / 1e3}, {"causes", std::move(causes)}};
}

}  // namespace

Json trace_json(const Recording& recording, const Attribution& attribution, const TraceView& view) {
  Json rows = Json::array(), unexplained = Json::array();
  for (const TraceLine& line : view.lines) {
    rows.push_back(line_json(line));
    if (line.is_unexplained) {
      unexplained.push_back({{"operator", line.operator_name},
                             {"module", line.path},
                             {"count", line.count},
                             {"reason", line.flops_reason}});
    }
  }
  return {{"trace",
           {{"file", recording.where},
            {"bytes", recording.totals.bytes},
            {"events", recording.totals.events},
            {"operators", recording.operators},
            {"read_events", recording.read_events},
            {"unread_events", recording.unread_events},
            {"undated_events", recording.undated_events},
            {"has_shapes", recording.has_shapes},
            {"has_modules", recording.has_modules}}},
          {"passes", passes_json(attribution)},
          {"time", causes_json(causes_of(attribution))},
          {"rows", rows},
          {"summary",
           {{"matmul_flops", view.known_flops},
            {"unknown_executions", view.unknown_count},
            {"host_us", us(attribution.host_ns)}}},
          {"device", device_json(attribution.device)},
          {"unexplained", unexplained}};
}

Json comparison_json(const Comparison& comparison) {
  const Json rows = json_list(comparison.rows, [](const ComparedRow& row) -> Json {
    return {{"pass", row.pass},
            {"layer", layer_json(row.layer)},
            {"operator", row.operators},
            {"sources", row.sources},
            {"trace_flops", optional_number(row.trace_flops)},
            {"model_flops", optional_number(row.model_flops)},
            {"scaled_flops", optional_number(row.scaled_flops)},
            {"whole_flops", optional_number(row.whole_flops)},
            {"verdict", verdict_name(row.verdict)},
            {"note", clean_text(row.note)}};
  });
  const Json work = json_list(comparison.work, [](const ExplainedWork& w) -> Json {
    return {{"operator", printable(w.operator_name)},
            {"count", w.count},
            {"explained_by", w.explanation.empty() ? Json(nullptr) : Json(w.explanation)},
            {"first_module", printable(w.path)}};
  });
  Json verdicts = Json::object();
  for (const auto verdict : {Verdict::ok, Verdict::mismatch, Verdict::missing_in_trace,
                             Verdict::not_in_model, Verdict::unknown}) {
    verdicts[std::string(verdict_name(verdict))] = comparison.count(verdict);
  }
  return {{"rows", rows},
          {"verdicts", verdicts},
          {"work", work},
          {"unexplained", comparison.unexplained()}};
}

}  // namespace halmark::trace
