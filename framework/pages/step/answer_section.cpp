// halmark model: the answer in one line, and below it the question.
#include <fmt/format.h>

#include "pages/step/step_page.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using report::percent_text;

// "forecast vllm 0.24.0 93 %, roofline 7 %"
std::string sources_part(const StepPage& page) {
  std::string out;
  for (const auto& [from, share] : expected_shares(page.step, *page.answer.expected)) {
    out += (out.empty() ? "" : ", ") + from + ' ' + report::rounded_percent_text(share);
  }
  return out;
}

std::string time_part(const StepPage& page) {
  const StepAnswer& a = page.answer;
  if (!a.ns) {
    const GraphTotals& totals = page.step.totals();
    return fmt::format("no time: {}; a rank computes {:.3f} GFLOP and moves {}", a.reason,
                       totals.matmul_flops_per_rank / 1e9, bytes_text(totals.bytes_per_rank));
  }
  const std::string device = page.step.device ? " on " + page.step.device->id : std::string();
  if (a.source == TimeSource::floor) {
    const std::string over =
        page.step.fabric.empty() ? "" : "collectives over fabric " + page.step.fabric + ", ";
    return milliseconds(*a.ns) + " a step at best" + device + " (floor, " + over +
           "nothing was measured)";
  }
  if (a.source == TimeSource::expected) {
    std::string out = milliseconds(*a.ns);
    if (a.expected->low_ns < a.expected->high_ns) {
      out += fmt::format(" ({}..{})", report::significant_text(a.expected->low_ns / 1e6),
                         report::significant_text(a.expected->high_ns / 1e6));
    }
    out += " a step" + device;
    if (a.floor_ns) out += ", at best " + milliseconds(*a.floor_ns);
    return out + " (" + sources_part(page) + "; nothing was measured)";
  }
  std::string out = milliseconds(*a.ns) + " a step" + device + " (measured";
  if (a.floor_ns && *a.floor_ns > 0) {
    out += fmt::format(", {} x the floor", report::significant_text(*a.ns / *a.floor_ns));
  }
  if (a.expected && a.expected->step.ns > 0) {
    out += fmt::format(", {} x what is expected",
                       report::significant_text(*a.ns / a.expected->step.ns));
  }
  return out + ')';
}

std::string mfu_part(const StepPage& page) {
  const StepAnswer& a = page.answer;
  if (!a.ns) return {};
  if (a.is_quarantined) return "; MFU quarantined: the step cannot have taken so little";
  if (!a.mfu) return "; MFU unknown: " + a.mfu_reason;
  return fmt::format("; MFU {}{}", a.source == TimeSource::measured ? "" : "at most ",
                     percent_text(a.mfu));
}

std::string bottleneck_part(const StepPage& page) {
  const auto& b = page.answer.bottleneck;
  if (!b) return {};
  const Operator& op = page.step.graph.operators[b->op];
  return fmt::format("; bound by {} for {} of the {}time, {} takes {}", limiter_name(b->limiter),
                     report::rounded_percent_text(b->limiter_share),
                     page.answer.expected                         ? "expected "
                     : page.answer.source == TimeSource::measured ? "floor's "
                                                                  : "",
                     op.name, report::rounded_percent_text(b->op_share));
}

std::string fit_part(const StepPage& page) {
  const std::string needs = bytes_text(static_cast<double>(page.step.memory_bytes()));
  const auto& fit = page.answer.fit;
  if (!fit) return "; needs " + needs + " a rank";
  if (!fit->device_bytes) return "; needs " + needs + " a rank, the device states no memory";
  const std::string has = bytes_text(static_cast<double>(*fit->device_bytes));
  if (fit->short_by_bytes() > 0) return fmt::format("; does not fit: {} of {} a rank", needs, has);
  std::string out = fmt::format("; fits the device: {} of {} a rank", needs, has);
  if (!fit->engine || fit->engine->fits()) return out;
  return out + fmt::format(", but not {} by its defaults: {} of {}", fit->engine->engine,
                           bytes_text(static_cast<double>(fit->engine->needed_bytes)),
                           bytes_text(static_cast<double>(fit->engine->may_use_bytes)));
}

std::string prediction_text(const ModelSpec& spec) {
  const std::int64_t parameters = prediction_parameters(spec);
  if (parameters == 0) return {};
  return fmt::format("{} prediction module(s) of {} parameters in all, beside these\n",
                     spec.prediction_modules, parameters);
}

}  // namespace

std::string answer_line(const StepPage& page) {
  return time_part(page) + mfu_part(page) + bottleneck_part(page) + fit_part(page);
}

std::string answer_text(const StepPage& page) {
  const OperatorGraph& g = page.step.graph;
  const Workload& w = g.configuration.workload;
  const int width = page.form.width;
  std::string out = report::wrapped(answer_line(page), width);
  out +=
      report::wrapped(fmt::format("{}  {} parameters ({} active), family {}", g.spec.id,
                                  g.totals.parameters, g.totals.active_parameters, g.spec.family),
                      width);
  out += prediction_text(g.spec);
  return out +
         report::wrapped(
             fmt::format("{} batch {} new tokens {} context {}  {}  {}", phase_name(w.phase),
                         w.batch, w.new_tokens, w.context, g.configuration.precision.name,
                         g.configuration.parallel.text()),
             width) +
         '\n';
}

}  // namespace halmark::pages
