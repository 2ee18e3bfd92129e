// halmark bench: kernels of one op over problems, dtypes and devices.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/bench_cases.hpp"
#include "cli/bench_variants.hpp"
#include "cli/console/command.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/peaks.hpp"
#include "core/version.hpp"
#include "journal/store.hpp"
#include "journal/writer_lock.hpp"
#include "plan/device_file.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::cli {
namespace {

constexpr int rounds_of_winner_min = 3;

std::string command_line(const BenchOptions& options) {
  std::string out = "halmark bench";
  if (!options.sweep.empty()) out += " --sweep " + options.sweep;
  if (!options.op.empty()) out += " --op " + options.op;
  if (!options.params.empty()) out += " --params " + options.params;
  const auto add_list = [&out](const char* name, const std::vector<std::string>& items) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      out += (i == 0 ? std::string(name) : ",") + items[i];
    }
  };
  add_list(" --dtype ", options.dtypes);
  add_list(" --variants ", options.variants);
  return out + " --backend " + options.backend;
}

Json row_json(const KernelPoint& p) {
  Json out = {{"op", p.op},
              {"problem", p.problem},
              {"dtype", p.dtype},
              {"backend", p.place.substr(0, p.place.find(':'))},
              {"device", p.place},
              {"mode", p.mode},
              {"implementation", p.implementation},
              {"duration_ns_median", optional_number(p.duration_ns)},
              {"ci_low_ns", optional_number(p.low_ns)},
              {"ci_high_ns", optional_number(p.high_ns)},
              {"flops", p.matmul_flops},
              {"bytes", p.bytes},
              {"mfu", optional_number(p.mfu)},
              {"path_fraction", optional_number(p.path_fraction)},
              {"mfu_datasheet", optional_number(p.mfu_datasheet)},
              {"roofline_fraction", optional_number(p.roofline_fraction)},
              {"bandwidth_share", optional_number(p.bandwidth_share)},
              {"rounds", p.rounds},
              {"create_ns", p.one_time.create_ns},
              {"pack_ns", p.one_time.pack_ns},
              {"first_ns", p.one_time.first_ns},
              {"status", std::string(status_name(p.status))},
              {"reason", p.reason}};
  if (!p.mfu) out["mfu_reason"] = p.mfu_reason;
  if (!p.bandwidth_share) out["bandwidth_share_reason"] = p.bandwidth_reason;
  if (!p.duration_ns) out["duration_ns_median_reason"] = p.reason;
  if (p.busbw_bytes_per_s) {
    out["algbw_bytes_per_s"] = *p.algbw_bytes_per_s;
    out["busbw_bytes_per_s"] = *p.busbw_bytes_per_s;
  }
  return out;
}

void check_options(const BenchOptions& options) {
  if (!options.sweep.empty()) {
    if (options.variants.empty()) {
      throw refused("--sweep is for --variants", {}, "halmark tune measures a sweep");
    }
    if (!options.params.empty() || !options.dtypes.empty()) {
      throw refused("--sweep brings its own problems: leave out --params and --dtype");
    }
  } else if (options.op.empty() || options.dtypes.empty()) {
    throw refused(std::string(options.op.empty() ? "--op" : "--dtype") + " is required", {},
                  "see halmark bench --help");
  }
  // Of one process nobody knows how far the next one is from it.
  if (!options.variants.empty() && options.keep && options.rounds < rounds_of_winner_min) {
    throw refused(fmt::format("a winner needs {} rounds or more", rounds_of_winner_min), {},
                  "leave out --store to look at fewer");
  }
}

// Rounds shuffle the cases; a sweep reads in the order in which it was asked for.
std::vector<KernelPoint> in_order_of(const std::vector<KernelCase>& cases,
                                     std::vector<KernelPoint> points) {
  std::map<std::string, std::size_t> position;
  for (std::size_t i = 0; i < cases.size(); ++i) position.emplace(cases[i].key(), i);
  std::ranges::sort(points, {}, [&](const KernelPoint& p) { return position.at(p.key); });
  return points;
}

