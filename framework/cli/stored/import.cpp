// halmark import: steps that an engine measured of itself, for export, tune and deploy-check to
// show beside what is predicted.
#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "deploy/bench/engine_bench.hpp"
#include "deploy/engine_store.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "pages/models/models_page.hpp"
#include "report/views/engine_views.hpp"

namespace halmark::cli {
namespace {

struct ImportOptions {
  std::string tool, file, model;
  deploy::StatedFacts stated;
};

CommandResult execute(const GlobalOptions& global, ImportOptions o) {
  const std::string database = files_beside(global);
  if (o.tool.empty()) return shown(report::engine_steps_view(deploy::stored_imports(database)));
  if (o.file.empty()) throw refused("no file is named", {}, "halmark import " + o.tool + " FILE");
  if (!o.model.empty()) {
    const ModelSpec model = load_model(o.model, config_dirs("models"));
    o.stated.take(model, pages::parameters_of(model));
  }
  EngineImport imported = deploy::read_bench(o.tool, o.file, o.stated);
  imported.imported_utc = journal::utc_now();
  const std::string path = deploy::keep_import(database, imported);
  CommandResult out = shown(report::engine_steps_view({&imported, 1}));
  out.data["stored"] = path;
  out.text += "stored: " + path + '\n';
  if (o.model.empty()) {
    out.warnings.push_back({"W-IMPORT-01", o.file, "says of no known model what it is",
                            "--model ID, so that export and tune show it beside their points"});
  }
  return out;
}

}  // namespace

Action add_import(OptionSet& app) {
  auto o = std::make_shared<ImportOptions>();
  app.add_option("tool", o->tool,
                 "Whose output: llama-bench, vllm-bench, openvino-bench; without it, what is "
                 "stored is listed")
      .check(one_of({"llama-bench", "vllm-bench", "openvino-bench"}));
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
  return [o](const GlobalOptions& global) { return execute(global, *o); };
}

}  // namespace halmark::cli
