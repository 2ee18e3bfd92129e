// Where each part of a predicted step comes from stands beside its share.
#include "pages/trace/prediction_page.hpp"

#include <fmt/format.h>

#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "report/text/quantity.hpp"
#include "report/text/table.hpp"

namespace halmark::pages {

using report::duration_text;
using report::rounded_percent_text;
using report::TextTable;

std::string prediction_text(const trace::TracedStep& step, const trace::StepPrediction& prediction,
                            int width) {
  TextTable table({"problem", ">count", ">in the trace", ">here", ">of the step"});
  std::string reasons;
  for (const auto i : indices(step.kernels)) {
    const trace::TracedKernel& kernel = step.kernels[i];
    const trace::KernelTime& time = prediction.kernels[i];
    const auto count = as_double(kernel.count);
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
  out += '\n' + table.text(width);
  if (!reasons.empty()) out += "not measured here, time of the trace:\n" + reasons;
  return out;
}

}  // namespace halmark::pages
