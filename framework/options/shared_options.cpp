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

void add_step_options(OptionSet& app, tune::StepRequest& o) {
  app.add_option("model", o.model, "Shipped id, alias, or path of a config.json");
  add_deployment_options(app, o.configuration);
  app.add_option("--device", o.device, "Known device, or a device file");
  app.add_option("--fabric", o.fabric,
                 "With --device: what joins them (fabric show); without it their own link");
  app.add_option("--devices", o.devices,
                 "How many there are: halmark model takes the fastest layout that fits; with "
                 "--dp, --tp, --pp, --cp it keeps these");
  app.add_option("--cp", o.cp,
                 "Context parallel: ranks that the tokens of every sequence are split over; "
                 "prefill and training");
  app.add_option("--engine", o.engine,
                 "Whose host and scheduler terms stand around the step: sglang, trtllm, vllm, of a "
                 "release vllm:0.19.0 (default: kernels alone)");
  app.add_option(
      "--delta-chunk", o.question.form.delta_chunk,
      "Gated delta rule in chunks of this number of tokens: what a rank executes; 0 = token by "
      "token");
  app.add_flag("--fused-qkv", o.fused_qkv,
               "Projections of queries, keys and values as one product, as engines have them");
  app.add_option("--mtp", o.question.drafted,
                 "Tokens that the model's own prediction modules draft for each decode step; "
                 "training: that they predict beyond the next");
  app.add_option("--micro-batch", o.training.micro_batch, "Training: sequences at a time");
  app.add_option("--recompute", o.training.recompute,
                 "Training: none, selective, alternate or full");
  app.add_option("--zero", o.training.zero, "Training: ZeRO stage 0 to 3");
  app.add_option("--optimizer", o.training.optimizer,
                 "Training: none, sgd, momentum, adam or adam8bit");
  app.add_option("--gradients", o.training.gradients, "Training: dtype of the gradients");
  app.add_option("--lora-rank", o.training.lora_rank, "Training: low-rank adapters alone");
}

std::vector<Option> add_request_options(OptionSet& app, AskedSweep& asked) {
  return {app.add_option("--input", asked.input_tokens,
                         "Of a model: prompt tokens of a request (default: 1000)")
              .check(within(1, 1'000'000'000)),
          app.add_option("--output", asked.output_tokens,
                         "Of a model: generated tokens of a request (default: 200)")
              .check(within(1, 1'000'000'000)),
          app.add_option("--concurrency", asked.concurrency,
                         "Of a model: requests in flight, one or several (default: 1 to 1024)")
              .delimiter(','),
          app.add_option("--dtype", asked.dtypes, precision_help()).delimiter(','),
          app.add_option("--ttft", asked.ttft, "Of a model: time to the first token at most, 1s"),
          app.add_option("--tpot", asked.tpot, "Of a model: time between tokens at most, 30ms")};
}

void add_level_options(OptionSet& app, StatedLevels& levels) {
  app.add_option("--slo", levels.slo, "Levels: ttft_ms=500,tpot_ms=30, keys of a sweep's [slo]")
      .delimiter(',');
  app.add_option("--ttft", levels.ttft, "Time to the first token at most, 1s");
  app.add_option("--tpot", levels.tpot, "Time between tokens at most, 30ms");
}

}  // namespace halmark
