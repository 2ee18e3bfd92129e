// halmark plan-size: devices, energy, cost and carbon of a training run or a served load, on paper.
#include <fmt/format.h>

#include <cmath>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "cli/console/terminal.hpp"
#include "model/pricing/memory.hpp"
#include "model/pricing/plan_size.hpp"
#include "model/training/training.hpp"
#include "roofline/peaks.hpp"

namespace halmark::cli {
namespace {

constexpr double seconds_per_day = 86400;

struct Options {
  std::string model, device, dtype = "bf16";
  std::optional<double> tokens, requests_per_s, days, mfu, decode_mfu, power_w, price, carbon;
  double pue = 1;
  std::int64_t sequence = 4096, input_tokens = 0, output_tokens = 0, devices = 0;
};

// What the answer rests on: value, unit, and where it comes from.
struct Assumption {
  std::string name;
  Json value;
  std::string unit, source;
};

struct Job {
  ModelSpec spec;
  Device device;
  Precision precision;
  SizeAssumptions assumptions;
  std::vector<Assumption> stated;
};

void require_positive(std::string_view option, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0)) return;
  throw refused(fmt::format("{} is {}: a positive number is expected", option, *value));
}

void check(const Options& o) {
  if (o.model.empty()) throw refused("no model is named", {}, "name an id or a config.json");
  if (o.device.empty()) {
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
  require_positive("--price-per-device-hour", o.price);
  require_positive("--carbon-g-per-kwh", o.carbon);
  for (const auto& [name, value] :
       {std::pair{"--mfu", o.mfu}, std::pair{"--decode-mfu", o.decode_mfu}}) {
    require_positive(name, value);
    if (value && *value > 1) throw refused(fmt::format("{} is {}: at most 1", name, *value));
  }
  if (!std::isfinite(o.pue) || o.pue < 1) {
    throw refused(fmt::format("--pue is {}: facility power is at least device power, 1", o.pue));
  }
}

// A figure that the user gave, or one of ours that says so.
double chosen(Job& job, const std::string& name, std::optional<double> given, double fallback,
              const std::string& reason) {
  const double value = given.value_or(fallback);
  job.stated.push_back({name, value, "1", given ? "given" : reason});
  return value;
}

Job job_of(const Options& o) {
  ModelSpec spec = load_model(o.model, config_dirs("models"));
  Device device = known_device(o.device);
  const Precision precision = precision_of(o.dtype, precision_facts(spec, computes_bf16(device)));
  // That of the linears which a token spends most of its products in.
  const Dtype computed = spec.moe ? precision.experts : precision.ffn;
  Job job{.spec = std::move(spec), .device = std::move(device), .precision = precision};
  const auto peak = shard_peak(job.device, computed, {});
  if (!peak) {
    throw refused(fmt::format("no peak for {} on {}", dtype_name(computed), job.device.id));
  }
  job.assumptions.peak_flops_per_s = *peak;
  job.assumptions.pue = o.pue;
  job.assumptions.power_w = o.power_w ? o.power_w : job.device.power_w;
  job.assumptions.price_per_device_hour = o.price;
  job.assumptions.carbon_g_per_kwh = o.carbon;
  job.stated.push_back({"peak_flops_per_s", *peak, "FLOP/s",
                        fmt::format("{} of {}", dtype_name(computed), job.device.id)});
  return job;
}

void state_costs(Job& job, const Options& o) {
  const SizeAssumptions& a = job.assumptions;
  const auto state = [&](std::string name, std::optional<double> value, std::string unit,
                         std::string source) {
    job.stated.push_back({std::move(name), optional_number(value), std::move(unit),
                          value ? std::move(source) : "not given"});
  };
  state("power_w", a.power_w, "W per device", o.power_w ? "given" : "power of " + job.device.id);
  state("pue", o.pue, "1", o.pue == 1 ? "assumed: devices alone" : "given");
  state("price_per_device_hour", o.price, "money per device and hour", "given");
  state("carbon_g_per_kwh", o.carbon, "g/kWh", "given");
}

// Devices whose memory holds `bytes`; 1 where the device does not state its memory.
std::int64_t devices_for(double bytes, const Device& device) {
  if (device.memory_bytes <= 0) return 1;
  return static_cast<std::int64_t>(std::ceil(bytes / static_cast<double>(device.memory_bytes)));
}

double held_bytes(const Job& job, const Workload& workload) {
  auto built = build_graph(job.spec, {job.spec.id, {}, job.precision, workload});
  if (const auto* refusal = built.why()) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  const auto& graph = *built;
  if (workload.phase != Phase::training) {
    return static_cast<double>(memory_use(graph).largest.total());
  }
  if (const auto refusal = check_training(graph, {})) {
    throw refused(refusal->reason + ": " + refusal->text);
  }
  const auto stages = training_memory(graph, {});
  const TrainingMemory& rank = largest(stages);
  return static_cast<double>(rank.weight_bytes + rank.gradient_bytes + rank.optimizer_bytes);
}

Json plan_json(const SizePlan& plan) {
  return {{"devices", plan.devices},
          {"exact_devices", plan.exact_devices},
          {"seconds", plan.seconds},
          {"device_hours", plan.device_hours},
          {"energy_kwh", optional_number(plan.energy_kwh)},
          {"cost", optional_number(plan.cost)},
          {"carbon_kg", optional_number(plan.carbon_kg)}};
}

CommandResult answer(const Job& job, Json of_job, const SizePlan& plan, const std::string& what,
                     std::int64_t devices_min) {
  Json assumptions = Json::array();
  TextTable table({"assumption", "value", "unit", "from"}, {false, true, false, false});
  for (const Assumption& a : job.stated) {
    assumptions.push_back(
        {{"name", a.name}, {"value", a.value}, {"unit", a.unit}, {"source", a.source}});
    table.add({a.name, a.value.is_null() ? "-" : fmt::format("{:.6g}", a.value.get<double>()),
               a.unit, a.source});
  }
  const auto figure = [](std::optional<double> value, std::string_view unit) {
    return value ? fmt::format("{:.6g} {}", *value, unit) : std::string("unknown");
  };
  Json result = plan_json(plan);
  result["devices_for_memory"] = devices_min;
  CommandResult out;
  out.data = {{"model", job.spec.id},
              {"device", job.device.id},
              {"job", std::move(of_job)},
              {"plan", result},
              {"assumptions", assumptions}};
  out.text = fmt::format(
      "{}\n{} x {} for {:.4g} days: {:.6g} device-hours (by FLOPs {:.4g}, by memory {})\n"
      "energy {}, cost {}, carbon {}\n\n{}",
      what, plan.devices, job.device.id, plan.seconds / seconds_per_day, plan.device_hours,
      plan.exact_devices, devices_min, figure(plan.energy_kwh, "kWh"), figure(plan.cost, "money"),
      figure(plan.carbon_kg, "kg CO2e"), table.text());
  return out;
}

CommandResult training_answer(Job job, const Options& o) {
  job.assumptions.mfu = chosen(job, "mfu", o.mfu, 0.4, "assumed: a well-tuned dense run");
  state_costs(job, o);
  const double of_token = training_flops_per_token(job.spec, job.precision, o.sequence);
  const double flops = of_token * *o.tokens;
  const std::int64_t devices_min =
      devices_for(held_bytes(job, {Phase::training, 1, o.sequence, o.sequence}), job.device);
  if (o.devices > 0 && o.devices < devices_min) {
    throw refused(
        fmt::format("out_of_memory: weights, gradients and optimizer states fill {} x {} "
                    "and --devices is {}",
                    devices_min, job.device.id, o.devices));
  }
  const SizePlan plan =
      o.devices > 0 ? size_for_devices(flops, o.devices, job.assumptions)
                    : size_for_time(flops, *o.days * seconds_per_day, devices_min, job.assumptions);
  return answer(job,
                {{"kind", "training"},
                 {"tokens", *o.tokens},
                 {"sequence", o.sequence},
                 {"flops_per_token", of_token},
                 {"flops", flops}},
                plan,
                fmt::format("training {} on {:.4g} tokens in sequences of {}: {:.4g} FLOPs "
                            "({:.4g} a token, causal, 3 x forward)",
                            job.spec.id, *o.tokens, o.sequence, flops, of_token),
                devices_min);
}

CommandResult serving_answer(Job job, const Options& o) {
  const double prefill_mfu = chosen(job, "mfu", o.mfu, 0.4, "assumed for prefill");
  const double decode_mfu =
      chosen(job, "decode_mfu", o.decode_mfu, 0.05, "assumed: decode is bound by memory");
  state_costs(job, o);
  const RequestFlops f = request_flops(job.spec, job.precision, o.input_tokens, o.output_tokens);
  // The FLOPs at which both phases together take their own times: one MFU for the sum.
  const double at_peak = f.prefill / prefill_mfu + f.decode / decode_mfu;
  job.assumptions.mfu = (f.prefill + f.decode) / at_peak;
  const double flops_per_s = *o.requests_per_s * (f.prefill + f.decode);
  const std::int64_t context = o.input_tokens + o.output_tokens;
  const std::int64_t devices_min =
      devices_for(held_bytes(job, {Phase::decode, 1, 1, context}), job.device);
  const double seconds = o.days.value_or(1) * seconds_per_day;
  return answer(job,
                {{"kind", "serving"},
                 {"requests_per_s", *o.requests_per_s},
                 {"input_tokens", o.input_tokens},
                 {"output_tokens", o.output_tokens},
                 {"prefill_flops", f.prefill},
                 {"decode_flops", f.decode},
                 {"flops_per_s", flops_per_s}},
                size_for_load(flops_per_s, seconds, devices_min, job.assumptions),
                fmt::format("serving {} requests/s of {} + {} tokens with {}: {:.4g} FLOP/s "
                            "(prefill {:.4g}, decode {:.4g} FLOPs a request)",
                            *o.requests_per_s, o.input_tokens, o.output_tokens, job.spec.id,
                            flops_per_s, f.prefill, f.decode),
                devices_min);
}

CommandResult execute(const Options& o) {
  check(o);
  Job job = job_of(o);
  return o.tokens ? training_answer(std::move(job), o) : serving_answer(std::move(job), o);
}

}  // namespace

