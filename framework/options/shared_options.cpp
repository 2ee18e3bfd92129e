#include "options/shared_options.hpp"

#include "plan/precision.hpp"

namespace halmark {

std::vector<Option> add_layout_options(OptionSet& app, tune::DeploymentOptions& options) {
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

void add_deployment_options(OptionSet& app, tune::DeploymentOptions& options) {
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

void add_case_options(OptionSet& app, tune::CaseRequest& asked, const std::string& with) {
  app.add_option("--op", asked.op, with + ": op to measure").with(with);
  app.add_option("--params", asked.params, with + ": its problems, as of halmark bench")
      .with("--op");
  app.add_option("--dtype", asked.dtypes, with + ": dtypes, comma-separated")
      .delimiter(',')
      .with("--op");
  app.add_option("--backend", asked.backend, with + ": backend, for example cpu").with(with);
  app.add_option("--device", asked.device, with + ": device of the backend").with("--op");
}

}  // namespace halmark
