// halmark model: options, and the step that they describe.
#include "cli/model/model_options.hpp"
#include "model/step/question_checks.hpp"
#include "tune/evaluate/step/step_over_fabric.hpp"

namespace halmark::cli {
namespace {

void check(const ModelOptions& options) {
  if (options.model.empty()) {
    throw refused("no model is named", {}, "name an id or a config.json; --list shows the ids");
  }
}

void check_devices(const ModelOptions& options, const Configuration& configuration) {
  if (!options.devices || *options.devices == configuration.devices()) return;
  throw refused("device_count_mismatch: --devices is " + std::to_string(*options.devices) +
                    ", and " + configuration.parallel.text() + " takes " +
                    std::to_string(configuration.devices()),
                {}, "state how the devices are used: --dp, --tp, --pp, --cp");
}

// A form other than the usual one belongs to steps over whole sequences, drafts to decode.
void check_form(const ModelOptions& options) {
  if (options.question.drafted == 0) return;
  if (options.configuration.phase == "training") {
    if (!options.question.acceptance) return;
    throw refused("--acceptance with --phase training: drafts are accepted in decode", {},
                  "leave it out");
  }
  if (options.cp == 1 && options.question.form.delta_chunk == 0) return;
  throw refused("--mtp drafts in decode, --cp and --delta-chunk are of steps over whole sequences",
                {}, "leave one of them out");
}

}  // namespace

void add_step_options(OptionSet& app, ModelOptions& o) {
  app.add_option("model", o.model, "Shipped id, alias, or path of a config.json");
  add_deployment_options(app, o.configuration);
  app.add_option("--device", o.device, "Known device, or a device file");
  app.add_option("--fabric", o.fabric,
                 "With --device: what joins them (fabric show); without it their own link");
  app.add_option("--devices", o.devices, "How many there are: must be dp x tp x pp x cp");
  app.add_option(
      "--cp", o.cp,
      "Context parallel: ranks that the tokens of every sequence are split over; prefill "
      "and training");
  app.add_option("--delta-chunk", o.question.form.delta_chunk,
                 "Gated delta rule in chunks of so many tokens: what a rank executes; 0 = token by "
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
  app.add_flag("--list", o.list, "List the shipped models");
  app.add_option("--peak", o.question.peak, "Denominator: datasheet or measured")
      ->check(one_of({"datasheet", "measured"}));
  app.add_option("--measured-ms", o.question.measured_ms, "Measured step time, for MFU");
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
  return explain;
}

PricedStep priced_step(const ModelOptions& options) {
  check(options);
  check_question(options.question);
  ModelSpec spec = load_model(options.model, config_dirs("models"));
  spec.fuses_qkv = options.fused_qkv;
  std::optional<Device> device;
  if (!options.device.empty()) device = known_device(options.device);
  Configuration configuration =
      deployment_from(options.configuration, spec, !device || computes_bf16(*device));
  configuration.parallel.cp = options.cp;
  if (options.training.micro_batch) {
    if (*options.training.micro_batch < 1) throw refused("--micro-batch must be at least 1");
    configuration.workload.micro_batch = *options.training.micro_batch;
  }
  check_form(options);
  check_devices(options, configuration);
  check_peak(options.question, device);
  StepQuestion question = options.question;
  if (configuration.workload.phase == Phase::training) {
    question.training = training_plan(options.training, configuration.precision);
  } else if (options.training.has_any()) {
    throw refused("options of a training step with phase " +
                      std::string(phase_name(configuration.workload.phase)),
                  {}, "add --phase training, or leave them out");
  }
  PricedStep out = price_step(spec, configuration, device, question);
  tune::price_over_fabric(out, options.fabric, config_dirs("fabrics"));
  return out;
}

}  // namespace halmark::cli