std::string rate_of(const KernelPoint& p) {
  if (!p.duration_ns) return "-";
  const bool has_flops = p.matmul_flops > 0;
  const double amount = has_flops ? p.matmul_flops : p.bytes;
  return rate_text(amount / *p.duration_ns * 1e9, has_flops ? "FLOP/s" : "B/s");
}

// What a collective does with a link says more than fractions of the memory's speed.
std::string point_table(const std::vector<KernelPoint>& points, bool are_collectives) {
  std::vector<std::string> head{"problem", "device", "implementation", "median", "interval"};
  const std::vector<std::string> figures =
      are_collectives ? std::vector<std::string>{"algbw", "busbw"}
                      : std::vector<std::string>{"rate", "mfu", "path", "roofline", "memory at"};
  std::vector<bool> right{false, false, false, true, true};
  head.insert(head.end(), figures.begin(), figures.end());
  right.insert(right.end(), figures.size(), true);
  head.push_back("status");
  right.push_back(false);
  TextTable table(head, right);
  const auto bandwidth = [](const std::optional<double>& bytes_per_s) {
    return bytes_per_s ? rate_text(*bytes_per_s, "B/s") : std::string("-");
  };
  for (const KernelPoint& p : points) {
    std::vector<std::string> row{
        p.problem, p.place, p.implementation, p.duration_ns ? duration_text(*p.duration_ns) : "-",
        p.duration_ns ? duration_text(*p.low_ns) + " .. " + duration_text(*p.high_ns) : "-"};
    const std::vector<std::string> values =
        are_collectives
            ? std::vector{bandwidth(p.algbw_bytes_per_s), bandwidth(p.busbw_bytes_per_s)}
            : std::vector{rate_of(p), percent_text(p.mfu), percent_text(p.path_fraction),
                          percent_text(p.roofline_fraction), percent_text(p.bandwidth_share)};
    row.insert(row.end(), values.begin(), values.end());
    row.push_back(std::string(status_name(p.status)) + (p.reason.empty() ? "" : ": " + p.reason));
    table.add(row);
  }
  return table.text();
}

ExitCode exit_code_of(const std::vector<KernelPoint>& points) {
  if (interrupted()) return interrupt_exit_code();
  ExitCode out = ExitCode::ok;
  for (const KernelPoint& p : points) {
    if (p.status == Status::wrong_result || p.status == Status::nan_result) {
      return ExitCode::incorrect;
    }
    if (counts_as_failure(p.status)) out = ExitCode::partial;
  }
  return out;
}

// Only a comparison that ran to its end is a conclusion.
void keep_winners(const std::vector<Winner>& winners, Store& store, std::int64_t run) {
  if (interrupted()) return;
  for (const Winner& winner : winners) store.append(run, winner);
}

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
    tune::VariantRows found = tune::search_variants(
        sets, measuring,
        {.sampler = options.sampler, .trials = options.trials, .seed = options.seed});
    cases = std::move(found.cases);
    rows = std::move(found.rows);
  }
  progress.finish();
  return rows;
}

