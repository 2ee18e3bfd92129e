// halmark tune: plan, measure, compose, search, validate, report.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/shared.hpp"
#include "deploy/engine_store.hpp"
#include "fleet/fleet.hpp"
#include "fleet/nodes/planning.hpp"
#include "history/night_order.hpp"
#include "model/spec/coverage.hpp"
#include "model/spec/model_document.hpp"
#include "pages/front/chosen_point.hpp"
#include "plan/asked_sweep.hpp"
#include "report/served_report.hpp"
#include "report/text/report_text.hpp"
#include "study/storage/open.hpp"
#include "tune/certify/conclusion.hpp"
#include "tune/devices/node_job.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/plan/plan_view.hpp"
#include "tune/search/outcome.hpp"
#include "tune/steer/tune_request.hpp"
#include "tune/stored/backup.hpp"
#include "tune/stored/stored_plan.hpp"
#include "tune/stored/stored_report.hpp"
#include "tune/stored/stored_study.hpp"
#include "tune/stored/stored_winners.hpp"
#include "tune/validate/validate.hpp"
#include "verify/database.hpp"

namespace halmark::cli {
namespace {

struct TuneOptions : tune::TuneRequest {
  bool prints_sweep = false;
  AskedSweep asked;  // of a model instead of a sweep
  PricingOutput out;
};

void note(const GlobalOptions& global, const std::string& text) {
  if (!global.quiet && !global.json) write_stderr(text);
}

std::unique_ptr<tune::TunePlan> plan_of(const Sweep& sweep, const LocalMachine& machine,
                                        WinnerTable winners,
                                        const std::optional<tune::NamedDevices>& named,
                                        const tune::AskedNodes& nodes) {
  tune::Target target = target_of(machine, sweep.backend, sweep.device, std::move(winners));
  spread_over(nodes, target);
  if (named) named->name_in(target);
  return tune::measured_plan(sweep, std::move(target), machine.has_bf16, config_dirs("models"),
                             config_dirs("fabrics"));
}

// What the command has at hand once devices may be touched.
struct Session {
  const GlobalOptions& global;
  const TuneOptions& options;
  LocalMachine machine;
  const FoundPlugin& plugin;
  std::unique_ptr<Store> store;
  std::unique_ptr<tune::Steering> steering;
  std::optional<tune::NamedDevices> named;
  std::unique_ptr<tune::KernelMeasurer> fleet;
};

using BuildHashes = std::map<std::string, std::string>;
using NightOrder = decltype(history::night_order);

tune::MeasureContext context_of(const Session& s, const Sweep& sweep, Progress& progress) {
  const auto ordered_by = [&s](NightOrder* order) {
    return [&s, order](std::span<const KernelCase> kernels, std::int64_t run) {
      return order(kernels, *s.store, s.machine.rows_fingerprint, run);
    };
  };
  std::vector<std::string> lines = run_lines(s.global, s.machine);
  if (s.named) std::ranges::move(s.named->lines(), std::back_inserter(lines));
  return {.plugin_path = s.plugin.path,
          .plugin_hash = s.plugin.hash,
          .plugins = s.named ? s.named->plugins() : tune::BackendPlugins{},
          .store = s.store.get(),
          .command = s.global.command,
          .machine_lines = std::move(lines),
          .worker_limits = worker_limits_of(s.global, sweep.containment),
          .starts_new_run = s.options.starts_new_run,
          .steering = s.steering.get(),
          .fleet = s.fleet.get(),
          .job = tune::node_job(s.options.nodes),
          .night = {.date = s.options.night,
                    .builds_folder = builds_dir().string(),
                    .order = ordered_by(history::night_order),
                    .moved_first = ordered_by(history::moved_first),
                    .undecided = ordered_by(history::undecided)},
          .stop = interrupts(),
          .progress = campaign_progress(progress),
          .tell = [&progress](const std::string& line) { progress.note(line); }};
}

void validate(const Session& s, const tune::TunePlan& plan, tune::MeasuredSweep& sweep,
              tune::TuneRun& run) {
  if (s.options.validate.empty() || interrupted()) return;
  const bool is_all = s.options.validate == "all";
  Progress progress(s.global, "validate");
  tune::validate_front(
      sweep.evaluator(),
      {.points = is_all ? 0 : plan.sweep().validate_points,
       .budget_s = is_all ? 1e9 : plan.sweep().validate_budget_s,
       .block_s = plan.sweep().validate_turn_s,
       .progress = [&](std::size_t done, std::size_t total,
                       const std::string& key) { progress.step(done, total, 0, key, -1); }},
      run);
}

CommandResult reported(const Session& s, const tune::TunePlan& plan,
                       const tune::MeasuredSweep& sweep, const tune::TuneRun& run) {
  tune::ReportingMachine judge = reporting_machine(s.machine);
  if (s.named) s.named->judge_in(judge);
  RunReport report = tune::stored_report(*s.store, run.id, judge);
  report.notes = tune::notes_of(run);
  report.rivals = run.rivals;
  std::ranges::move(model_lines(plan.spec()), std::back_inserter(report.notes));
  const bool color = use_color(s.global);
  CommandResult result = {
      {.data = {},
       .text = s.options.is_brief ? brief_text(report, color, stdout_columns())
                                  : report_text(report, color, stdout_columns())},
      tune::exit_code_of(run, plan.sweep())};
  report.notes.insert(report.notes.begin(), run.batches.begin(), run.batches.end());  // told before
  result.data = report_json(report);
  if (interrupted()) {
    result.text += "interrupted: every finished row is stored; the same command resumes\n";
    return result;
  }
  if (sweep.certifier() != nullptr) {
    tune::CertificateReport certificate =
        tune::conclude(*sweep.certifier(), run.id, plan.sweep().measure.rounds, run.validations);
    result.text += '\n' + certificate.text;
    result.data["certificate"] = std::move(certificate.data);
  }
  keep_in_studies(s.global, "the journal has every row", result, [&](StudyStore& store) {
    tune::store_run(store, plan.sweep(), plan.problems(), run);
  });
  result.write(s.options.out.files, [&](const std::string& path) { write_report(report, path); });
  return result;
}

CommandResult measured(Session& s, const Sweep& sweep) {
  tune::require_nodes(s.options.nodes, s.plugin);
  if (sweep.backend == "cpu" && !s.named) {
    ensure_cpu_peaks(s.global, s.machine);
    if (interrupted()) return {};
  }
  const auto plan =
      plan_of(sweep, s.machine,
              s.options.takes_defaults ? WinnerTable{}
              : s.named                ? s.named->winners(*s.store)
                        : tune::winner_table(*s.store, s.machine.identity(), s.plugin.hash),
              s.named, s.options.nodes);
  const HeldInterrupts until_reported;
  note(s.global, tune::plan_view(*plan).text + '\n');
  if (const std::string kept = tune::unfinished_old_run(*s.store, sweep.name); !kept.empty()) {
    note(s.global, "halmark: " + kept + '\n');
  }
  Progress progress(s.global, "tune");
  const tune::MeasureContext context = context_of(s, sweep, progress);
  std::optional<tune::CertifySettings> certify;
  if (sweep.sampler == tune::certify_sampler) {
    certify = tune::certify_settings(s.options);
    certify->model = model_document(sweep.model, config_dirs("models"));
  }
  tune::MeasuredSweep measured_sweep(*plan, context, certify);
  tune::TuneRun run = measured_sweep.measure();
  progress.finish();
  validate(s, *plan, measured_sweep, run);
  keep_seen_peaks(s.machine, measured_sweep.evaluator().peaks());
  return reported(s, *plan, measured_sweep, run);
}

// Formats and tables that the end needs are looked at before the work.
void check_outputs(const TuneOptions& options, const Sweep& sweep) {
  for (const std::string& path : options.out.files) {
    sweep.served ? check_served_report_path(path) : check_report_path(path);
  }
  pages::check_export(options.out.written);
}

// What agents told takes the place of this machine; false when interrupted before one was there.
bool take_told(const GlobalOptions& global, const TuneOptions& o, const Sweep& sweep,
               LocalMachine& machine, std::vector<FoundPlugin>& found) {
  const HeldInterrupts until_planned;
  auto told = fleet::facts_to_plan_with({o.fleet, o.fleet_class, sweep, !o.out.is_plan_only,
                                         !o.validate.empty(), [&] { return find_plugins(global); },
                                         interrupts(), [&](const auto& l) { note(global, l); }});
  if (told) std::tie(machine, found) = std::pair(std::move(told->machine), told->plugins);
  return told.has_value();
}

// The machine is one of the fleet's, and rows are those of any machine of its class.
void join_fleet(Session& s, const Sweep& sweep) {
  s.fleet = fleet::measurer(
      *s.store, s.machine.rows_fingerprint,
      s.named ? s.named->plugins().hashes : BuildHashes{{sweep.backend, s.plugin.hash}},
      [&global = s.global](const std::string& line) { note(global, line); });
}

// What a plan has to know of devices: memory, peaks, how many shards there can be. False when
// interrupted before.
bool find_devices(const GlobalOptions& global, const TuneOptions& o, const Sweep& sweep,
                  LocalMachine& machine, std::vector<FoundPlugin>& found) {
  const bool is_told = !o.fleet.empty(), is_named = !sweep.shards_on.empty();
  if (is_told && !take_told(global, o, sweep, machine, found)) return false;
  if (!is_told && (is_named || !o.out.is_plan_only)) found = find_plugins(global);
  if (is_named && !is_told && !o.out.is_plan_only) ensure_cpu_peaks(global, machine);
  if (!is_named && !found.empty()) {
    const FoundPlugin& plugin = plugin_of(found, sweep.backend);
    if (!is_told) check_device(plugin, sweep.device);
    rows_are_of(machine, plugin, sweep.device);
  }
  return !interrupted();
}

CommandResult execute_sweep(const GlobalOptions& global, const TuneOptions& options,
                            const Sweep& sweep) {
  check_outputs(options, sweep);
  if (const tune::LatencyChoice choice = tune::latency_choice(sweep, options.latency);
      !choice.sources.empty()) {
    return tune_by_latency(global, sweep, choice, options.proposals, options.out);
  }
  if (!options.out.pick.empty() || options.out.written.is_stated()) {
    throw refused("a measured front is exported when it is stored, and has no engine's terms", {},
                  "halmark export --pick ... --as ... after this command");
  }
  LocalMachine machine = local_machine();
  std::vector<FoundPlugin> found;
  if (!find_devices(global, options, sweep, machine, found)) return {};
  auto named = tune::named_devices(places_of(sweep), found, machine);
  // Refuses what is impossible before anything is written or run.
  const auto plan = plan_of(sweep, machine,
                            options.takes_defaults || !options.out.is_plan_only || named
                                ? WinnerTable{}
                                : stored_winners(global, machine, sweep.backend, sweep.device),
                            named, options.nodes);
  if (options.out.is_plan_only) return tune::plan_view(*plan);
  if (sweep.nightly)
    note(global, tune::nightly_backup(database_path(global), require_sound_database));
  auto steering = tune::steering_of(options.proposals, *plan);
  Session session{global,
                  options,
                  std::move(machine),
                  plugin_of(found, sweep.backend),
                  open_store(database_path(global)),
                  std::move(steering),
                  std::move(named)};
  if (!options.fleet.empty()) join_fleet(session, sweep);
  return measured(session, sweep);
}

CommandResult execute_file(const GlobalOptions& global, const TuneOptions& options) {
  auto read = read_tune_file(options.sweep);
  const auto* kernels = std::get_if<KernelSweep>(&read);
  if (kernels == nullptr) {
    return execute_sweep(global, options, changed_sweep(options, std::get<Sweep>(std::move(read))));
  }
  if (options.out.is_plan_only || !options.validate.empty() || !options.out.files.empty()) {
    throw refused("a sweep of kernels has neither plan nor front", kernels->file,
                  "leave out --plan, --validate and --out");
  }
  return tune_kernels(global, changed_sweep(options, *kernels));
}

// A model stands for a sweep: on a known device one that is kept beside the database, else the
// shipped one of this machine.
CommandResult execute_model(const GlobalOptions& global, TuneOptions options) {
  AskedSweep& asked = options.asked;
  asked.model = options.sweep;
  options.out.assumed = take_usual(asked);
  const Device device = tune::asked_device(asked, config_dirs("models"), config_dirs("devices"));
  std::string& text = options.out.sweep_text;
  text = asked_sweep_text(asked, device);
  const auto folder = std::filesystem::absolute(files_beside(global)).parent_path();
  options.out.sweep_file = (folder / (asked_name(asked) + ".toml")).string();
  const Sweep sweep = changed_sweep(options, parse_sweep(text, options.out.sweep_file));
  if (options.prints_sweep) return report::View{{{"sweep", text}}, text};
  require_writable(options.out.sweep_file, "--db");
  return execute_sweep(global, options, sweep);
}

CommandResult execute(GlobalOptions global, TuneOptions options) {
  if (global.json && options.is_brief) throw refused("--brief is of the text, --json has it all");
  if (!options.fleet.empty()) global.db = options.fleet;
  // What is exported for an engine is forecast of it.
  options.latency.engine = options.out.written.engine_of_search();
  if (!options.out.written.as.empty()) {
    options.out.written.own_steps = deploy::stored_imports(files_beside(global));
  }
  options.sweep = named_sweep(options.sweep, config_dirs("sweeps"));
  if (!options.asked.device.empty() && !is_sweep_file(options.sweep)) {
    return execute_model(global, std::move(options));
  }
  if (const std::string option =
          options.prints_sweep ? "--print-sweep" : stated_option(options.asked);
      !option.empty()) {
    throw refused(option + " is of a model on a known device", options.sweep,
                  "halmark tune qwen3-32b --device h100");
  }
  if (!is_sweep_file(options.sweep)) {
    options.model = std::exchange(options.sweep, named_sweep("quickstart", config_dirs("sweeps")));
    tune::require_model(options.model, config_dirs("models"), config_dirs("sweeps"));
    note(global, "halmark: no --device is named: measured on this machine, as " + options.sweep +
                     " says\n");
  }
  return execute_file(global, options);
}

void add_asked_options(OptionSet& app, AskedSweep& asked) {
  app.add_option("--device", asked.device, "Of a model: search its serving on this known device");
  app.add_option("--devices", asked.devices,
                 "Of a model: devices of the whole deployment (default: 1)")
      .check(within(1, 65536));
  add_request_options(app, asked);
}

// Who proposes, and what a proof is to say.
void add_search_options(OptionSet& app, TuneOptions& o) {
  app.add_option(
      "--proposals", o.proposals.location,
      std::string("Try what waits in a study, so that Optuna steers: ") + study_locations);
  app.add_option("--proposals-study", o.proposals.study, "Its name, where there are several");
  app.add_option("--proposals-wait", o.proposals.wait_s, "Seconds without one that end the search")
      ->check(within(0.0, 1e6));
  app.add_option("--proof", o.certify.proof, "certify: proof file for halmark verify-front")
      ->only_output();
  app.add_option("--gap", o.gap, "certify: stop when nothing can be better than this share")
      ->check(within(0.0, 1e6));
  app.add_option("--safety", o.safety, "certify: factor on every peak that bounds a kernel")
      ->check(within(1.0, 1e6));
}

}  // namespace

Action add_tune(OptionSet& app) {
  auto o = std::make_shared<TuneOptions>();
  app.add_option("sweep", o->sweep, "Sweep file, shipped one by name, or a model")->required();
  add_asked_options(app, o->asked);
  app.add_flag("--print-sweep", o->prints_sweep,
               "Of a model: print the sweep that it stands for, and search nothing");
  app.add_option("--pick", o->out.pick, std::string("One point of a priced front: ") + pick_help)
      ->only_output();
  add_export_options(app, o->out.written);
  app.add_flag("--plan", o->out.is_plan_only, "Print the plan without opening a device");
  app.add_option("--fleet", o->fleet,
                 "Measure on the agents of this shared database: postgresql://USER@HOST/DATABASE");
  app.add_option("--fleet-class", o->fleet_class,
                 "Of a fleet with several classes of machines: which one; its first characters");
  app.add_flag("--brief", o->is_brief, "Of a measured sweep: its fronts and closing lines alone")
      .only_output()
      .excludes("--plan");
  app.add_flag("--no-winners", o->takes_defaults,
               "Kernels as the plugin chooses them, not as halmark winners lists them");
  app.add_flag("--rerun,--again", o->starts_new_run,
               "Measure everything in a new run, where this plan was run before")
      .excludes("--plan");
  app.add_option("--night", o->night,
                 "Of a sweep with [nightly]: the date of this run, 2026-11-22 (default: today)");
  app.add_option("--sampler", o->sampler, "Instead of the sweep's:\n" + tune::sampler_help());
  add_search_options(app, *o);
  app.add_option("--trials", o->trials,
                 "Configurations to try, instead of the sweep's (0: no limit)")
      ->check(within(0, 10'000'000));
  app.add_option("--seed", o->seed, "Of the sampler and of measuring, instead of the sweep's");
  app.add_option("--out,-o", o->out.files, "Report file, format by suffix: .html .json .csv .md")
      ->only_output();
  app.add_option("--latency", o->latency.sources,
                 "Do not measure: search on journal:FILE, imported:FILE, forecast[:ENGINE], "
                 "interpolated, transferred, roofline; trusted in this order")
      ->delimiter(',');
  app.add_flag("--bounds-compete", o->latency.bounds_compete,
               "With --latency: configurations timed by a bound may displace measured ones");
  app.add_option("--device-file", o->latency.device,
                 "With --latency: a known device's id, or a device file");
  app.add_option("--fabric", o->latency.fabric, "Instead of the sweep's: see halmark fabric show");
  app.add_option("--stages", o->stages, "Layers of each stage, 10,18: tried beside equal stages");
  app.add_option("--shards-on", o->shards_on,
                 "The device of every shard, instead of the sweep's: 'cpu:0/2 + opencl:0'");
  add_node_options(app, o->nodes, "Spread shards over");
  app.add_option("--tables-device", o->latency.tables_device,
                 "With imported: the device that the tables were measured on, if another");
  app.add_option("--series", o->latency.series,
                 "With imported: series of the tables that go first, by words of their names")
      ->delimiter(',');
  app.add_option("--layout", o->latency.layout, "With imported: what the columns are (*.toml)");
  app.add_option("--validate", o->validate, "Run front points whole: --validate or --validate=all")
      ->expected(0, 1)
      ->default_str("front")
      ->check(one_of({"front", "all"}));
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
