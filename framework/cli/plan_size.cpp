// halmark plan-size: devices, energy, cost and carbon of a training run or a served load, on paper.
#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "model/sizing/job_size.hpp"
#include "pages/sizing/job_page.hpp"
#include "plan/served_sweep.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sizing/device_floor_view.hpp"

namespace halmark::cli {
namespace {

struct PlanSizeOptions {
  std::string model, device, dtype = "checkpoint";
  Job job;
  bool requires_device = false;
  tune::FloorQuestion floor;
  std::vector<std::string> slo;
};

void check(const PlanSizeOptions& options) {
  if (options.model.empty()) throw refused("no model is named", {}, "name an id or a config.json");
  if (options.device.empty()) {
    throw refused("no device is named", {}, "--device ID; halmark devices --known lists them");
  }
  require_answerable(options.job);
}

CommandResult require(const PlanSizeOptions& o) {
  const ModelSpec spec = load_model(o.model, config_dirs("models"));
  std::optional<Device> device;
  if (!o.device.empty()) device = known_device(o.device);
  tune::FloorQuestion question = o.floor;
  question.request = {.input_tokens = o.job.input_tokens, .output_tokens = o.job.output_tokens};
  question.levels = parse_service_levels(o.slo, "--slo");
  const Precision precision =
      precision_of(o.dtype, tune::precision_facts(spec, !device || computes_bf16(*device)));
  return shown(device_floor_view(tune::device_floor(spec, precision, question), device));
}

CommandResult execute(const PlanSizeOptions& o) {
  if (o.requires_device) return require(o);
  check(o);
  const ModelSpec spec = load_model(o.model, config_dirs("models"));
  const Device device = known_device(o.device);
  const Precision precision =
      precision_of(o.dtype, tune::precision_facts(spec, computes_bf16(device)));
  const SizedJob sized = size_job(spec, precision, device, o.job);
  return shown(pages::job_page(spec, device, o.job, sized));
}

}  // namespace

Action add_plan_size(OptionSet& app) {
  auto o = std::make_shared<PlanSizeOptions>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json");
  app.add_option("--device", o->device, "Known device (halmark devices --known)");
  app.add_option("--dtype", o->dtype, precision_help());
  app.add_option("--tokens", o->job.tokens, "A training run: tokens in all");
  app.add_option("--sequence", o->job.sequence, "Tokens of a training sequence (4096)");
  app.add_option("--days", o->job.days, "Time for the run; for a load: what the sums cover (1)");
  app.add_option("--devices", o->job.devices, "Devices of the run, instead of --days");
  app.add_option("--requests-per-s", o->job.requests_per_s, "A served load: requests a second");
  app.add_option("--input-tokens", o->job.input_tokens, "Prompt of a request");
  app.add_option("--output-tokens", o->job.output_tokens, "Answer of a request");
  app.add_option("--mfu", o->job.mfu, "Fraction of the peak, training or prefill (assumed 0.4)");
  app.add_option("--decode-mfu", o->job.decode_mfu, "Fraction of the peak, decode (assumed 0.05)");
  app.add_option("--power-w", o->job.power_w, "Of one busy device (that of the device file)");
  app.add_option("--pue", o->job.pue, "Facility power over device power (1)");
  app.add_option("--price-per-device-hour", o->job.price_per_device_hour, "In your currency");
  app.add_option("--carbon-g-per-kwh", o->job.carbon_g_per_kwh, "Of your grid");
  app.add_flag("--require", o->requires_device,
               "The least device that keeps --slo for a load, and which of its rates binds");
  app.add_option("--slo", o->slo, "With --require: ttft_ms=500,tpot_ms=30, keys of a sweep's [slo]")
      .delimiter(',')
      .with("--require");
  app.add_option("--concurrency", o->floor.concurrency, "With --require: requests at a time (1)")
      .with("--require");
  app.add_option("--tp", o->floor.tp, "With --require: devices that serve them together (1)")
      .with("--require");
  return [o](const GlobalOptions&) { return execute(*o); };
}

}  // namespace halmark::cli
