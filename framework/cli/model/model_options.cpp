// halmark model: options, and the step that they describe.
#include <algorithm>
#include <cmath>

#include "cli/model/model_page.hpp"
#include "core/dtype.hpp"
#include "model/utilisation/convention_graph.hpp"

namespace halmark::cli {
namespace {

template <typename Value, typename Parse>
Value parsed(std::string_view option, const std::string& text, const Parse& parse,
             const std::vector<std::string>& known) {
  const auto value = parse(text);
  if (value) return *value;
  throw refused("unknown value '" + printable(text) + "' of " + std::string(option), {},
                suggestion(text, known));
}

bool is_any_set(const TrainingOptions& o) {
  return o.recompute || o.optimizer || o.gradients || o.zero || o.lora_rank || o.micro_batch ||
         o.sequence_parallel;
}

TrainingPlan plan_of(const TrainingOptions& o, const Precision& precision) {
  TrainingPlan plan;
  plan.gradient = precision.activation;
  if (o.recompute) {
    plan.recompute = parsed<Recompute>("--recompute", *o.recompute, parse_recompute,
                                       {"none", "selective", "full"});
  }
  if (o.optimizer) {
    plan.optimizer = parsed<Optimizer>("--optimizer", *o.optimizer, parse_optimizer,
                                       {"none", "sgd", "momentum", "adam", "adam8bit"});
  }
  if (o.gradients) {
    plan.gradient = parsed<Dtype>("--gradients", *o.gradients, parse_dtype, {"bf16", "f16", "f32"});
  }
  plan.zero = o.zero.value_or(0);
  plan.lora_rank = o.lora_rank.value_or(0);
  if (o.lora_rank && *o.lora_rank < 1) throw refused("--lora-rank must be at least 1");
  plan.sequence_parallel = o.sequence_parallel;
  return plan;
}

// Windows, or keys that attention selects itself: the mask is more than causal.
bool has_own_mask(const OperatorGraph& graph) {
  const FlopShape shape = flop_shape(graph);
  return shape.own_attention_flops > 0 ||
         std::ranges::any_of(shape.attention, [](const auto& layers) { return layers.window > 0; });
}

// A named preset speaks of training; a served step is one forward pass that needs the last logits.
Convention convention_of(const ModelOptions& options, const ModelPage& page) {
  const bool is_training = page.is_training();
  Convention out = model_convention(is_training, has_own_mask(page.graph));
  if (!options.convention.empty() && options.convention != out.name) {
    out = convention_named(options.convention);
    if (!is_training) {
      out.forward_backward = PassRule::forward;
      if (out.lm_head == HeadRule::all_positions) out.lm_head = HeadRule::last_position;
    }
  }
  // Every verified position needs its logits.
  if (page.graph.drafted > 0 && out.lm_head == HeadRule::last_position) {
    out.lm_head = HeadRule::all_positions;
  }
  if (is_training && page.training->lora_rank > 0) out.forward_backward = PassRule::lora;
  for (const std::string& assignment : options.switches) set_switch(out, assignment);
  return out;
}

void price_training(const ModelOptions& options, ModelPage& page) {
  if (page.graph.configuration.workload.phase != Phase::training) {
    if (!is_any_set(options.training)) return;
    throw refused("options of a training step with phase " +
                      std::string(phase_name(page.graph.configuration.workload.phase)),
                  {}, "add --phase training, or leave them out");
  }
  page.training = plan_of(options.training, page.graph.configuration.precision);
  if (const auto refusal = check_training(page.graph, *page.training)) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  page.cost = training_cost(page.graph, *page.training);
  page.training_stages = training_memory(page.graph, *page.training);
}

void check(const ModelOptions& options) {
  if (options.model.empty()) {
    throw refused("no model is named", {}, "name an id or a config.json; --list shows the ids");
  }
  const auto ms = options.measured_ms;
  if (ms && !(std::isfinite(*ms) && *ms > 0)) {
    throw refused("--measured-ms must be a positive number");
  }
}

void check_speculation(const ModelOptions& options) {
  if (options.drafted < 0) throw refused("--mtp must be 0 or more");
  if (!options.acceptance) return;
  const double a = *options.acceptance;
  if (!(a >= 0 && a <= 1)) throw refused("--acceptance must lie in 0..1");
  if (options.drafted == 0) throw refused("--acceptance without drafted tokens", {}, "add --mtp N");
}

void check_devices(const ModelOptions& options, const OperatorGraph& graph) {
  if (!options.devices || *options.devices == graph.configuration.devices()) return;
  throw refused("device_count_mismatch: --devices is " + std::to_string(*options.devices) +
                    ", and " + graph.configuration.parallel.text() + " takes " +
                    std::to_string(graph.configuration.devices()),
                {}, "state how the devices are used: --dp, --tp, --pp, --cp");
}

// A form other than the usual one belongs to steps over whole sequences, drafts to decode.
Result<OperatorGraph, Refusal> built(const ModelOptions& options, const ModelSpec& spec,
                                     const Configuration& configuration) {
  const StepForm& form = options.form;
  const bool is_usual = configuration.parallel.cp == 1 && form.delta_chunk == 0;
  if (options.drafted == 0) return build_graph(spec, configuration, form);
  if (is_usual) return build_graph(spec, configuration, Speculation{options.drafted});
  throw refused("--mtp drafts in decode, --cp and --delta-chunk are of steps over whole sequences",
                {}, "leave one of them out");
}

void check_peak(const ModelOptions& options, const std::optional<Device>& device) {
  if (options.peak != "measured") return;
  if (device && device->is_measured) return;
  throw refused(device ? "the peaks of '" + device->id + "' are not measured"
                       : std::string("no device whose peaks could have been measured is named"),
                {}, "--device FILE names what halmark peaks wrote; or leave --peak measured out");
}

}  // namespace

std::int64_t ModelPage::memory_bytes() const {
  return is_training() ? largest(training_stages).total() : memory.largest.total();
}

void add_model_options(OptionSet& app, ModelOptions& o) {
  app.add_option("model", o.model, "Shipped id, alias, or path of a config.json");
  app.add_flag("--list", o.list, "List the shipped models");
  add_deployment_options(app, o.configuration);
  app.add_option("--device", o.device, "Known device, or a device file");
  app.add_option("--peak", o.peak, "Denominator: datasheet or measured")
      ->check(one_of({"datasheet", "measured"}));
  app.add_option("--measured-ms", o.measured_ms, "Measured step time, for MFU");
  app.add_option("--devices", o.devices, "How many there are: must be dp x tp x pp x cp");
  app.add_option(
      "--cp", o.cp,
      "Context parallel: ranks that the tokens of every sequence are split over; prefill "
      "and training");
  app.add_option("--delta-chunk", o.form.delta_chunk,
                 "Gated delta rule in chunks of so many tokens: what a rank executes; 0 = token by "
                 "token");
  app.add_option("--convention", o.convention,
                 "How the stated MFU counts: palm, megatron, llm-foundry, nemo-24, "
                 "megatron-bridge, chinchilla, executed, ...");
  app.add_option("--set", o.switches, "One switch of the convention: attention=full")
      ->allow_extra_args(false);
  app.add_option("--explain", o.explain, "The formula of one operator with its numbers");
  app.add_option("--mtp", o.drafted,
                 "Decode: tokens that the model's own prediction modules draft for each step");
  app.add_option("--acceptance", o.acceptance,
                 "With --mtp: probability that a drafted token is accepted, 0 to 1");
  add_kernel_options(app, o.kernels);
  app.add_option("--micro-batch", o.training.micro_batch, "Training: sequences at a time");
  app.add_option("--recompute", o.training.recompute, "Training: none, selective or full");
  app.add_option("--zero", o.training.zero, "Training: ZeRO stage 0 to 3");
  app.add_option("--optimizer", o.training.optimizer,
                 "Training: none, sgd, momentum, adam or adam8bit");
  app.add_option("--gradients", o.training.gradients, "Training: dtype of the gradients");
  app.add_option("--lora-rank", o.training.lora_rank, "Training: low-rank adapters alone");
  app.add_flag("--sequence-parallel", o.training.sequence_parallel,
               "Training: norms and residuals split over tp");
}

ModelPage price_model(const ModelOptions& options) {
  check(options);
  check_speculation(options);
  const ModelSpec spec = load_model(options.model, config_dirs("models"));
  std::optional<Device> device;
  if (!options.device.empty()) device = known_device(options.device);
  Configuration configuration =
      deployment_from(options.configuration, spec, !device || computes_bf16(*device));
  configuration.parallel.cp = options.cp;
  if (options.training.micro_batch) {
    if (*options.training.micro_batch < 1) throw refused("--micro-batch must be at least 1");
    configuration.workload.micro_batch = *options.training.micro_batch;
  }
  auto graph = built(options, spec, configuration);
  if (const auto* refusal = graph.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  ModelPage page{.options = options, .graph = *std::move(graph)};
  check_devices(options, page.graph);
  page.memory = memory_use(page.graph);
  page.device = std::move(device);
  check_peak(options, page.device);
  price_training(options, page);
  page.convention = convention_of(options, page);
  return page;
}

}  // namespace halmark::cli
