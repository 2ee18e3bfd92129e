// halmark compare: two sides, series by series, or two builds in turns; exit 3 with something
// slower, 4 with something undecided, unless it is a gate.
#include <memory>

#include "cli/console/session.hpp"
#include "history/view/comparison_view.hpp"
#include "history/view/duets_view.hpp"
#include "tune/evaluate/agreement/duets.hpp"
#include "tune/plan/kernel_cases.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::cli {
namespace {

struct CompareOptions {
  std::string before, after, floor = "3%";
  std::vector<std::string> out;
  bool is_gate = false;
  tune::CaseRequest asked;
  int pairs = 5;
  double seconds = 0.05;
};

history::FrontSide front_of(const history::Side& side) {
  if (side.evaluations.empty()) return {};
  return {side.evaluations, tune::stored_front(side.evaluations, side.plan_text)};
}

CommandResult stored(const GlobalOptions& global, const CompareOptions& o) {
  const std::string database = database_path(global);
  history::Comparison comparison = history::compare_sides(
      history::load_side(o.before, database), history::load_side(o.after, database),
      {.floor = history::parse_floor(o.floor, "--floor")});
  comparison.front_moves =
      history::front_moves(front_of(comparison.before), front_of(comparison.after));
  for (const std::string& path : o.out) history::write_comparison(comparison, path);
  return {history::comparison_view(comparison), history::comparison_exit(comparison, o.is_gate)};
}

CommandResult live(const GlobalOptions& global, const CompareOptions& o) {
  if (!o.out.empty()) throw refused("--out is of stored sides", {}, "use --json");
  const double floor = history::parse_floor(o.floor, "--floor");
  const std::vector<KernelCase> cases = tune::duet_cases(o.asked, {}, database_path(global));
  const PluginDevice on = plugin_device(global, o.asked.backend, cases.front().device);
  for (const KernelCase& kernel_case : cases) check_device(on.plugin, kernel_case.device);
  const SideNames names{.now_path = on.plugin.path,
                        .now_hash = on.plugin.hash,
                        .builds_folder = builds_dir().string(),
                        .allow_insecure = global.allows_insecure_plugins};
  MeasuringSession session(global, "compare", &on.plugin, on.machine);
  session.measuring.rounds = o.pairs;
  session.measuring.seconds = o.seconds;
  const std::vector<Duet> duets = tune::compare_live(
      cases, {.old_side = named_side(o.before, names),
              .new_side = named_side(o.after, names),
              .measuring = session.measuring,
              .floor = floor,
              .progress = [&](std::size_t done, std::size_t total, const std::string& current) {
                session.progress.step(done, total, 0, current, -1);
              }});
  session.progress.finish();
  return {history::duets_view(duets, floor), history::duets_exit(duets, floor, o.is_gate)};
}

}  // namespace

Action add_compare(OptionSet& app) {
  auto o = std::make_shared<CompareOptions>();
  app.add_option("before", o->before,
                 "A run, a date, a database, FILE.db:RUN, or Google Benchmark JSON; with --live a "
                 "plugin file, the first digits of a kept build, or now")
      ->required();
  app.add_option("after", o->after, "What is compared with it, of the same kind")->required();
  app.add_option("--floor", o->floor, "Smaller changes of a time are none (default 3%)");
  const auto is_gate = add_gate_option(app);
  app.add_option("--out,-o", o->out, "File to write, format by suffix: .json .md");
  const auto is_live = app.add_flag(
      "--live", "Two builds of a plugin, interleaved on the kernels of the latest run, or on --op");
  add_case_options(app, o->asked, "--live");
  app.add_option("--pairs", o->pairs, "--live: pairs of fresh processes")
      .check(within(3, 100))
      .with("--live");
  app.add_option("--seconds", o->seconds, "--live: sampling time of a turn")
      .check(within(0.001, 10.0))
      .with("--live");
  return [=](const GlobalOptions& global) {
    o->is_gate = *is_gate;
    return *is_live ? live(global, *o) : stored(global, *o);
  };
}

}  // namespace halmark::cli
