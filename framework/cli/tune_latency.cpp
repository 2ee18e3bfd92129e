// Both kinds of reports leave by the same door: printed, and written where --out says.
#include "cli/tune_latency.hpp"

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "cli/study/study.hpp"
#include "export/front_list.hpp"
#include "host/process/interrupt.hpp"
#include "report/text/report_text.hpp"
#include "tune/plan/plan_view.hpp"
#include "tune/search/priced/priced_sweep.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::cli {
namespace {

CommandResult printed(const RunReport& report, bool color) {
  return {.data = report_json(report), .text = report_text(report, color, stdout_columns())};
}
CommandResult printed(const ServedReport& report, bool color) {
  return {.exit_code = report.fits_nothing() ? ExitCode::gate_failed : ExitCode::ok,
          .data = served_json(report),
          .text = served_text(report, color, stdout_columns())};
}
void write_to(const RunReport& report, const std::string& path) { write_report(report, path); }
void write_to(const ServedReport& report, const std::string& path) {
  write_served_report(report, path);
}

// A priced search has no journal: its front is kept as a study.
template <class Report>
std::string keep(const GlobalOptions& global, const tune::PricedSweep& priced, const Report& report,
                 const tune::TrialTimes& times, CommandResult& result) {
  std::vector<std::string> studies;
  keep_in_studies(global, "the figures above are all the same", result, [&](StudyStore& store) {
    studies = tune::keep_front(store, report, priced.front_facts(), times);
    result.data["studies"] = studies;
  });
  return studies.empty() ? "this search" : "study '" + studies.front() + "'";
}

void pick(const SearchedFront& front, const PricingOutput& output, CommandResult& result) {
  const bool is_written = !output.written.as.empty();
  const Pick picked = is_written ? chosen_point(front, output.pick, output.written)
                                 : pick_point(front, output.pick);
  std::vector<report::View> views = {exports::pick_view(front, picked)};
  if (is_written) views.push_back(exported_point(front, picked, output.written));
  for (report::View& view : views) {
    result.data[&view == &views.front() ? "picked" : "export"] = std::move(view.data);
    result.text += '\n' + view.text;
  }
}

template <class Report>
CommandResult finished(const GlobalOptions& global, const tune::PricedSweep& priced, Report report,
                       const tune::TrialTimes& times, const PricingOutput& output) {
  report.command = global.command;
  CommandResult result = printed(report, use_color(global));
  if (!interrupted()) {
    SearchedFront like = priced.front_facts();
    like.origin = keep(global, priced, report, times, result);
    const SearchedFront front = tune::searched_front(report, std::move(like));
    // Without a point the text names the nearest misses; a file cannot be made of them.
    const bool is_written = !output.written.as.empty() && result.exit_code == ExitCode::ok;
    if (is_written || (!output.pick.empty() && !front.points.empty())) pick(front, output, result);
  }
  for (const std::string& path : output.files) {
    write_to(report, path);
    result.text += "written: " + path + '\n';
  }
  return result;
}

}  // namespace

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice, const PricingOutput& output) {
  const tune::PricedSweep priced(sweep, choice, config_dirs("models"), config_dirs("devices"),
                                 config_dirs("fabrics"));
  if (output.is_plan_only) return shown(tune::plan_view(priced.plan()));
  const auto steering = tune::steering_of(output.proposals, priced.plan());
  const HeldInterrupts until_reported;
  Progress progress(global, "search");
  tune::TrialTimes times;
  auto found = priced.search(
      interrupted,
      [&](std::size_t done) { progress.step(done, priced.trials(), 0, "configurations", -1); },
      {.steering = steering.get(), .times = &times});
  progress.finish();
  CommandResult result = std::visit(
      [&](auto& report) { return finished(global, priced, std::move(report), times, output); },
      found);
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace halmark::cli
