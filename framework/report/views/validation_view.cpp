#include "report/views/validation_view.hpp"

#include <fmt/format.h>

#include "report/report.hpp"
#include "report/sentences.hpp"
#include "report/text/memory_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::report {
namespace {

std::string error_text(double said, double measured) {
  return measured > 0 ? fmt::format("{:+.1f} %", 100 * (said / measured - 1)) : "-";
}

std::string signed_text(std::optional<double> error) {
  return error ? fmt::format("{:+.1f} %", 100 * *error) : "-";
}

std::string operators_text(const Validation& v) {
  TextTable table({"operator", ">beside the run", ">in the run", ">error", ">of the step"});
  for (const auto& op : v.operators) {
    table.add({op.name, op.composed_ns ? duration_text(*op.composed_ns) : absent_text,
               duration_text(op.measured_ns),
               op.composed_ns ? error_text(*op.composed_ns, op.measured_ns) : absent_text,
               v.measured_ns > 0 ? rounded_percent_text(op.measured_ns / v.measured_ns) : "-"});
  }
  return table.text();
}

std::string composition_line(const Validation& v) {
  if (!v.composition) return "composition error: none: " + v.composition_reason + '\n';
  const Composition& c = *v.composition;
  std::string out = fmt::format(
      "composition error {} ({} .. {}): its kernels took {}, in {} pairs with the run within "
      "seconds ({} of the step; the rest from their rows)\n",
      signed_text(c.error), signed_text(c.error_interval.low), signed_text(c.error_interval.high),
      duration_text(c.composed_ns), c.pairs, rounded_percent_text(c.paired_share));
  if (!c.in_one_state) {
    out += "the machine's state moved by more than 10 % within most pairs: all are counted\n";
  }
  if (c.apart > 0) {
    out += fmt::format("{} pairs left out: the machine's state moved by more than 10 %\n", c.apart);
  }
  return out;
}

std::string prediction_line(const Validation& v) {
  if (!v.predicted_ns) return {};
  return fmt::format(
      "prediction error {}: {} ({} .. {}) was said before, from kernels measured "
      "in processes of their own\n",
      signed_text(v.prediction_error()), duration_text(*v.predicted_ns),
      duration_text(v.predicted_interval_ns.low), duration_text(v.predicted_interval_ns.high));
}

// Where both are known and their probes are of one type.
std::string cores_text(const MachineState& said, const MachineState& run) {
  const auto ratio = core_speed_ratio(said.flops_per_s, run.flops_per_s);
  return ratio ? fmt::format("; cores at {} of their speed then", rounded_percent_text(*ratio))
               : "";
}

std::string interval_line(const Validation& v) {
  const auto interval = v.interval_at_run();
  if (!interval) return {};
  const MachineState said = v.predicted_state->state, run = *v.state();
  return fmt::format(
      "the run lies {} that interval{}: memory at {} then, {} during the run{}\n",
      interval->is_inside ? "inside" : "outside",
      interval->is_scaled
          ? fmt::format(", scaled to {}", duration_range_text(interval->ns.low, interval->ns.high))
          : "",
      bandwidth_text(said.bytes_per_s), bandwidth_text(run.bytes_per_s), cores_text(said, run));
}

// Filled and drained, beside a stream of steps that hides both.
std::string bubble_text(const Validation& v) {
  if (!v.bubble_share) return {};
  return fmt::format(", from the first stage's begin to the last one's end: stages waited {} of it",
                     rounded_percent_text(*v.bubble_share));
}

std::string oversubscribed_text(const Validation& v) {
  const bool is_right = v.was_run();
  return v.deployment_key + "\n\n" + v.reason + '\n' +
         (is_right ? "every rank executed the whole step, and the first output of every kernel was "
                     "compared; ranks that share cores have no time of a deployment\n"
                   : "it did not end well: " + std::string(status_name(v.status)) + '\n');
}

std::string validation_text(const Validation& v) {
  if (v.is_oversubscribed) return oversubscribed_text(v);
  std::string out = v.deployment_key + '\n' + '\n' + operators_text(v);
  if (!(v.measured_ns > 0)) {
    return out + "\nno measured step: " + std::string(status_name(v.status)) + ": " + v.reason +
           '\n';
  }
  out += fmt::format("\nstep {} ({} .. {}){}  [{}{}]\n", duration_text(v.measured_ns),
                     duration_text(v.measured_interval_ns.low),
                     duration_text(v.measured_interval_ns.high), bubble_text(v),
                     status_name(v.status), v.reason.empty() ? "" : ": " + v.reason);
  return out + composition_line(v) + prediction_line(v) + interval_line(v) + memory_text(v);
}

}  // namespace

std::string kernel_energy_text(const Evaluation& evaluation) {
  const std::string text = energy_text(evaluation);
  if (!text.empty()) return "energy of its kernels: " + text + '\n';
  if (!evaluation.estimate || evaluation.estimate->energy_reason.empty()) return {};
  return "energy of its kernels: none: " + evaluation.estimate->energy_reason + '\n';
}

View validation_view(const Validation& validation) {
  return {.data = validation_json(validation), .text = validation_text(validation)};
}

}  // namespace halmark::report
