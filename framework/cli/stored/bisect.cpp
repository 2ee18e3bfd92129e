// halmark bisect: the commit that changed a figure, of a plugin's kernels or of any command.
#include "bisect/bisect.hpp"

#include <memory>

#include "bisect/bisect_view.hpp"
#include "cli/console/session.hpp"
#include "history/comparison.hpp"

namespace halmark::cli {
namespace {

struct BisectOptions {
  bisect::BisectRequest request;
  std::string measure, figure, plugin, floor = "1%";
  double measure_limit_s = 600;
  std::vector<std::string> series;
  tune::CaseRequest asked;
  double seconds = 0.05;
};

// Pairs of the plugin that the builds make: none has to be found here before. Refers to `session`.
bisect::MeasurePair pairs_of_plugin(const GlobalOptions& global, const BisectOptions& o,
                                    MeasuringSession& session, std::string& measured) {
  std::vector<KernelCase> cases = tune::duet_cases(o.asked, o.series, database_path(global));
  measured = o.plugin + ' ' + std::to_string(o.seconds);
  for (const KernelCase& kernel_case : cases) measured += '\n' + kernel_case.key();
  session.measuring.backend = o.asked.backend;
  session.measuring.seconds = o.seconds;
  return bisect::pairs_of_plugin(std::move(cases), o.plugin, {.measuring = session.measuring},
                                 global.allows_insecure_plugins);
}

CommandResult execute(const GlobalOptions& global, BisectOptions& o) {
  if (o.measure.empty() == o.plugin.empty()) {
    throw refused("a bisect measures a command or a plugin", "--measure, --built",
                  "--measure './bench' or --built build/lib/hm_x.so --op gemm");
  }
  o.request.floor = history::parse_floor(o.floor, "--floor");
  MeasuringSession session(global, "bisect", nullptr,
                           o.plugin.empty() ? LocalMachine{} : local_machine());
  Progress& progress = session.progress;
  o.request.stop = interrupts();
  o.request.note = [&](const std::string& line) { progress.note(line); };
  o.request.progress = [&](std::size_t pairs, const std::string& revision) {
    progress.step(pairs, static_cast<std::size_t>(o.request.pairs_max), 0, revision, -1);
  };
  if (o.plugin.empty()) {
    o.request.measured = o.measure + '\n' + o.figure;
    o.request.measure = bisect::pairs_of_command(
        o.measure, o.figure, {o.measure_limit_s, "--measure-limit", o.request.stop});
  } else {
    o.request.measure = pairs_of_plugin(global, o, session, o.request.measured);
  }
  const bisect::Search search = bisect::bisect(o.request);
  progress.finish();
  return {bisect::bisect_view(search), bisect::bisect_exit(search)};
}

}  // namespace

Action add_bisect(OptionSet& app) {
  auto o = std::make_shared<BisectOptions>();
  bisect::BisectRequest& r = o->request;
  app.add_option("--good", r.good, "Revision without the change")->required();
  app.add_option("--bad", r.bad, "Later revision with it")->required();
  app.add_option("--build", r.build, "Shell command that builds a revision")->required();
  app.add_option("--repository", r.repository, "Folder in the git repository (default .)");
  app.add_option("--measure", o->measure, "Shell command that prints the figure as last number");
  app.add_option("--figure", o->figure, "Regular expression of the figure").with("--measure");
  app.add_flag("--bigger-is-better", r.is_bigger_better, "A larger figure is better")
      .with("--measure");
  app.add_option("--measure-limit", o->measure_limit_s, "Seconds that the command may run")
      ->check(within(0.1, 86400.0))
      .with("--measure");
  app.add_option("--built", o->plugin, "Plugin file that --build writes, below its folder");
  app.add_option("series", o->series, "--built: kernels of the latest run whose names begin so")
      .with("--built");
  add_case_options(app, o->asked, "--built");
  app.add_option("--seconds", o->seconds, "--built: sampling time of a turn")
      ->check(within(0.001, 10.0))
      .with("--built");
  app.add_option("--confidence", r.confidence, "Probability at which a commit is named")
      ->check(within(0.5, 0.9999));
  app.add_option("--floor", o->floor, "Smaller changes are none (default 1%)");
  app.add_option("--max-pairs", r.pairs_max, "Pairs at most")->check(within(1, 100000));
  app.add_option("--build-limit", r.build_limit_s, "Seconds that a build may take")
      ->check(within(0.1, 86400.0));
  app.add_option("--folder", r.folder, "Where builds and pairs lie (default: the state folder)");
  app.add_flag("--rerun", r.measures_again,
               "Measure all pairs again, where builds succeeded with those");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
