// halmark bench: kernels of one op over problems, dtypes and devices.
#include <algorithm>
#include <memory>

#include "cli/shared.hpp"
#include "plan/shard_places.hpp"
#include "report/views/kernel_views.hpp"
#include "tune/devices/bench_beside.hpp"
#include "tune/devices/kernel_sweep.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/kernels/asked_variants.hpp"
#include "tune/search/kernels/bench_request.hpp"
#include "tune/stored/baseline.hpp"
#include "tune/stored/variant_comparison.hpp"

namespace halmark::cli {
namespace {

using BenchOptions = tune::BenchRequest;

// How the request measures, and where its rows go. `rounds`: at least, where it states none.
void take(const BenchOptions& options, int rounds, MeasuringSession& session) {
  tune::KernelMeasuring& measuring = session.measuring;
  measuring.rounds = options.rounds.value_or(std::max(measuring.rounds, rounds));
  measuring.seconds = options.seconds;
  session.keep({options.keeps_winners, options.keeps_nothing});
}

void compare(std::span<const VariantSet> sets, std::span<const Measurement> rows,
             MeasuringSession& session, bool keeps_winners, CommandResult& result) {
  const auto compared = tune::compare_variants(sets, rows, session.judge());
  report::View view = report::variants_view(compared);
  result.text = std::move(view.text);
  result.data.update(view.data);
  // Only a comparison that ran to its end is a conclusion.
  if (!keeps_winners || interrupted()) return;
  for (const report::VariantComparison& c : compared) {
    if (c.winner) session.kept->append(*c.winner);
  }
}

std::vector<KernelCase> questions_of(const BenchOptions& options, const LocalMachine& machine) {
  const Sweep sweep = read_sweep(options.sweep);
  const auto plan =
      tune::measured_plan(sweep, target_of(machine, sweep.backend, sweep.device, {}),
                          machine.has_bf16, config_dirs("models"), config_dirs("fabrics"));
  return tune::variant_questions(*plan, options.asked.op);
}

CommandResult rows_result(std::span<const KernelPoint> points, std::span<const KernelCase> cases,
                          const std::string& assumed) {
  report::View view = report::kernels_view(points, cases.front().is_collective(), stdout_columns());
  view.text = report::kernels_headline(points) + view.text;
  report::add_assumed(view, assumed);
  return {std::move(view), tune::exit_code_of(points)};
}

// The cases on each kind of place that is named.
CommandResult on_named_devices(const GlobalOptions& global, const BenchOptions& options,
                               const std::string& assumed) {
  const auto places = parse_shard_places(options.shards_on, "--shards-on");
  const std::vector<KernelCase> cases = tune::kernel_cases(options.asked, places);
  const std::vector<FoundPlugin> found = find_plugins(global);
  LocalMachine machine = local_machine();
  tune::NamedDevices named = *tune::named_devices(places, found, machine);
  MeasuringSession session(global, "bench", nullptr, machine, &named);
  take(options, 1, session);
  const std::vector<Measurement> rows = tune::measure_kernels(cases, session.measuring);
  session.finish();
  CommandResult result = rows_result(
      tune::in_order_of(cases, tune::kernel_points(rows, session.judge())), cases, assumed);
  session.say_what_is_kept(result);
  return result;
}

CommandResult execute(const GlobalOptions& global, BenchOptions options) {
  check_request(options);
  const std::string assumed =
      options.sweep.empty() ? tune::take_usual(options.asked) : std::string();
  if (!options.shards_on.empty()) return on_named_devices(global, options, assumed);
  if (const auto sweep = tune::sweep_of_backends(options)) {
    return tune_kernels(global, *sweep, {false, options.keeps_nothing});
  }
  const bool has_sweep = !options.sweep.empty();
  std::vector<KernelCase> cases;
  if (!has_sweep) cases = tune::kernel_cases(options.asked);
  PluginDevice on = plugin_device(global, options.asked.backend, options.asked.device);
  check_kernel(*on.plugin.description, options.asked.kernel);
  if (has_sweep) cases = questions_of(options, on.machine);
  MeasuringSession session(global, "bench", &on.plugin, std::move(on.machine));
  std::vector<VariantSet> sets;
  if (!options.variants.empty()) {
    sets = tune::asked_variants(cases, {.kernels = options.variants,
                                        .plugin_path = on.plugin.path,
                                        .plugin = *on.plugin.description,
                                        .limits = session.measuring.worker_limits,
                                        .is_searched = options.search.sampler != "grid"});
  }
  const bool finds_winners = !sets.empty() && options.keeps_winners;
  take(options, finds_winners ? tune::rounds_of_winner_min : 1, session);
  const auto baseline = tune::baseline_beside(options, on.found, cases, session.measuring);
  tune::spread_over_nodes(options, on.plugin, cases, session.measuring, session.peaks);
  const tune::MeasuredCases done =  // of the cases, or of what the sampler asked for
      sets.empty() ? tune::MeasuredCases{cases, tune::measure_kernels(cases, session.measuring)}
                   : tune::search_variants(sets, session.measuring, options.search);
  session.finish();
  std::vector<KernelPoint> points =
      tune::in_order_of(done.cases, tune::kernel_points(done.rows, session.judge()));
  tune::score_beside(points, baseline);
  CommandResult result = rows_result(points, done.cases, assumed);
  if (!sets.empty()) compare(sets, done.rows, session, options.keeps_winners, result);
  session.say_what_is_kept(result);
  if (!session.machine.measured) {
    result.warnings.push_back({"W-ENV-05", "peaks", "no measured peaks for this machine",
                               "halmark peaks measures them; without them there is no MFU"});
  }
  return result;
}

}  // namespace

CommandResult tune_kernels(const GlobalOptions& global, const KernelSweep& sweep, Keeping keeping) {
  const std::vector<FoundPlugin> found = find_plugins(global);
  if (sweep.file.empty()) {  // typed just now: no sweep for many machines, where a row says so
    for (const ShardPlace& place : sweep.backends) plugin_of(found, place.backend);
  }
  LocalMachine host = local_machine();
  ensure_cpu_peaks(global, host);
  if (interrupted()) return {};
  tune::NamedDevices devices = tune::NamedDevices::present_or_not(sweep.backends, found, host);
  const auto questions = tune::offered_questions(sweep, devices, found);
  MeasuringSession session(global, sweep.file.empty() ? "bench" : "tune", nullptr, host, &devices);
  session.machine.rows_fingerprint = devices.fingerprint();
  take(sweep, session.measuring);
  session.measuring.worker_limits = worker_limits_of(global, sweep.containment);
  session.keep(keeping);
  const tune::BackendRows rows = tune::search_backends(questions, sweep, session.measuring);
  session.finish();
  CommandResult result = {
      report::backends_view(tune::compare_backends(questions, rows.rows, session.judge())),
      tune::exit_code_of(rows.rows)};
  result.data["devices"] = devices.lines();
  result.data["notes"] = rows.notes;
  for (const auto& lines : {devices.lines(), rows.notes}) {
    for (const std::string& line : lines) result.text += line + '\n';
  }
  session.say_what_is_kept(result);
  return result;
}

Action add_bench(OptionSet& app) {
  auto o = std::make_shared<BenchOptions>();
  app.add_option("--op", o->asked.op, "Op to measure: gemm, attention, rmsnorm, copy, ...");
  app.add_option(
      "--params", o->asked.params,
      "name=value,... as in the op's contract; several values as [64,4096], [64..65536*4] or "
      "[64..512+64]: every combination is measured");
  app.add_option("--dtype", o->asked.dtypes, "dtypes, comma-separated")->delimiter(',');
  app.add_option("--backend", o->asked.backend, "Backend, or several: cpu:0/2,opencl:0");
  app.add_option("--device", o->asked.device, "Device of the backend");
  app.add_option("--kernel", o->asked.kernel,
                 "Kernel of the plugin (default: the first that supports it)");
  app.add_option("--variants", o->variants,
                 "Compare ways of running each problem: all, or kernels as NAME or "
                 "NAME:parameter=value+parameter=value; the plugin's default is always among them")
      ->delimiter(',')
      ->excludes("--kernel");
  app.add_option("--sweep", o->sweep,
                 "With --variants: the problems of this sweep, of --op or of all ops");
  app.add_option("--shards-on", o->shards_on,
                 "On each of these devices instead: 'cpu:0/2 + opencl:0'")
      ->excludes("--variants");
  app.add_option("--parts", o->asked.parts, "Cut the device into equal parts; use one")
      ->check(within(1, 4096));
  app.add_option("--shards", o->asked.shards, "Parts that run the problem at the same time")
      ->check(within(1, 4096));
  add_node_options(app, o->nodes, "Ranks of a collective on");
  app.add_option("--mode", o->asked.mode, "hot, rotate_const or rotate_all")
      ->check(one_of({"hot", "rotate_const", "rotate_all"}));
  app.add_option("--sets", o->asked.sets, "Argument sets of the ring")->check(within(1, 4096));
  app.add_option("--sampler", o->search.sampler,
                 "With --variants, who chooses what is measured: as tune --help lists them");
  app.add_option("--trials", o->search.trials,
                 "With --variants: variants to measure per problem (0: all)")
      ->check(within(0, 1'000'000));
  app.add_option("--seed", o->search.seed, "Of the sampler");
  app.add_option("--baseline", o->baseline,
                 "BACKEND or BACKEND:KERNEL, measured interleaved: each row is scored against it")
      ->excludes("--variants");
  app.add_option("--rounds", o->rounds, "Fresh processes per case (default: halmark aa's, 3)")
      ->check(within(1, 99));
  app.add_option("--seconds", o->seconds, "Sampling time per case and round")
      ->check(within(0.001, 600.0));
  app.add_flag("--store", o->keeps_winners,
               "With --variants: keep the winners too, which tune and run then use");
  app.add_flag("--no-store", o->keeps_nothing, "Keep no row in the results database")
      ->excludes("--store");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
