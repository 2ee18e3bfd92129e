// halmark bench: kernels of one op over problems, dtypes and devices.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <map>
#include <memory>

#include "cli/command.hpp"
#include "cli/interrupt.hpp"
#include "cli/kernel_points.hpp"
#include "cli/terminal.hpp"
#include "core/version.hpp"
#include "journal/store.hpp"
#include "journal/writer_lock.hpp"
#include "kernels/contract.hpp"
#include "plan/param_grid.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string op, params, kernel;
  std::vector<std::string> dtypes;
  std::string backend = "cpu", device = "0", mode = "rotate_const";
  int parts = 1, shards = 1, rounds = 3, sets = 4;
  double seconds = 0.2;
  bool keep = false;
};

// Sets every dtype parameter that the contract asks for and the user did not name.
void apply_dtype(const OpContract& contract, Dtype dtype, Params& params) {
  for (const ParamSpec& spec : contract.params()) {
    if (spec.kind != ParamKind::dtype || params.find(spec.name)) continue;
    const bool is_output = spec.name == "dst_dtype";
    Dtype value = dtype;
    // The field's pairs: s8 products accumulate in s32; the quantiser starts from floats.
    if (dtype == Dtype::s8 && contract.name().ends_with("gemm") && is_output) value = Dtype::s32;
    if (spec.fallback) continue;
    params.set(spec.name, static_cast<std::int64_t>(value));
  }
}

KernelCase case_of(const Options& options, const OpContract& contract, Params params, Dtype dtype) {
  apply_dtype(contract, dtype, params);
  const CacheMode mode = options.mode == "hot"          ? CacheMode::hot
                         : options.mode == "rotate_all" ? CacheMode::rotate_all
                                                        : CacheMode::rotate_const;
  const Problem problem = complete_problem({options.op, params});
  // The ranks of a collective are shards: each has its own part of the device.
  const int ranks = static_cast<int>(problem.params.value_or("ranks", 1));
  const int shards = std::max(options.shards, ranks);
  return {.problem = problem,
          .kernel = options.kernel,
          .backend = options.backend,
          .device = options.device,
          .parts = std::max(options.parts, shards),
          .shards_at_once = shards,
          .mode = mode,
          .sets = mode == CacheMode::hot ? 1 : options.sets};
}

std::vector<KernelCase> cases_of(const Options& options) {
  const OpContract* contract = find_contract(options.op);
  if (contract == nullptr) {
    std::vector<std::string> names;
    for (const OpContract* c : all_contracts()) names.emplace_back(c->name());
    throw refused("unknown op '" + options.op + "'", {}, suggestion(options.op, names));
  }
  const std::vector<Params> grid = parse_param_grid(options.params);
  std::vector<KernelCase> out;
  for (const std::string& text : options.dtypes) {
    const auto dtype = parse_dtype(text);
    if (!dtype) {
      std::vector<std::string> names;
      for (const Dtype d : all_dtypes()) names.emplace_back(dtype_name(d));
      throw refused("unknown dtype '" + text + "'", {}, suggestion(text, names));
    }
    for (const Params& given : grid) {
      KernelCase next = case_of(options, *contract, given, *dtype);
      // Where --params gives every dtype, --dtype has nothing left to vary.
      if (std::ranges::find(out, next) == out.end()) out.push_back(std::move(next));
    }
  }
  return out;
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
              {"rounds", p.rounds},
              {"create_ns", p.one_time.create_ns},
              {"pack_ns", p.one_time.pack_ns},
              {"first_ns", p.one_time.first_ns},
              {"status", std::string(status_name(p.status))},
              {"reason", p.reason}};
  if (p.busbw_bytes_per_s) {
    out["algbw_bytes_per_s"] = *p.algbw_bytes_per_s;
    out["busbw_bytes_per_s"] = *p.busbw_bytes_per_s;
  }
  if (!p.mfu) out["mfu_reason"] = p.mfu_reason;
  if (!p.duration_ns) out["duration_ns_median_reason"] = p.reason;
  return out;
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
std::string points_table(const std::vector<KernelPoint>& points, bool are_collectives) {
  std::vector<std::string> head{"problem", "device", "implementation", "median", "interval"};
  const std::vector<std::string> figures =
      are_collectives ? std::vector<std::string>{"algbw", "busbw"}
                      : std::vector<std::string>{"rate", "mfu", "path", "roofline"};
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
                          percent_text(p.roofline_fraction)};
    row.insert(row.end(), values.begin(), values.end());
    row.push_back(std::string(status_name(p.status)) + (p.reason.empty() ? "" : ": " + p.reason));
    table.add(row);
  }
  return table.text();
}

