// halmark tune: plan, measure, compose, search, validate, report.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/console/command.hpp"
#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/peaks.hpp"
#include "cli/stored_run.hpp"
#include "cli/stored_winners.hpp"
#include "cli/study.hpp"
#include "cli/tune_certify.hpp"
#include "cli/tune_latency.hpp"
#include "cli/tune_measure.hpp"
#include "cli/tune_validate.hpp"
#include "search/sampler.hpp"
#include "study/deployment_study.hpp"
#include "study/storage/open.hpp"

namespace halmark::cli {
namespace {

struct Options {
  std::string sweep;
  bool plan_only = false, takes_defaults = false;
  std::string sampler;
  std::optional<std::uint64_t> seed;
  std::vector<std::string> out;
  CertifySettings certify;
  LatencyChoice latency;
  std::string validate;  // "" = no, "front" = the sweep's number of points, "all"
};

std::string command_line(const Options& options) {
  std::string out = "halmark tune " + options.sweep;
  if (!options.sampler.empty()) out += " --sampler " + options.sampler;
  if (options.seed) out += " --seed " + std::to_string(*options.seed);
  if (options.certify.eps > 0) out += fmt::format(" --gap {}", options.certify.eps);
  if (options.takes_defaults) out += " --no-winners";
  for (std::size_t i = 0; i < options.latency.sources.size(); ++i) {
    out += (i == 0 ? " --latency " : ",") + options.latency.sources[i];
  }
  if (!options.latency.device.empty()) out += " --device-file " + options.latency.device;
  if (!options.validate.empty())
    out += options.validate == "all" ? " --validate=all" : " --validate";
  return out;
}

void note(const GlobalOptions& global, const std::string& text) {
  if (!global.quiet && !global.json) write_stderr(text);
}

ExitCode exit_code_of(const TuneRun& run) {
  if (interrupted()) return interrupt_exit_code();
  for (const Validation& v : run.validations) {
    if (v.status == Status::wrong_result || v.status == Status::nan_result) {
      return ExitCode::incorrect;
    }
  }
  for (const Measurement& m : run.rows) {
    if (counts_as_failure(m.status)) return ExitCode::partial;
  }
  for (const Validation& v : run.validations) {
    if (counts_as_failure(v.status)) return ExitCode::partial;
  }
  return ExitCode::ok;
}

// The run's configurations as studies, one for each phase: steps of two phases do not compare. The
// journal has them already, so a study that cannot be written costs nothing but itself.
void keep_studies(const GlobalOptions& global, const Sweep& sweep, const TuneRun& run,
                  CommandResult& result) {
  const std::string location = study_location(global);
  try {
    const auto store = open_study_store(location, StudyAccess::or_create);
    for (const Phase phase : {Phase::decode, Phase::prefill}) {
      const std::string name = fmt::format("{} {}, run {}", sweep.name, phase_name(phase), run.id);
      store_deployments(*store, name, phase, run.evaluations, sweep.objectives);
    }
    for (const std::string& text : store->take_notes()) {
      result.warnings.push_back({"W-STUDY-01", "study", text, ""});
    }
  } catch (const Error& e) {
    result.warnings.push_back({"W-STUDY-02", "study", "not written: " + std::string(e.what()),
                               "the journal has every row"});
  }
}

// `certify` is no sampler of the list: it asks for kernels, not for points.
std::string known_sampler(const std::string& name) {
  std::vector<std::string> known = sampler_names();
  known.emplace_back("certify");
  if (std::ranges::find(known, name) == known.end()) {
    throw refused("there is no sampler '" + name + "'", "--sampler", suggestion(name, known));
  }
  return name;
}

CommandResult execute(const GlobalOptions& global, const Options& options) {
  Sweep sweep = read_sweep(options.sweep);
  if (!options.sampler.empty()) sweep.sampler = known_sampler(options.sampler);
  if (options.seed) sweep.seed = *options.seed;
  if (!options.certify.proof.empty() && sweep.sampler != certify_sampler) {
    throw refused("--proof is of the sampler certify", {}, "add --sampler certify");
  }
  if (const LatencyChoice choice = latency_choice(sweep, options.latency);
      !choice.sources.empty()) {
    return tune_by_latency(global, sweep, choice, options.out, command_line(options));
  }
  LocalMachine machine = local_machine();
  if (options.plan_only) {
    const TunePlan plan = make_plan(
        sweep, machine,
        options.takes_defaults ? WinnerTable{}
                               : stored_winners(global, machine.fingerprint, sweep.backend));
    return {.data = plan_json(plan), .text = plan_report(plan)};
  }
  make_plan(sweep, machine);  // refuses what is impossible before anything is written or run
  const std::vector<FoundPlugin> found = find_plugins(global);
  const FoundPlugin& plugin = plugin_of(found, sweep.backend);
  const std::unique_ptr<Store> store = open_store(database_path(global));
  if (!machine.measured && sweep.backend == "cpu") {
    note(global, "halmark: measuring this machine's peaks first (once)\n");
    machine.measured =
        measure_and_keep_peaks(global, machine, true, measured_device_path(machine.fingerprint));
    if (interrupted()) return {.exit_code = interrupt_exit_code()};
  }
  const TunePlan plan =
      make_plan(sweep, machine,
                options.takes_defaults ? WinnerTable{}
                                       : stored_winners(*store, machine.fingerprint, plugin.hash));
  note(global, plan_report(plan) + '\n');
  const TuneContext context{.global = &global,
                            .machine = &machine,
                            .plugin = &plugin,
                            .store = store.get(),
                            .command = command_line(options)};
  std::unique_ptr<CertifiedRun> certified;
  if (sweep.sampler == certify_sampler) {
    certified = std::make_unique<CertifiedRun>(plan, context, options.certify);
  }
  TuneRun run = certified ? certified->measure() : measure_plan(plan, context);
  if (!options.validate.empty() && !interrupted()) {
    validate_front(plan, context, run, options.validate == "all" ? 0 : sweep.validate_points,
                   options.validate == "all" ? 1e9 : sweep.validate_budget_s);
  }
  RunReport report = stored_report(*store, run.id, machine);
  report.notes = run.notes;
  CommandResult result{.exit_code = exit_code_of(run),
                       .data = report_json(report),
                       .text = report_text(report, use_color(global))};
  if (certified && !interrupted()) {
    CommandResult certificate = certified->conclude(run);
    result.text += '\n' + certificate.text;
    result.data["certificate"] = std::move(certificate.data);
  }
  if (!interrupted()) {
    keep_studies(global, sweep, run, result);
    for (const std::string& path : options.out) {
      write_report(report, path);
      result.text += "written: " + path + '\n';
    }
  } else {
    result.text += "interrupted: every finished row is stored; the same command goes on\n";
  }
  return result;
}

}  // namespace

Action add_tune(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("sweep", o->sweep, "Sweep file (configs/sweeps/*.toml)")->required();
  app.add_flag("--plan", o->plan_only, "Print the plan without opening a device");
  app.add_flag("--no-winners", o->takes_defaults,
               "Kernels as the plugin chooses them, not as halmark winners lists them");
  app.add_option("--sampler", o->sampler,
                 "Instead of the sweep's:\n" + sampler_list() +
                     "certify measures only what proves that nothing beats the front\n");
  app.add_option("--proof", o->certify.proof, "certify: proof file for halmark verify-front");
  app.add_option("--gap", o->certify.eps,
                 "certify: stop when nothing can be better than this share")
      ->check(within(0.0, 1e6));
  app.add_option("--safety", o->certify.safety,
                 "certify: factor on every peak that bounds a kernel")
      ->check(within(1.0, 1e6));
  app.add_option("--seed", o->seed, "Of the sampler and of measuring, instead of the sweep's");
  app.add_option("--out,-o", o->out, "Report file, format by suffix: .html .json .csv .md");
  app.add_option("--latency", o->latency.sources,
                 "Do not measure: search on journal:FILE, imported:FILE, interpolated, roofline; "
                 "trusted in this order")
      ->delimiter(',');
  app.add_option("--device-file", o->latency.device,
                 "With --latency: a known device's id, or a device file");
  app.add_option("--tables-device", o->latency.tables_device,
                 "With imported: the device that the tables were measured on, if another");
  app.add_option("--layout", o->latency.layout, "With imported: what the columns are (*.toml)");
  app.add_option("--validate", o->validate, "Run front points whole: --validate or --validate=all")
      ->expected(0, 1)
      ->default_str("front")
      ->check(one_of({"front", "all"}));
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
