// halmark bench: kernels of one op over problems, dtypes and devices.
#include <algorithm>
#include <memory>

#include "cli/console/session.hpp"
#include "cli/tune_kernels.hpp"
#include "host/process/interrupt.hpp"
#include "plan/shard_places.hpp"
#include "report/views/kernel_views.hpp"
#include "tune/devices/bench_beside.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/search/kernels/asked_variants.hpp"
#include "tune/search/kernels/bench_request.hpp"
#include "tune/stored/baseline.hpp"
#include "tune/stored/variant_comparison.hpp"

namespace halmark::cli {
namespace {

using BenchOptions = tune::BenchRequest;

// Rows of the cases, or of the variants that the sampler asked for; `cases` become those.
std::vector<Measurement> measured(const GlobalOptions& global, const BenchOptions& options,
                                  std::span<const VariantSet> sets, tune::KernelMeasuring measuring,
                                  std::vector<KernelCase>& cases) {
  Progress progress(global, "bench");
  measuring.progress = campaign_progress(progress);
  std::vector<Measurement> rows;
  if (sets.empty()) {
    rows = tune::measure_kernels(cases, measuring);
  } else {
    tune::MeasuredCases found = tune::search_variants(sets, measuring, options.search);
    cases = std::move(found.cases);
    rows = std::move(found.rows);
  }
  progress.finish();
  return rows;
}

void compare(std::span<const VariantSet> sets, std::span<const Measurement> rows,
             const LocalMachine& machine, tune::KeptRows* winners, CommandResult& result) {
  const auto compared = tune::compare_variants(sets, rows, reporting_machine(machine));
  report::View view = report::variants_view(compared);
  result.text = std::move(view.text);
  result.data.update(view.data);
  // Only a comparison that ran to its end is a conclusion.
  if (winners == nullptr || interrupted()) return;
  for (const report::VariantComparison& c : compared) {
    if (c.winner) winners->append(*c.winner);
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
  return shown(std::move(view), interrupted() ? interrupt_exit_code() : tune::exit_code_of(points));
}

// The cases on each kind of place that is named.
CommandResult on_named_devices(const GlobalOptions& global, const BenchOptions& options,
                               const std::string& assumed) {
  const auto places = parse_shard_places(options.shards_on, "--shards-on");
  const std::vector<KernelCase> cases = tune::kernel_cases(options.asked, places);
  const std::vector<FoundPlugin> found = find_plugins(global);
  LocalMachine machine = local_machine();
  tune::NamedDevices named = *tune::named_devices(places, found, machine);
  const HeldInterrupts until_reported;
  std::optional<RunPeaks> none;
  tune::KernelMeasuring measuring =
      measuring_with(global, machine, plugin_of(found, places.front().backend), none);
  named.measure_with(measuring);
  if (options.rounds) measuring.rounds = *options.rounds;
  measuring.seconds = options.seconds;
  tune::KeptRows kept =
      kept_rows(global, machine, {options.keeps_winners, options.keeps_nothing}, named.lines());
  measuring.sink = keeping_sink(kept, named);
  std::vector<KernelCase> asked = cases;
  const std::vector<Measurement> rows = measured(global, options, {}, measuring, asked);
  tune::ReportingMachine judge = reporting_machine(machine);
  named.judge_in(judge);
  const auto points = tune::in_order_of(cases, tune::kernel_points(rows, judge));
  CommandResult result = rows_result(points, cases, assumed);
  say_what_is_kept(global, kept, result);
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
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, options.asked.backend);
  check_device(plugin, options.asked.device);
  check_kernel(*plugin.description, options.asked.kernel);
  LocalMachine machine = local_machine();
  rows_are_of(machine, plugin, options.asked.device);
  if (has_sweep) cases = questions_of(options, machine);
  const HeldInterrupts until_reported;
  std::vector<VariantSet> sets;
  if (!options.variants.empty()) {
    sets = tune::asked_variants(cases, {.kernels = options.variants,
                                        .plugin_path = plugin.path,
                                        .plugin = *plugin.description,
                                        .limits = worker_limits_of(global),
                                        .is_searched = options.search.sampler != "grid"});
  }
  std::optional<RunPeaks> peaks = run_peaks(machine);
  tune::KernelMeasuring measuring = measuring_with(global, machine, plugin, peaks);
  if (!sets.empty() && options.keeps_winners)
    measuring.rounds = std::max(measuring.rounds, tune::rounds_of_winner_min);
  if (options.rounds) measuring.rounds = *options.rounds;
  measuring.seconds = options.seconds;
  tune::KeptRows kept = kept_rows(global, machine, {options.keeps_winners, options.keeps_nothing});
  measuring.sink = keeping_sink(kept, peaks, machine.cores);
  const auto baseline = tune::baseline_beside(options, found, cases, measuring);
  tune::spread_over_nodes(options, plugin, cases, measuring, peaks);
  const std::vector<Measurement> rows = measured(global, options, sets, measuring, cases);
  keep_seen_peaks(machine, peaks ? &*peaks : nullptr);
  if (peaks) machine.measured = peaks->device();
  std::vector<KernelPoint> points =
      tune::in_order_of(cases, tune::kernel_points(rows, reporting_machine(machine)));
  tune::score_beside(points, baseline);
  CommandResult result = rows_result(points, cases, assumed);
  if (!sets.empty()) {
    compare(sets, rows, machine, options.keeps_winners ? &kept : nullptr, result);
  }
  say_what_is_kept(global, kept, result);
  if (!machine.measured) {
    result.warnings.push_back({"W-ENV-05", "peaks", "no measured peaks for this machine",
                               "halmark peaks measures them; without them there is no MFU"});
  }
  return result;
}

}  // namespace

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
