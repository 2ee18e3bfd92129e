#include "judge/verdict_view.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/text/text.hpp"
#include "report/text/quantity.hpp"
#include "report/views/kernel_views.hpp"
#include "roofline/score.hpp"

namespace halmark::judge {
namespace {

using report::duration_text;

std::string interval_text(const KernelPoint& p) {
  return p.low_ns && p.high_ns ? duration_text(*p.low_ns) + " .. " + duration_text(*p.high_ns)
                               : std::string();
}

// Both ends of both intervals: the slowest against the fastest baseline, and the other way round.
std::string score_interval(const KernelPoint& p, const KernelPoint& base) {
  const bool has_ends = p.low_ns && p.high_ns && base.low_ns && base.high_ns;
  if (!has_ends) return {};
  const auto low = speed_of_light_score(*p.high_ns, p.lower_bound_ns, *base.low_ns);
  const auto high = speed_of_light_score(*p.low_ns, p.lower_bound_ns, *base.high_ns);
  return low && high ? number_text(*low, 3) + " .. " + number_text(*high, 3) : std::string();
}

const KernelPoint* baseline_of(const Verdict& verdict, const KernelPoint& p) {
  for (const KernelPoint& base : verdict.baseline) {
    if (base.problem == p.problem && base.mode == p.mode) return &base;
  }
  return nullptr;
}

std::string line(std::string_view name, const std::string& figure, const std::string& interval,
                 const std::string& note) {
  std::string out = fmt::format("  {:<8}{:>12}  {:<24}{}", name, figure, interval, note);
  out.erase(out.find_last_not_of(' ') + 1);
  return out + '\n';
}

std::string point_text(const Verdict& verdict, const KernelPoint& p, const Judged& judged) {
  std::string out = '\n' + p.problem + '\n';
  if (!p.duration_ns) return out + line("T", "-", "", p.reason);
  out += line("T", duration_text(*p.duration_ns), interval_text(p),
              fmt::format("{} rounds, {}", p.rounds, status_name(p.status)));
  if (p.lower_bound_ns > 0) {
    out += line("T_sol", duration_text(p.lower_bound_ns), "",
                fmt::format("bound by {}; {} of it reached", limiter_name(p.limiter),
                            report::rounded_percent_text(p.roofline_fraction)));
  } else {
    out += line("T_sol", "-", "", "no measured peaks of this device: halmark peaks takes them");
  }
  const KernelPoint* base = baseline_of(verdict, p);
  if (base == nullptr) return out + line("S", "-", "", "no baseline: " + judged.baseline_reason);
  const bool has_base = base->duration_ns.has_value();
  out += line("T_base", has_base ? duration_text(*base->duration_ns) : "-", interval_text(*base),
              base->place + ' ' + (has_base ? base->implementation : base->reason));
  if (!p.score) return out + line("S", "-", "", p.score_reason);
  return out + line("S", number_text(*p.score, 3), score_interval(p, *base), "");
}

Json row_document(const Verdict& verdict, const KernelPoint& p) {
  const KernelPoint* base = baseline_of(verdict, p);
  const auto value = [](const std::optional<double>& v) { return v ? Json(*v) : Json(); };
  return {{"problem", p.problem},
          {"status", status_name(p.status)},
          {"duration_ns", value(p.duration_ns)},
          {"duration_low_ns", value(p.low_ns)},
          {"duration_high_ns", value(p.high_ns)},
          {"bound_ns", p.lower_bound_ns > 0 ? Json(p.lower_bound_ns) : Json()},
          {"limiter", limiter_name(p.limiter)},
          {"bound_fraction", value(p.roofline_fraction)},
          {"baseline", base == nullptr ? Json() : Json(p.baseline)},
          {"baseline_ns", base == nullptr ? Json() : value(base->duration_ns)},
          {"baseline_low_ns", base == nullptr ? Json() : value(base->low_ns)},
          {"baseline_high_ns", base == nullptr ? Json() : value(base->high_ns)},
          {"score", value(p.score)},
          {"score_reason", p.score_reason}};
}

// "; score 0.333 (0.263 .. 0.421), 25.0 % of the bound reached"; of several problems the ends.
std::string scores_text(const Verdict& verdict) {
  std::vector<double> scores;
  for (const KernelPoint& p : verdict.points) {
    if (p.score) scores.push_back(*p.score);
  }
  if (scores.empty()) return {};
  if (verdict.points.size() > 1) {
    const auto [low, high] = std::ranges::minmax(scores);
    return "; scores " + number_text(low, 3) + " to " + number_text(high, 3);
  }
  const KernelPoint& p = verdict.points.front();
  std::string out = "; score " + number_text(*p.score, 3);
  if (const KernelPoint* base = baseline_of(verdict, p)) {
    const std::string interval = score_interval(p, *base);
    if (!interval.empty()) out += " (" + interval + ')';
  }
  return out + ", " + report::rounded_percent_text(p.roofline_fraction) + " of the bound reached";
}

std::string headline(const Verdict& verdict, const Judged& judged) {
  std::string out = std::string(outcome_name(verdict.outcome)) + ": " + judged.source;
  if (verdict.outcome == Outcome::accepted) {
    out +=
        fmt::format(" computes {}{}; every element of {} shapes, and {} problem{} under all gates",
                    judged.op, scores_text(verdict), judged.conformance_problems,
                    verdict.points.size(), verdict.points.size() == 1 ? "" : "s");
    return out + (verdict.reason.empty() ? "" : "; suspect: " + verdict.reason) + '\n';
  }
  if (!verdict.gate.empty()) {
    out += fmt::format(" by {} ({})", verdict.gate, status_name(verdict.status));
  }
  out += ": " + verdict.reason;
  const bool was_run = !verdict.problem.empty() && !judged.fault;
  return out + (was_run ? " [" + verdict.problem + "]" : "") + '\n';
}

}  // namespace

report::View verdict_view(const Verdict& verdict, const Judged& judged) {
  report::View out;
  out.text = headline(verdict, judged);
  Json rows = Json::array();
  for (const KernelPoint& p : verdict.points) {
    out.text += point_text(verdict, p, judged);
    rows.push_back(row_document(verdict, p));
  }
  const Measurement* any = !judged.rows.empty()          ? &judged.rows.front()
                           : !judged.conformance.empty() ? &judged.conformance.front()
                                                         : nullptr;
  out.data = {{"verdict", outcome_name(verdict.outcome)},
              {"gate", verdict.gate},
              {"status", status_name(verdict.status)},
              {"reason", verdict.reason},
              {"problem", verdict.problem},
              {"source", judged.source},
              {"op", judged.op},
              {"entry", judged.entry},
              {"compiler", judged.build.compiler},
              {"build_s", judged.build.seconds},
              {"plugin_hash", any == nullptr ? "" : any->plugin_hash},
              {"conformance_problems", judged.conformance_problems},
              {"correctness", judged.rows.empty() ? "" : judged.rows.front().correctness.method},
              {"baseline_reason", judged.baseline_reason},
              {"rows", std::move(rows)}};
  return out;
}

}  // namespace halmark::judge
