// halmark model: options, and the step that they describe.
#include "cli/model/model_options.hpp"

namespace halmark::cli {

void add_step_options(OptionSet& app, ModelOptions& o) {
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

Option add_model_options(OptionSet& app, ModelOptions& o) {
  add_step_options(app, o);
  app.add_option("--loss", o.training.loss, "Training: copies of the logits, in-place or plain");
  app.add_flag("--sequence-parallel", o.training.sequence_parallel,
               "Training: norms and residuals split over tp");
  app.add_option("--weights", o.weights,
                 "Its checkpoint, of which the headers are read: DIR, an index or a file");
  app.add_flag("--list", o.list, "List the shipped models");
  app.add_option("--peak", o.question.peak, "Denominator: datasheet or measured")
      ->check(one_of({"datasheet", "measured"}));
  app.add_option("--measured-ms", o.question.measured_ms, "Measured step time, for MFU");
  app.add_flag("--max-context", o.question.wants_longest_context,
               "Decode at the longest context that fits, and what limits it");
  app.add_option("--what-if", o.what_if,
                 "The step on a device with other ceilings: bandwidth=+20%, peak=x2, link=-50%");
  app.add_option("--tokens-per-s", o.question.tokens_per_s,
                 "Measured rate over all sequences, in place of --measured-ms");
  add_latency_option(app, o.latency);
  app.add_option("--convention", o.question.convention,
                 "How the stated MFU counts: palm, megatron, llm-foundry, nemo-24, "
                 "megatron-bridge, deepseek-v3, torchtitan, chinchilla, executed, ...");
  app.add_option("--set", o.question.switches, "One switch of the convention: attention=full")
      ->allow_extra_args(false);
  const Option explain =
      app.add_option(
             "--explain", o.explain,
             "The formula of one operator with its numbers, or a word of the glossary; alone: "
             "all of them")
          .expected(0, 1);
  app.add_flag("--all", o.shows_all, "Every operator with its shapes, splits, FLOPs and bytes");
  app.add_option("--json-schema", o.json_schema,
                 "reference: the keys of the MFU simulator that users move from")
      ->check(one_of({"reference"}));
  app.add_option("--acceptance", o.question.acceptance,
                 "With --mtp: probability that a drafted token is accepted, 0 to 1");
  app.add_option("--per-layer-ms", o.kernels.per_layer_ms,
                 "Measured time of a layer: MS, or TYPE=MS,TYPE=MS per type of layer");
  app.add_option("--kernel-ms", o.kernels.kernel_ms,
                 "Measured kernels of one layer: FILE or JSON, category to milliseconds");
  app.add_option("--kernel-flow", o.kernels.kernel_flow,
                 "Measured kernels in order: FILE, @FILE or JSON")
      ->excludes("--kernel-ms");
  Option served = app.add_option("--concurrency", o.load.concurrency,
                                 "Requests at a time: what they experience under the layout with "
                                 "the most tokens/s, with --input and --output");
  app.add_option("--input", o.load.input_tokens, "Prompt tokens of a request")
      .check(within(1, 1 << 30));
  app.add_option("--output", o.load.output_tokens, "Generated tokens of a request")
      .check(within(1, 1 << 30));
  for (const char* other : {"--what-if", "--all", "--explain", "--json-schema", "--per-layer-ms",
                            "--kernel-ms", "--kernel-flow", "--weights"}) {
    served.excludes(other);
  }
  return explain;
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

tune::StepFolders step_folders() {
  return {config_dirs("models"), config_dirs("devices"), config_dirs("fabrics")};
}

}  // namespace halmark::cli