Action add_plan_size(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("model", o->model, "Shipped id, alias, or path of a config.json");
  app.add_option("--device", o->device, "Known device (halmark devices --known)");
  app.add_option("--dtype", o->dtype, precision_help());
  app.add_option("--tokens", o->tokens, "A training run: tokens in all");
  app.add_option("--sequence", o->sequence, "Tokens of a training sequence (4096)");
  app.add_option("--days", o->days, "Time for the run; for a load: what the sums cover (1)");
  app.add_option("--devices", o->devices, "Devices of the run, instead of --days");
  app.add_option("--requests-per-s", o->requests_per_s, "A served load: requests a second");
  app.add_option("--input-tokens", o->input_tokens, "Prompt of a request");
  app.add_option("--output-tokens", o->output_tokens, "Answer of a request");
  app.add_option("--mfu", o->mfu, "Fraction of the peak, training or prefill (assumed 0.4)");
  app.add_option("--decode-mfu", o->decode_mfu, "Fraction of the peak, decode (assumed 0.05)");
  app.add_option("--power-w", o->power_w, "Of one busy device (that of the device file)");
  app.add_option("--pue", o->pue, "Facility power over device power (1)");
  app.add_option("--price-per-device-hour", o->price, "In your currency");
  app.add_option("--carbon-g-per-kwh", o->carbon, "Of your grid");
  return [o](const GlobalOptions&) { return execute(*o); };
}

}  // namespace halmark::cli
