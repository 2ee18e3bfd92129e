// Options that several commands share become values here, so that the same words mean the same
// configuration in all of them.
#include "cli/console/facts.hpp"

#include "core/text/url.hpp"
#include "plan/device/device_file.hpp"
#include "plan/worker_limits.hpp"

namespace halmark::cli {

Device known_device(const std::string& id) {
  return halmark::known_device(id, config_dirs("devices"));
}

std::string database_path(const GlobalOptions& options) {
  return options.db.empty() ? (state_dir() / "halmark.db").string() : options.db;
}

std::string files_beside(const GlobalOptions& options) {
  return is_postgresql_url(options.db) ? database_path({}) : database_path(options);
}

void add_global_options(OptionSet& app, GlobalOptions& options) {
  app.add_flag("--json", options.json, "Print one JSON envelope on stdout and nothing else")
      ->only_output();
  app.add_flag("--quiet,-q", options.quiet, "No progress, no warnings on stderr")->only_output();
  app.add_option("--color", options.color, "auto, always or never (NO_COLOR is honoured)")
      ->check(one_of({"auto", "always", "never"}))
      .only_output();
  app.add_option("--progress", options.progress, "auto, json or never")
      ->check(one_of({"auto", "json", "never"}))
      .only_output();
  app.add_option("--db", options.db,
                 "Results database: a file (default under XDG state) or postgresql://...");
  app.add_option("--plugin", options.plugins, "Plugin file or folder, searched first");
  app.add_flag("--allow-insecure-plugin", options.allows_insecure_plugins,
               "Load plugins that other users could have written too");
  app.add_option(
      "--worker-memory", options.worker_memory,
      "Memory of each worker: 8GiB, or none (default: what the run may use, shared by the "
      "workers at once)");
  app.add_option("--phase-limit", options.phase_limits,
                 "Seconds after which a worker counts as hung: PHASE=SECONDS,... (phases: " +
                     phase_names() + ")")
      ->delimiter(',');
}

std::vector<Option> add_layout_options(OptionSet& app, DeploymentOptions& options) {
  std::vector<Option> workload = {
      app.add_option("--phase", options.phase,
                     "prefill, decode or training (default decode; prefill where every token "
                     "sees all others)"),
      app.add_option("--batch", options.batch, "Sequences in flight over the whole deployment"),
      app.add_option("--new-tokens", options.new_tokens,
                     "New tokens a sequence (prefill and training; default 512)"),
      app.add_option("--context", options.context, "Keys that the last query sees (default 1024)")};
  app.add_option("--tp", options.tp, "Tensor parallel ranks");
  app.add_option("--pp", options.pp, "Pipeline stages");
  app.add_option("--stages", options.stages,
                 "Layers of each stage: 10,18; else as equal as they go")
      .delimiter(',');
  app.add_option("--dp", options.dp, "Data parallel replicas");
  app.add_option("--ep", options.ep, "Expert parallel ranks");
  return workload;
}

void add_deployment_options(OptionSet& app, DeploymentOptions& options) {
  add_layout_options(app, options);
  app.add_option("--routing-skew", options.routing_skew,
                 "Uneven use of experts: 100 x exponent of the power law over their loads")
      ->check(within(0, 1000));
  app.add_option("--expert-imbalance", options.expert_imbalance,
                 "Load of the busiest expert rank: balanced, uniform (what uniform routing gives) "
                 "or a factor");
  app.add_option("--dtype", options.dtype, precision_help());
  app.add_option("--precision", options.precision,
                 "Kinds in another type than --dtype has them: kv_cache=f8_e4m3fn,head=bf16");
}

void add_node_options(OptionSet& app, tune::AskedNodes& nodes, const std::string& what) {
  app.add_option("--mpi-hosts", nodes.hosts,
                 what + " these nodes of one MPI job: n1:2,n2:2 or slurm:2");
  app.add_option("--mpi-listen", nodes.listen,
                 "With --mpi-hosts: the address of this machine to which the ranks come");
}

Option add_latency_option(OptionSet& app, std::vector<std::string>& sources) {
  return app
      .add_option("--latency", sources,
                  "Sources of times, trusted in this order: journal:FILE, imported:FILE, "
                  "forecast[:ENGINE], interpolated, transferred, roofline (default: "
                  "forecast,roofline; bounds alone: roofline)")
      .delimiter(',');
}

Value<bool> add_gate_option(OptionSet& app) {
  return app.add_flag(
      "--gate",
      "For pipelines: exit 3 where something is slower or fails, else 0, however much is "
      "undecided");
}

}  // namespace halmark::cli
