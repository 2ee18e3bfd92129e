// halmark plan-size: devices, energy, cost and carbon of a training run or a served load, on paper.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "model/sizing/job_size.hpp"
#include "model/spec/coverage.hpp"
#include "plan/served_sweep.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sizing/device_floor_view.hpp"

namespace halmark::cli {
namespace {

constexpr double seconds_per_day = 86400;

struct Options {
  std::string model, device, dtype = "checkpoint";
  Job job;
  bool requires_device = false;
  tune::FloorQuestion floor;
  std::vector<std::string> slo;
};

void require_positive(std::string_view option, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return;
  throw refused(fmt::format("{} is {}: a positive number is expected", option, *value));
}

void check(const Options& options) {
  const Job& o = options.job;
  if (options.model.empty()) throw refused("no model is named", {}, "name an id or a config.json");
  if (options.device.empty()) {
    throw refused("no device is named", {}, "--device ID; halmark devices --known lists them");
  }
  if (o.tokens.has_value() == o.requests_per_s.has_value()) {
    throw refused("name one job", {},
                  "--tokens for a training run, or --requests-per-s for a served load");
  }
  if (o.requests_per_s && (o.input_tokens <= 0 || o.output_tokens <= 0)) {
    throw refused("a served load needs the length of its requests", {},
                  "--input-tokens N --output-tokens N, both at least 1");
  }
  if (o.tokens && o.days.has_value() == (o.devices != 0)) {
    throw refused("a training run needs either a time or a number of devices", {},
                  "--days D, or --devices N");
  }
  if (o.requests_per_s && o.devices != 0) {
    throw refused("--devices is asked of a served load, whose answer it is", {},
                  "leave it out; --devices goes with --tokens");
  }
  if (o.devices < 0 || o.sequence < 1) {
    throw refused(o.devices < 0 ? fmt::format("--devices is {}: at least 1", o.devices)
                                : fmt::format("--sequence is {}: at least 1", o.sequence));
  }
  require_positive("--tokens", o.tokens);
  require_positive("--requests-per-s", o.requests_per_s);
  require_positive("--days", o.days);
  require_positive("--power-w", o.power_w);
  require_positive("--price-per-device-hour", o.price_per_device_hour);
  require_positive("--carbon-g-per-kwh", o.carbon_g_per_kwh);
  for (const auto& [name, value] :
       {std::pair{"--mfu", o.mfu}, std::pair{"--decode-mfu", o.decode_mfu}}) {
    require_positive(name, value);
    if (value && *value > 1) throw refused(fmt::format("{} is {}: at most 1", name, *value));
  }
  if (!std::isfinite(o.pue) || o.pue < 1) {
    throw refused(fmt::format("--pue is {}: facility power is at least device power, 1", o.pue));
  }
}

Json plan_json(const SizedJob& sized) {
  const SizePlan& plan = sized.plan;
  return {{"devices", plan.devices},
          {"exact_devices", plan.exact_devices},
          {"seconds", plan.seconds},
          {"device_hours", plan.device_hours},
          {"energy_kwh", optional_number(plan.energy_kwh)},
          {"cost", optional_number(plan.cost)},
          {"carbon_kg", optional_number(plan.carbon_kg)},
          {"devices_for_memory", sized.devices_for_memory}};
}

// The job with the FLOPs that it takes.
report::View job_view(const std::string& model, const Job& job, const SizedJob& sized) {
  if (job.tokens) {
    return {
        .data = {{"kind", "training"},
                 {"tokens", *job.tokens},
                 {"sequence", job.sequence},
                 {"flops_per_token", sized.flops_per_token},
                 {"flops", sized.flops}},
        .text = fmt::format("training {} on {:.4g} tokens in sequences of {}: {:.4g} FLOPs "
                            "({:.4g} a token, causal, 3 x forward)",
                            model, *job.tokens, job.sequence, sized.flops, sized.flops_per_token)};
  }
  return {.data = {{"kind", "serving"},
                   {"requests_per_s", *job.requests_per_s},
                   {"input_tokens", job.input_tokens},
                   {"output_tokens", job.output_tokens},
                   {"prefill_flops", sized.request.prefill},
                   {"decode_flops", sized.request.decode},
                   {"flops_per_s", sized.flops_per_s}},
          .text = fmt::format("serving {} requests/s of {} + {} tokens with {}: {:.4g} FLOP/s "
                              "(prefill {:.4g}, decode {:.4g} FLOPs a request)",
                              *job.requests_per_s, job.input_tokens, job.output_tokens, model,
                              sized.flops_per_s, sized.request.prefill, sized.request.decode)};
}

report::View assumptions_view(const std::vector<Assumption>& assumptions) {
  Json list = Json::array();
  TextTable table({"assumption", "value", "unit", "from"}, {false, true, false, false});
  for (const Assumption& a : assumptions) {
    list.push_back({{"name", a.name},
                    {"value", optional_number(a.value)},
                    {"unit", a.unit},
                    {"source", a.source}});
    table.add({a.name, a.value ? fmt::format("{:.6g}", *a.value) : "-", a.unit, a.source});
  }
  return {.data = std::move(list), .text = table.text()};
}

CommandResult require(const Options& o) {
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

CommandResult execute(const Options& o) {
  if (o.requires_device) return require(o);
  check(o);
  const ModelSpec spec = load_model(o.model, config_dirs("models"));
  const Device device = known_device(o.device);
  const Precision precision =
      precision_of(o.dtype, tune::precision_facts(spec, computes_bf16(device)));
  const SizedJob sized = size_job(spec, precision, device, o.job);
  const report::View job = job_view(spec.id, o.job, sized);
  const report::View assumptions = assumptions_view(sized.assumptions);
  const std::vector<std::string> notes = model_notes(spec);
  std::string note_lines;
  for (const std::string& line : model_lines(spec)) note_lines += line + '\n';
  const SizePlan& plan = sized.plan;
  const auto figure = [](std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:.6g} {}", *value, unit) : std::string("unknown");
  };
  return {.data = {{"model", spec.id},
                   {"device", device.id},
                   {"job", job.data},
                   {"plan", plan_json(sized)},
                   {"assumptions", assumptions.data},
                   {"model_notes", notes}},
          .text = fmt::format(
              "{}\n{} x {} for {:.4g} days: {:.6g} device-hours (by FLOPs {:.4g}, by memory {})\n"
              "energy {}, cost {}, carbon {}\n\n{}{}",
              job.text, plan.devices, device.id, plan.seconds / seconds_per_day, plan.device_hours,
              plan.exact_devices, sized.devices_for_memory, figure(plan.energy_kwh, "kWh"),
              figure(plan.cost, "money"), figure(plan.carbon_kg, "kg CO2e"), assumptions.text,
              note_lines)};
}

}  // namespace

Action add_plan_size(OptionSet& app) {
  auto o = std::make_shared<Options>();
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
      .delimiter(',');
  app.add_option("--concurrency", o->floor.concurrency, "With --require: requests at a time (1)");
  app.add_option("--tp", o->floor.tp, "With --require: devices that serve them together (1)");
  return [o](const GlobalOptions&) { return execute(*o); };
}

}  // namespace halmark::cli
