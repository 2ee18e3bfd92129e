// Both kinds of reports leave the same way: printed, and written where --out says.
#include "cli/shared.hpp"

#include "pages/front/chosen_point.hpp"
#include "report/searched_front.hpp"
#include "report/text/report_text.hpp"
#include "tune/plan/plan_view.hpp"
#include "tune/search/priced/priced_sweep.hpp"
#include "tune/search/rival.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::cli {
namespace {

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

template <class Report>
CommandResult finished(const GlobalOptions& global, const tune::PricedSweep& priced, Report report,
                       const tune::TrialTimes& times, const PricingOutput& output) {
  constexpr bool is_served = std::is_same_v<Report, ServedReport>;
  report.command = global.command;
  CommandResult stored;
  std::string below;
  bool fits = true;
  if constexpr (is_served) fits = !report.fits_nothing();
  if (!interrupted()) {
    SearchedFront front = priced.front_facts();
    front.origin = keep(global, priced, report, times, stored);
    front = searched_front(report, std::move(front));
    // Without a point the text names the nearest misses; a file cannot be made of them.
    const bool takes_one = is_served || !output.pick.empty();
    if ((!output.written.as.empty() && fits) || (takes_one && !front.points.empty())) {
      below =
          pages::take_point(report, front, {output.pick, output.written, global.db}, stored.data);
    }
  }
  if constexpr (is_served) {
    tune::add_rival(report, output.pick);
  } else {
    tune::add_rivals(report);
  }
  CommandResult result = {
      {report_json(report), report_text(report, use_color(global), stdout_columns()) + below},
      fits ? ExitCode::ok : ExitCode::gate_failed};
  result.warnings = std::move(stored.warnings);
  result.data.update(stored.data);
  result.write(output.files, [&](const std::string& path) { write_report(report, path); });
  return result;
}

}  // namespace

CommandResult tune_by_latency(const GlobalOptions& global, const Sweep& sweep,
                              const tune::LatencyChoice& choice,
                              const tune::ProposalChoice& proposals, const PricingOutput& output) {
  const tune::PricedSweep priced(sweep, choice, config_dirs("models"), config_dirs("devices"),
                                 config_dirs("fabrics"));
  if (output.is_plan_only) return tune::plan_view(priced.plan());
  const auto steering = tune::steering_of(proposals, priced.plan());
  const HeldInterrupts until_reported;
  Progress progress(global, "search");
  tune::TrialTimes times;
  auto found = priced.search(
      interrupted,
      [&](std::size_t done) { progress.step(done, priced.trials(), 0, "configurations", -1); },
      {.steering = steering.get(), .times = &times});
  progress.finish();
  if (!output.sweep_file.empty()) write_whole_file(output.sweep_text, output.sweep_file);
  if (auto* served = std::get_if<ServedReport>(&found)) served->assumed = output.assumed;
  return std::visit(
      [&](auto& report) { return finished(global, priced, std::move(report), times, output); },
      found);
}

}  // namespace halmark::cli
