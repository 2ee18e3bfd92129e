// Both kinds of reports leave by the same door: printed, and written where --out says.
#include "cli/tune_latency.hpp"

#include "cli/console/interrupt.hpp"
#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "tune/plan/plan_view.hpp"
#include "tune/search/priced_sweep.hpp"

namespace halmark::cli {
namespace {

CommandResult printed(const RunReport& report, bool color) {
  return {.data = report_json(report), .text = report_text(report, color)};
}
CommandResult printed(const ServedReport& report, bool color) {
  return {.data = served_json(report), .text = served_text(report, color)};
}
void write_to(const RunReport& report, const std::string& path) { write_report(report, path); }
void write_to(const ServedReport& report, const std::string& path) {
  write_served_report(report, path);
}

template <class Report>
CommandResult finished(const GlobalOptions& global, Report report, const PricingOutput& output) {
  report.command = output.command;
  CommandResult result = printed(report, use_color(global));
  for (const std::string& path : output.files) {
    write_to(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

}  // namespace

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice, const PricingOutput& output) {
  const tune::PricedSweep priced(sweep, choice, config_dirs("models"), config_dirs("devices"));
  if (output.is_plan_only) return shown(tune::plan_view(priced.plan()));
  const HeldInterrupts until_reported;
  Progress progress(global, "search");
  auto found = priced.search(interrupted, [&](std::size_t done) {
    progress.step(done, priced.trials(), 0, "configurations", -1);
  });
  progress.finish();
  CommandResult result =
      std::visit([&](auto& report) { return finished(global, std::move(report), output); }, found);
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace halmark::cli