CommandResult execute(const GlobalOptions& global, const Options& options) {
  const std::vector<KernelCase> cases = cases_of(options);
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, options.backend);
  check_device(plugin, options.device);
  check_kernel(plugin, options.kernel);
  const LocalMachine machine = local_machine();
  std::unique_ptr<Store> store;
  std::int64_t run = 0;
  if (options.keep) {
    store = open_store(database_path(global));
    run = store->begin_run({.command = "halmark bench --op " + options.op,
                            .fingerprint = machine.fingerprint,
                            .tool_version = tool_version,
                            .tool_build = tool_build,
                            .started_utc = journal::utc_now()});
  }
  Progress progress(global, "bench");
  CampaignOptions campaign = campaign_for(plugin, machine);
  campaign.rounds = options.rounds;
  campaign.rule.budget_s = options.seconds;
  campaign.should_stop = interrupted;
  if (store) campaign.sink = [&](const Measurement& m) { store->append(run, m); };
  campaign.progress = [&](const CampaignProgress& p) {
    progress.step(static_cast<std::size_t>(p.done), static_cast<std::size_t>(p.total),
                  static_cast<std::size_t>(p.failed), p.current, p.left_s.value_or(-1));
  };
  const std::vector<Measurement> rows = Campaign(std::move(campaign)).run(cases);
  progress.finish();

  CommandResult result;
  Json list = Json::array();
  const std::vector<KernelPoint> points = in_order_of(cases, kernel_points(rows, machine));
  for (const KernelPoint& p : points) {
    list.push_back(row_json(p));
    if (counts_as_failure(p.status)) result.exit_code = ExitCode::partial;
    if (p.status == Status::wrong_result || p.status == Status::nan_result) {
      result.exit_code = ExitCode::incorrect;
    }
  }
  result.data = {{"rows", list}};
  result.text = points_table(points, cases.front().is_collective());
  if (!machine.measured) {
    result.warnings.push_back({"W-ENV-05", "peaks", "no measured peaks for this machine",
                               "halmark peaks measures them; without them there is no MFU"});
  }
  if (interrupted()) result.exit_code = interrupt_exit_code();
  return result;
}

}  // namespace

Action add_bench(CLI::App& app) {
  auto o = std::make_shared<Options>();
  app.add_option("--op", o->op, "Op to measure: gemm, attention, rmsnorm, copy, ...")->required();
  app.add_option(
      "--params", o->params,
      "name=value,... as in the op's contract; several values as [64,4096], [64..65536*4] or "
      "[64..512+64]: every combination is measured");
  app.add_option("--dtype", o->dtypes, "dtypes, comma-separated")->delimiter(',')->required();
  app.add_option("--backend", o->backend, "Backend, for example cpu");
  app.add_option("--device", o->device, "Device of the backend");
  app.add_option("--kernel", o->kernel,
                 "Kernel of the plugin (default: the first that supports it)");
  app.add_option("--parts", o->parts, "Cut the device into equal parts; use one")
      ->check(CLI::Range(1, 4096));
  app.add_option("--shards", o->shards, "Parts that run the problem at the same time")
      ->check(CLI::Range(1, 4096));
  app.add_option("--mode", o->mode, "hot, rotate_const or rotate_all")
      ->check(CLI::IsMember({"hot", "rotate_const", "rotate_all"}));
  app.add_option("--sets", o->sets, "Argument sets of the ring")->check(CLI::Range(1, 4096));
  app.add_option("--rounds", o->rounds, "Fresh processes per case")->check(CLI::Range(1, 99));
  app.add_option("--seconds", o->seconds, "Sampling time per case and round")
      ->check(CLI::Range(0.001, 600.0));
  app.add_flag("--store", o->keep, "Keep the rows in the results database");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
