// Both kinds of reports leave by the same door: printed, and written where --out says.
#include "cli/tune_latency.hpp"

#include "cli/console/interrupt.hpp"
#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "cli/study/study.hpp"
#include "study/storage/open.hpp"
#include "tune/plan/plan_view.hpp"
#include "tune/search/priced_sweep.hpp"
#include "tune/stored/stored_front.hpp"

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

// A priced search has no journal: its front is kept as a study. One that cannot be written costs
// nothing but itself.
template <class Report>
void keep(const GlobalOptions& global, const tune::PricedSweep& priced, const Report& report,
          CommandResult& result) {
  try {
    const auto store = open_study_store(study_location(global), StudyAccess::or_create);
    result.data["studies"] = tune::keep_front(*store, report, priced.front_facts());
    for (const std::string& text : store->take_notes()) {
      result.warnings.push_back({"W-STUDY-01", "study", text, ""});
    }
  } catch (const Error& e) {
    result.warnings.push_back({"W-STUDY-02", "study", "not written: " + std::string(e.what()),
                               "the figures above are all the same"});
  }
}

template <class Report>
CommandResult finished(const GlobalOptions& global, const tune::PricedSweep& priced, Report report,
                       const PricingOutput& output) {
  report.command = output.command;
  CommandResult result = printed(report, use_color(global));
  if (!interrupted()) keep(global, priced, report, result);
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
  CommandResult result = std::visit(
      [&](auto& report) { return finished(global, priced, std::move(report), output); }, found);
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace halmark::cli
