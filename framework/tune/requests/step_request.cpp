#include "tune/requests/step_request.hpp"

#include "core/text/error.hpp"
#include "model/step/question_checks.hpp"
#include "model/step/step_room.hpp"
#include "model/weights/stored_formats.hpp"
#include "model/weights/weights_header.hpp"
#include "plan/device/device_file.hpp"
#include "tune/evaluate/step/step_over_fabric.hpp"
#include "tune/shards/shard_planning.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {
namespace {

void take_devices(const StepRequest& request, const ModelSpec& spec,
                  const std::optional<Device>& device, const StepFolders& folders,
                  Configuration& configuration) {
  if (!request.devices || *request.devices == configuration.devices()) return;
  const bool is_multiple = *request.devices > 0 && *request.devices % configuration.devices() == 0;
  if (request.takes_fastest_layout && device && is_multiple) {
    configuration.parallel = fastest_layout(
        spec, configuration, *device,
        {.fabric = request.fabric,
         .shards = *request.devices,
         .latency = sources_or_default(request.latency, request.configuration.phase == "training"),
         .devices = folders.devices,
         .engine = parse_engine(request.engine)},
        folders.fabrics);
    return;
  }
  throw refused("device_count_mismatch: --devices is " + std::to_string(*request.devices) +
                    ", and " + configuration.parallel.text() + " takes " +
                    std::to_string(configuration.devices()),
                {}, "state how the devices are used: --dp, --tp, --pp, --cp");
}

// A form other than the usual one belongs to steps over whole sequences, drafts to decode.
void check_form(const StepRequest& request) {
  if (request.question.drafted == 0) return;
  if (request.configuration.phase == "training") {
    if (!request.question.acceptance) return;
    throw refused("--acceptance with --phase training: drafts are accepted in decode", {},
                  "leave it out");
  }
  if (request.cp == 1 && request.question.form.delta_chunk == 0) return;
  throw refused("--mtp drafts in decode, --cp and --delta-chunk are of steps over whole sequences",
                {}, "leave one of them out");
}

// Nothing is left of the context that was stated where the longest is wanted.
void take_longest_context(const std::optional<Device>& device, const ModelSpec& spec,
                          Configuration& configuration, StepQuestion& question) {
  if (!question.wants_longest_context) return;
  if (configuration.workload.phase != Phase::decode || !device) {
    throw refused("--max-context is of decode on a device", {}, "--phase decode and --device");
  }
  question.longest_context = longest_context(spec, configuration, *device);
  if (!question.longest_context) {
    throw refused(device->id + " states no memory, and " + spec.id + " no longest context",
                  "--max-context", "name another device");
  }
  if (question.longest_context->tokens > 0) {
    configuration.workload.context = question.longest_context->tokens;
  }
}

std::optional<WeightsHeader> named_weights(const StepRequest& request) {
  const bool is_named = names_weights(request.model);
  if (is_named && !request.weights.empty()) {
    throw refused("weights are named twice", printable(request.model) + " and --weights",
                  "name one of them");
  }
  if (!request.weights.empty()) return read_weights(request.weights);
  if (is_named) return read_weights(request.model);
  return std::nullopt;
}

}  // namespace

PricedStep priced_step(const StepRequest& request, const StepFolders& folders) {
  if (request.model.empty() && request.weights.empty()) {
    throw refused("no model is named", {}, "name an id or a config.json; --list shows the ids");
  }
  check_question(request.question);
  const std::optional<WeightsHeader> header = named_weights(request);
  ModelSpec spec =
      request.model.empty() ? load_weights(*header) : load_model(request.model, folders.models);
  const bool is_named = header && !request.model.empty() && !names_weights(request.model);
  if (is_named && header->is_gguf && !spec.stored_layers) take_formats(*header, spec);
  spec.fuses_qkv = request.fused_qkv;
  std::optional<Device> device;
  if (!request.device.empty()) device = known_device(request.device, folders.devices);
  const NamedEngine engine = parse_engine(request.engine);
  Configuration configuration =
      deployment_from(request.configuration, spec,
                      device ? served_facts(spec, *device, engine) : precision_facts(spec, true));
  configuration.parallel.cp = request.cp;
  if (request.training.micro_batch) {
    if (*request.training.micro_batch < 1) throw refused("--micro-batch must be at least 1");
    configuration.workload.micro_batch = *request.training.micro_batch;
  }
  check_form(request);
  take_devices(request, spec, device, folders, configuration);
  check_peak(request.question, device);
  StepQuestion question = request.question;
  question.engine = engine;
  take_longest_context(device, spec, configuration, question);
  if (configuration.workload.phase == Phase::training) {
    question.training = training_plan(request.training, configuration.precision);
  } else if (request.training.has_any()) {
    throw refused("options of a training step with phase " +
                      std::string(phase_name(configuration.workload.phase)),
                  {}, "add --phase training, or leave them out");
  }
  PricedStep out = price_step(spec, configuration, device, question);
  if (header) out.weights = report_of(*header, spec);
  price_over_fabric(out, request.fabric, folders.fabrics);
  return out;
}

}  // namespace halmark::tune