CommandResult execute(const GlobalOptions& global, const BenchOptions& options) {
  check_options(options);
  std::vector<KernelCase> cases;
  if (options.sweep.empty()) cases = cases_of(options);
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, options.backend);
  check_device(plugin, options.device);
  check_kernel(plugin, options.kernel);
  LocalMachine machine = local_machine();
  if (!options.sweep.empty()) cases = sweep_questions(options, machine);
  std::vector<VariantSet> sets;
  const bool is_searched = options.sampler != "grid";
  if (!options.variants.empty()) {
    sets =
        variants_of(cases, variant_filters(options.variants, plugin, cases), plugin, is_searched);
  }
  std::unique_ptr<Store> store;
  std::int64_t run = 0;
  std::optional<RunPeaks> peaks = run_peaks(machine);
  tune::KernelMeasuring measuring = measuring_with(plugin, peaks);
  measuring.rounds = options.rounds;
  measuring.seconds = options.seconds;
  if (options.keep) {
    store = open_store(database_path(global));
    run = store->begin_run({.command = command_line(options),
                            .fingerprint = machine.fingerprint,
                            .tool_version = tool_version,
                            .tool_build = tool_build,
                            .started_utc = journal::utc_now()});
    measuring.sink = [&](const Measurement& m) { store->append(run, m); };
  }
  const std::vector<Measurement> rows = measured(global, options, sets, measuring, cases);
  keep_seen_peaks(machine, peaks ? &*peaks : nullptr);
  if (peaks) machine.measured = peaks->device();
  if (peaks && store) {
    store->append(run, UsedPeaks{device_text(peaks->device()), machine.cores});
  }
  const std::vector<KernelPoint> points =
      in_order_of(cases, tune::kernel_points(rows, reporting_machine(machine)));

  CommandResult result{.exit_code = exit_code_of(points)};
  Json list = Json::array();
  for (const KernelPoint& p : points) list.push_back(row_json(p));
  result.data = {{"rows", list}};
  if (sets.empty()) {
    result.text = point_table(points, cases.front().is_collective());
  } else {
    VariantResult compared = compare_variants(sets, rows, machine);
    result.text = std::move(compared.text);
    result.data["problems"] = std::move(compared.problems);
    if (store) keep_winners(compared.winners, *store, run);
  }
  if (!machine.measured) {
    result.warnings.push_back({"W-ENV-05", "peaks", "no measured peaks for this machine",
                               "halmark peaks measures them; without them there is no MFU"});
  }
  return result;
}

}  // namespace

Action add_bench(OptionSet& app) {
  auto o = std::make_shared<BenchOptions>();
  app.add_option("--op", o->op, "Op to measure: gemm, attention, rmsnorm, copy, ...");
  app.add_option(
      "--params", o->params,
      "name=value,... as in the op's contract; several values as [64,4096], [64..65536*4] or "
      "[64..512+64]: every combination is measured");
  app.add_option("--dtype", o->dtypes, "dtypes, comma-separated")->delimiter(',');
  app.add_option("--backend", o->backend, "Backend, for example cpu");
  app.add_option("--device", o->device, "Device of the backend");
  app.add_option("--kernel", o->kernel,
                 "Kernel of the plugin (default: the first that supports it)");
  app.add_option("--variants", o->variants,
                 "Compare ways of running each problem: all, or kernels as NAME or "
                 "NAME:parameter=value+parameter=value; the plugin's default is always among them")
      ->delimiter(',')
      ->excludes("--kernel");
  app.add_option("--sweep", o->sweep,
                 "With --variants: the problems of this sweep, of --op or of all ops");
  app.add_option("--parts", o->parts, "Cut the device into equal parts; use one")
      ->check(within(1, 4096));
  app.add_option("--shards", o->shards, "Parts that run the problem at the same time")
      ->check(within(1, 4096));
  app.add_option("--mode", o->mode, "hot, rotate_const or rotate_all")
      ->check(one_of({"hot", "rotate_const", "rotate_all"}));
  app.add_option("--sets", o->sets, "Argument sets of the ring")->check(within(1, 4096));
  app.add_option("--sampler", o->sampler,
                 "With --variants, who chooses what is measured: as tune --help lists them");
  app.add_option("--trials", o->trials, "With --variants: variants to measure per problem (0: all)")
      ->check(within(0, 1'000'000));
  app.add_option("--seed", o->seed, "Of the sampler");
  app.add_option("--rounds", o->rounds, "Fresh processes per case")->check(within(1, 99));
  app.add_option("--seconds", o->seconds, "Sampling time per case and round")
      ->check(within(0.001, 600.0));
  app.add_flag("--store", o->keep,
               "Keep the rows, and with --variants the winners, in the results database");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
