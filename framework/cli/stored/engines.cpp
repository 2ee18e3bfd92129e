// halmark import: steps that an engine measured of itself, for export, tune and deploy-check to
// show beside what is predicted. halmark deploy-check: runs an exported command on this machine
// with random weights, the engine's own step beside the predicted one.
#include "deploy/deploy_check.hpp"

#include <memory>
#include <utility>

#include "cli/shared.hpp"
#include "deploy/bench/engine_bench.hpp"
#include "deploy/engine/benchmark_app.hpp"
#include "deploy/engine_store.hpp"
#include "pages/models/models_page.hpp"
#include "report/views/engine_views.hpp"
#include "tune/plan/deployment.hpp"
#include "tune/stored/stored_front.hpp"

namespace halmark::cli {
namespace {

struct ImportOptions {
  std::string tool, file, model;
  deploy::StatedFacts stated;
};

CommandResult imported(const GlobalOptions& global, ImportOptions o) {
  const std::string database = files_beside(global);
  if (o.tool.empty()) return report::engine_steps_view(deploy::stored_imports(database));
  if (o.file.empty()) {
    if (contains(deploy::bench_tools(), o.tool)) {
      throw refused("no file is named", {}, "halmark import " + o.tool + " FILE");
    }
    o.file = std::exchange(o.tool, deploy::bench_tool_of(o.tool));
  }
  EngineImport steps = deploy::read_bench(o.tool, o.file, o.stated);
  if (o.model.empty()) o.model = deploy::known_model_of(steps, config_dirs("models"));
  if (!o.model.empty()) {
    const ModelSpec model = load_model(o.model, config_dirs("models"));
    o.stated.take(model, pages::parameters_of(model));
    steps = deploy::read_bench(o.tool, o.file, o.stated);
  }
  steps.imported_utc = journal::utc_now();
  const std::string path = deploy::keep_import(database, steps);
  CommandResult out = report::engine_steps_view({&steps, 1});
  out.data["stored"] = path;
  out.text += "stored: " + path + '\n';
  if (o.model.empty()) {
    out.warnings.push_back({"W-IMPORT-01", o.file, "says of no known model what it is",
                            "--model ID, so that export and tune show it beside their points"});
  }
  return out;
}

struct DeployCheckOptions {
  std::string engine, server_version, as = "llamacpp";
  tune::FrontPlace place;
  std::optional<std::int64_t> point;
};

CommandResult check_layer(const DeployCheckOptions& o, const SearchedFront& front,
                          const std::string& app) {
  const HeldInterrupts until_app_ended;
  const auto number = static_cast<std::size_t>(o.point.value_or(1));
  return deploy::layer_view(deploy::check_layer(
      load_model(front.model, config_dirs("models")),
      tune::deployment_of(front, number, {}, config_dirs("models"), config_dirs("devices")), app,
      interrupts()));
}

CommandResult execute(const GlobalOptions& global, DeployCheckOptions o) {
  const bool is_layer = o.as == "openvino";
  const std::string program =
      is_layer ? deploy::benchmark_app(o.engine) : deploy::server_program(o.engine);
  o.place.database = database_path(global);
  o.place.studies = study_location(global);
  const SearchedFront front = tune::find_front(o.place);
  if (is_layer) return check_layer(o, front, program);
  const exports::EngineTable table =
      exports::read_engine_table("llamacpp", o.server_version, config_dirs("engines"));
  const auto planned = deploy::plan_checks(front, o.point, table, [&](std::size_t i) {
    return tune::deployment_of(front, i + 1, {}, config_dirs("models"), config_dirs("devices"));
  });
  const LocalMachine machine = local_machine();
  Progress progress(global, "deploy-check");
  const HeldInterrupts until_server_ended;
  const std::vector<deploy::CheckedPoint> checked = deploy::check_points(
      load_model(front.model, config_dirs("models")), planned,
      {.program = program,
       .device = machine.machine.cpu_model + ", " + std::to_string(machine.cores) + " cores",
       .stop = interrupts(),
       .progress = [&](const std::string& what) { progress.step(0, 1, 0, what, -1); }});
  progress.finish();
  CommandResult out = deploy::check_view(checked);
  const std::string path =
      deploy::keep_import(files_beside(global), deploy::import_of(checked, journal::utc_now()));
  out.data["stored"] = path;
  out.text += "stored: " + path + "; halmark export shows it beside the point\n";
  return out;
}

}  // namespace

Action add_import(OptionSet& app) {
  auto o = std::make_shared<ImportOptions>();
  app.add_option("tool", o->tool,
                 "Whose output: llama-bench, vllm-bench, openvino-bench; without it, what is "
                 "stored is listed; a file alone says it itself");
  app.add_option("file", o->file,
                 "llama-bench -o json|jsonl; vllm bench latency --output-json, serve "
                 "--save-result; llm_bench's JSON or CSV, benchmark_app -json_stats");
  app.add_option("--model", o->model, "Known model that was measured: its id, or a config.json");
  app.add_option("--engine-version", o->stated.engine_version, "Where the file does not say it");
  app.add_option("--dtype", o->stated.precision, "Types of the weights, where it does not");
  app.add_option("--device", o->stated.device, "What it ran on, where it does not");
  app.add_option("--batch", o->stated.batch, "Sequences at a time, where it does not")
      .check(within(1, 1'000'000));
  app.add_option("--input", o->stated.input_tokens, "vllm bench latency: prompt tokens of each")
      .check(within(1, 1 << 30));
  app.add_option("--output", o->stated.output_tokens, "vllm bench latency: generated tokens")
      .check(within(1, 1 << 30));
  return [o](const GlobalOptions& global) { return imported(global, *o); };
}

Action add_deploy_check(OptionSet& app) {
  auto o = std::make_shared<DeployCheckOptions>();
  app.add_option("--engine", o->engine,
                 "Folder of the engine's programs: llama-server, benchmark_app");
  app.add_option("--as", o->as, "llamacpp, or openvino: one layer, by benchmark_app")
      .check(one_of({"llamacpp", "openvino"}));
  app.add_option("--server-version", o->server_version,
                 "Release whose flags the command is written with (default: the latest known)");
  app.add_option("--point", o->point,
                 "Number of the point (default: the first of each kind of step that it can run)")
      .check(within(1, 1'000'000));
  app.add_option("--study", o->place.study, "The search, by its study (default: the latest)");
  app.add_option("--run", o->place.run, "A run of the database, by its number");
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
