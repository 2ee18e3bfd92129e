// halmark model: the answer in three lines (what comes of it; where it is from and what binds;
// memory), the line to type next, and below them the question.
#include <fmt/format.h>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "model/step/step_room.hpp"
#include "pages/step/step_page.hpp"
#include "report/text/count_text.hpp"
#include "report/text/layout_text.hpp"
#include "report/text/quantity.hpp"

namespace halmark::pages {
namespace {

using report::bytes_text;
using report::duration_text;
using report::four_digits_text;
using report::grouped_text;
using report::layout_text;
using report::percent_text;
using report::short_count_text;

std::string whole_percent(double fraction) {
  return fraction >= 0.1 ? report::fixed_text(100 * fraction, 0) + " %" : percent_text(fraction);
}

// "51.0 tokens/s (36.0..63.2)"
std::string rate_text(const TokenRate& rate, const std::string& unit) {
  std::string out = four_digits_text(rate.per_s) + ' ' + unit;
  if (rate.low < rate.high) {
    out += fmt::format(" ({}..{})", four_digits_text(rate.low), four_digits_text(rate.high));
  }
  return out;
}

// "19.6 ms (15.8..27.9 ms)"
std::string time_text(const StepAnswer& a) {
  std::string out = duration_text(*a.ns);
  if (a.source == TimeSource::expected && a.expected->low_ns < a.expected->high_ns) {
    out += " (" + report::duration_range_text(a.expected->low_ns, a.expected->high_ns) + ')';
  }
  return out;
}

const Workload& workload(const PricedStep& step) { return step.graph.configuration.workload; }

std::string devices_text(const PricedStep& step) {
  if (!step.device) return {};
  const Configuration& c = step.graph.configuration;
  const auto& peaks = step.device->peaks;
  // Checkpoints are in bf16, and a precision that was not chosen is another one.
  const bool lacks_bf16 = !peaks.empty() && c.precision.activation != Dtype::bf16 &&
                          c.precision.name == dtype_name(c.precision.activation) &&
                          !contains(peaks, Dtype::bf16, &Peak::dtype);
  const std::string in =
      lacks_bf16 ? fmt::format(" in {}, as it has no bf16", c.precision.name) : std::string();
  const std::int64_t n = c.devices();
  if (n == 1) return " on " + step.device->id + in;
  return fmt::format(" on {} x {} ({}){}", n, step.device->id, layout_text(c.parallel, "tp1"), in);
}

// " (w4a16: 4 bits, group 128)"; nothing for wider weights.
std::string packed_text(const PricedStep& step) {
  const Precision& precision = step.graph.configuration.precision;
  for (const Dtype dtype : {Dtype::s4, Dtype::f4_e2m1}) {
    const auto format = packed_format(step.graph.spec, precision, dtype);
    const bool has_such = std::ranges::any_of(kernel_kinds, [&](const KernelKindRow& row) {
      return row.is_linear && precision.*row.field == dtype;
    });
    if (!format || !has_such) continue;
    return fmt::format(" ({}: {} bits, group {})", precision.name, dtype_bits(dtype),
                       format->block);
  }
  return {};
}

double bound_share(const PricedStep& step, const SummedStep& expected) {
  const auto shares = expected_shares(step, expected);
  const auto* at = find_value(shares, std::string(provenance_name(Provenance::roofline)));
  return !at ? 0 : *at;
}

// What comes of a step that was not measured.
std::string forecast_line(const PricedStep& step, const StepAnswer& a) {
  const bool is_floor = a.source == TimeSource::floor;
  // Where bounds are most of the time a forecast is hardly one.
  const double bounds = is_floor ? 1 : bound_share(step, *a.expected);
  const std::string unit = workload(step).phase == Phase::decode    ? "tokens/s"
                           : workload(step).phase == Phase::prefill ? "prompt tokens/s"
                                                                    : "tokens/s trained";
  std::string out = workload(step).phase == Phase::prefill ? time_text(a) + " to the first token, "
                                                           : std::string();
  out += a.rate ? rate_text(*a.rate, unit) : "no rate";
  out += is_floor       ? " at best"
         : bounds > 0.5 ? fmt::format(", {} of it bounds,", whole_percent(bounds))
                        : ", forecast";
  out += devices_text(step);
  if (!is_floor && a.best_rate) out += ", at best " + four_digits_text(*a.best_rate);
  if (workload(step).phase == Phase::prefill) return out;
  return out + "; " + time_text(a) + " a step" +
         (step.graph.stages.size() == 1 ? ""
          : a.is_way                    ? " through all stages"
                                        : " of the busiest stage");
}

std::string measured_line(const PricedStep& step, const StepAnswer& a) {
  std::string out = rate_text(*a.rate, "tokens/s") + devices_text(step) + " (measured, " +
                    time_text(a) + " a step)";
  if (a.is_quarantined) return out + ": quarantined, the step cannot have taken so little";
  if (a.share_of_best) {
    out += fmt::format(": {} of the best possible ({})", whole_percent(*a.share_of_best),
                       four_digits_text(*a.best_rate));
  }
  if (a.share_of_expected) {
    out += fmt::format(", {} of the forecast {}", whole_percent(*a.share_of_expected),
                       rate_text(*a.expected_rate, "tokens/s"));
  }
  return out;
}

std::string context_line(const PricedStep& step, const LongestContext& longest) {
  const std::int64_t batch = workload(step).batch;
  const std::string on =
      fmt::format(" for {} {}{}", batch, batch == 1 ? "sequence" : "sequences", devices_text(step));
  if (longest.tokens == 0) return "no context fits" + on + ": memory";
  return fmt::format("a context of {} tokens fits{}; limited by {}", grouped_text(longest.tokens),
                     on, longest.is_memory ? "memory" : "max_position_embeddings");
}

// What other ceilings make of it.
std::string change_line(const PricedStep& step, const StepAnswer& a) {
  const StepAnswer before = answer_of(*step.before);
  if (!a.rate || !before.rate) return "no rate: " + a.reason;
  const double gain = a.rate->per_s / before.rate->per_s - 1;
  std::string changes = join(step.changes, ", ");
  return fmt::format("{}: {}{} become {}, {}; {} a step become {}", changes,
                     rate_text(*before.rate, "tokens/s"), devices_text(step),
                     rate_text(*a.rate, "tokens/s"), report::signed_percent_text(gain),
                     time_text(before), time_text(a));
}

std::string no_time_line(const PricedStep& step, const StepAnswer& a) {
  const GraphTotals& totals = step.totals();
  return fmt::format("no time: {}; a rank computes {} and moves {}", a.reason,
                     report::flop_text(totals.matmul_flops_per_rank),
                     bytes_text(totals.bytes_per_rank));
}

std::string what_comes(const PricedStep& step, const StepAnswer& a) {
  if (!a.ns) return no_time_line(step, a);
  return a.source == TimeSource::measured ? measured_line(step, a) : forecast_line(step, a);
}

// "forecast vllm 0.24.0 93 %, roofline 7 %"; a hundredth and less is left out.
std::string sources_part(const PricedStep& step, const SummedStep& expected) {
  std::string out;
  for (const auto& [from, share] : expected_shares(step, expected)) {
    if (share <= 0.01) continue;
    append_item(out, ", ", from + ' ' + report::fixed_text(100 * share, 0) + " %");
  }
  return out;
}

std::string mfu_part(const StepAnswer& a) {
  if (!a.ns || a.is_quarantined) return {};
  if (!a.mfu) return "; MFU unknown: " + a.mfu_reason;
  return fmt::format("; MFU {}{}", a.source == TimeSource::measured ? "" : "at most ",
                     percent_text(a.mfu));
}

// Why a served step is slower than its forecast: what each would have to be to explain all of it.
std::string suspects_part(const PricedStep& step, const StepAnswer& a) {
  if (!a.expected || a.is_quarantined || *a.ns <= a.expected->high_ns) return {};
  const double lost_ns = *a.ns - a.expected->ns;
  double kernels = 0, bytes_per_s = 0;
  for (const double n : a.expected->executions) kernels += n;
  for (const Bandwidth& b : step.device->bandwidths) {
    if (b.level == "memory") bytes_per_s = b.bytes_per_s;
  }
  std::string out = "slower than the forecast's interval: suspects: ";
  if (step.device->kind == "gpu" && kernels > 0) {
    out += duration_text(lost_ns / kernels) + " of host time a kernel (no CUDA graphs), ";
  }
  if (a.bottleneck && a.bottleneck->limiter == Limiter::memory && bytes_per_s > 0) {
    out += bytes_text(lost_ns * bytes_per_s / 1e9) + " more read (wider types, longer context), ";
  }
  return out + "lower clocks, another user";
}

std::string basis_line(const PricedStep& step, const StepAnswer& a) {
  if (!a.ns) return {};
  std::string out = a.expected ? sources_part(step, *a.expected) : "floor";
  if (!a.expected && !step.fabric.empty()) out += ", collectives over fabric " + step.fabric;
  if (a.source != TimeSource::measured) out += " (nothing was measured)";
  if (const auto& b = a.bottleneck) {
    out += fmt::format("; bound by {}, most in {} ({})", limiter_name(b->limiter),
                       step.graph.operators[b->op].name, whole_percent(b->op_share));
  }
  return out + mfu_part(a);
}

std::string memory_line(const PricedStep& step, const StepAnswer& a) {
  const std::string needs = bytes_text(step.memory_bytes());
  const std::string start = "memory of a rank: " + needs;
  if (!a.fit) return start;
  if (!a.fit->device_bytes) return start + ", the device states none";
  const std::string has = bytes_text(as_double(*a.fit->device_bytes));
  if (a.fit->short_by_bytes() > 0) {
    return fmt::format("{} of {}: does not fit, short by {}", start, has,
                       size_text(a.fit->short_by_bytes()));
  }
  std::string out = fmt::format("{} of {}: fits", start, has);
  const bool keeps_any =
      step.memory.kv_bytes_per_token > 0 || step.memory.state_bytes_per_sequence > 0;
  if (const auto room = room_of(step); room && keeps_any) {
    return out + fmt::format(", weights {}{}; left for the cache {}: {} {} of {} tokens",
                             size_text(step.memory.largest.weight_bytes), packed_text(step),
                             size_text(room->cache_bytes), room->sequences,
                             room->sequences == 1 ? "sequence" : "sequences",
                             grouped_text(room->context));
  }
  if (!a.fit->engine || a.fit->engine->fits()) return out;
  return out + fmt::format(", but not {} by its defaults: {} of {}", a.fit->engine->engine,
                           bytes_text(a.fit->engine->needed_bytes),
                           bytes_text(a.fit->engine->may_use_bytes));
}

bool is_too_large(const StepAnswer& a) { return a.fit && a.fit->short_by_bytes() > 0; }

// The command that answers what comes next; "" where none does.
std::string next_command(const PricedStep& step, const StepAnswer& a) {
  if (!step.device || step.is_training()) return {};
  const Configuration& c = step.graph.configuration;
  const std::string& model = step.graph.spec.id;
  const std::string on = " --device " + step.device->id;
  if (is_too_large(a)) {
    if (step.narrower) {
      std::string out = "halmark model " + model + on + " --dtype " +
                        step.narrower->graph.configuration.precision.name;
      for (const auto& [name, n] :
           {std::pair("tp", c.parallel.tp), std::pair("pp", c.parallel.pp),
            std::pair("dp", c.parallel.dp), std::pair("ep", c.parallel.ep)}) {
        if (n > 1) out += fmt::format(" --{} {}", name, n);
      }
      return out;
    }
    const auto more = least_layout(step);
    if (!more) return {};
    return fmt::format("halmark model {}{} --tp {} --pp {} --ep {}", model, on, more->tp, more->pp,
                       more->ep);
  }
  if (a.source == TimeSource::measured) return "halmark trace FILE.json --compare " + model;
  if (!step.graph.spec.is_causal || step.graph.spec.encoder) return {};
  return fmt::format("halmark tune {}{} --devices {}", model, on, c.devices());
}

std::string prediction_text(const ModelSpec& spec) {
  const std::int64_t parameters = prediction_parameters(spec);
  if (parameters == 0) return {};
  return fmt::format("{} prediction module(s) of {} parameters in all, beside these\n",
                     spec.prediction_modules, short_count_text(parameters));
}

}  // namespace

std::string no_fit_text(const PricedStep& step, const Fit& fit) {
  const Configuration& c = step.graph.configuration;
  std::string out =
      fmt::format("does not fit in {}: needs {} a rank of {}", c.precision.name,
                  bytes_text(fit.needed_bytes), bytes_text(as_double(*fit.device_bytes)));
  if (step.is_training()) return out;
  const auto more = least_layout(step);
  if (more) {
    const Configuration at{.parallel = *more};
    out += fmt::format("; fits from {} {} ({})", at.devices(),
                       at.devices() == 1 ? "device" : "devices", layout_text(*more, "tp1"));
  }
  if (!step.narrower) return out;
  return out + fmt::format("{} on {} in {}", more ? ", or" : "; fits", c.devices(),
                           step.narrower->graph.configuration.precision.name);
}

std::string engine_text(const StepEngine& engine, double host_ns) {
  return fmt::format("in the engine: host and scheduler {} of the step, its kernels x {}; {}",
                     duration_text(host_ns), report::significant_text(engine.terms.device_scale, 3),
                     engine.source);
}

std::vector<std::string> answer_lines(const StepPage& page) {
  const PricedStep& step = page.step;
  const StepAnswer& a = page.answer;
  std::vector<std::string> out;
  if (step.question.longest_context) {
    out.push_back(context_line(step, *step.question.longest_context));
  }
  if (step.before && !is_too_large(a)) {
    out.push_back(change_line(step, a));
  } else if (is_too_large(a)) {
    out.push_back(no_fit_text(step, *a.fit));
    if (step.narrower) {
      const StepAnswer then = answer_of(*step.narrower);
      out.push_back("in " + step.narrower->graph.configuration.precision.name + ": " +
                    what_comes(*step.narrower, then));
    }
    out.push_back("if it fitted: " + what_comes(step, a));
  } else {
    out.push_back(what_comes(step, a));
  }
  if (a.source == TimeSource::measured) out.push_back(suspects_part(step, a));
  out.push_back(basis_line(step, a));
  if (step.engine && a.expected) out.push_back(engine_text(*step.engine, a.expected->host_ns));
  if (!is_too_large(a)) out.push_back(memory_line(step, a));
  if (const std::string next = next_command(step, a); !next.empty()) out.push_back("next: " + next);
  std::erase(out, std::string());
  return out;
}

std::string answer_text(const StepPage& page) {
  const OperatorGraph& g = page.step.graph;
  const Workload& w = g.configuration.workload;
  const int width = page.form.width;
  std::string out;
  for (const std::string& line : answer_lines(page)) out += report::wrapped(line, width);
  out += '\n' +
         report::wrapped(fmt::format("{}  {} parameters ({} active), family {}", g.spec.id,
                                     short_count_text(g.totals.parameters),
                                     short_count_text(g.totals.active_parameters), g.spec.family),
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
