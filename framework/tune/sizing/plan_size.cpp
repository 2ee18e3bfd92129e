#include "tune/sizing/plan_size.hpp"

#include <fmt/format.h>

#include <vector>

#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/sizing/job_size.hpp"
#include "plan/device/device_file.hpp"
#include "report/choice/pick.hpp"
#include "tune/plan/known_plan.hpp"
#include "tune/sizing/device_floor_view.hpp"
#include "tune/sizing/job_view.hpp"
#include "tune/sizing/unit_load.hpp"
#include "tune/sources/stated_price.hpp"

namespace halmark::tune {
namespace {

// Replicas for a served load: the number of devices of each that needs the fewest in all.

struct ReplicaChoice {
  UnitChoice unit;
  std::vector<std::int64_t> tp;      // that are tried; none: 1, 2, 4, 8, 16
  std::vector<ServiceLevel> levels;  // none: 20 tokens/s a user
};

std::string levels_text(const std::vector<ServiceLevel>& levels, bool is_assumed) {
  std::string out = join(levels, ", ", level_text);
  return out + (is_assumed ? " (assumed: no --slo)" : "");
}

struct Offer {
  std::int64_t tp = 0, devices = 0;
  UnitLoad load;
};

// Throws Error (exit 2) where no number of devices serves the requests within the levels.
Replica replica_for(const Job& job, const ModelSpec& spec, const Device& device,
                    const ReplicaChoice& choice, const Folders& devices) {
  const UnitPricing pricing(choice.unit, spec, device, devices);
  const Most most = job.users ? Most::users : Most::requests;
  const bool assumes = choice.levels.empty() && job.output_tokens > 1;
  std::vector<ServiceLevel> levels = choice.levels;
  if (assumes) levels.push_back({Objective::interactivity, user_tokens_per_s, {}});
  Offer expected, sure;
  std::string reason;
  std::vector<std::int64_t> sizes = choice.tp;
  if (sizes.empty()) sizes = {1, 2, 4, 8, 16};
  // Nothing is known of what several of an onboarded device without a link would send.
  if (choice.tp.empty() && !device.folder.empty() && device.links.empty()) sizes = {1};
  for (const std::int64_t tp : sizes) {
    // No level is stated of the wait for the first token, which has no end where it is saturated.
    UnitLoads loads = pricing.loads(
        {.input_tokens = job.input_tokens, .output_tokens = job.output_tokens}, tp, !assumes);
    const auto take = [&](Sureness sureness, Offer& best) {
      UnitLoad load = loads.most(levels, most, sureness);
      if (!load.serves()) return load.reason;
      const std::int64_t all = replicas_for(job, load.requests_per_s, load.concurrency) * tp;
      if (best.devices == 0 || all < best.devices) best = {tp, all, std::move(load)};
      return std::string();
    };
    if (std::string why = take(Sureness::expected, expected); !why.empty()) {
      reason = fmt::format("{} x {}: {}", tp, device.id, why);
    }
    take(Sureness::sure, sure);
  }
  if (expected.devices == 0) {
    throw refused(fmt::format("{} x {} cannot serve {} + {} tokens within {}",
                              sizes.size() == 1 ? std::to_string(sizes[0]) : "1 to 16", device.id,
                              job.input_tokens, job.output_tokens, levels_text(levels, assumes)),
                  {}, reason);
  }
  Replica out{.devices = expected.tp,
              .requests_per_s = expected.load.requests_per_s,
              .concurrency = expected.load.concurrency,
              .token_budget = expected.load.token_budget,
              .estimate = expected.load.estimate,
              .sure_devices = {},
              .levels = levels_text(levels, assumes),
              .basis = pricing.basis()};
  if (out.estimate.has_interval && sure.devices > 0) out.sure_devices = sure.devices;
  return out;
}

bool is_forecast(const Job& job) { return !job.tokens && !job.states_mfu(); }

// The least device is of requests at a time and levels; nothing else is read.
void check_floor(const PlanSizeQuestion& q) {
  if (q.tp.size() > 1) {
    throw refused("the least device is of one number of devices", "--tp", "name one");
  }
  const Job none, &job = q.job;
  for (const auto& [name, is_given] :
       {std::pair{"--requests-per-s", job.requests_per_s.has_value()},
        {"--tokens", job.tokens.has_value()},
        {"--sequence", job.sequence != none.sequence},
        {"--days", job.days.has_value()},
        {"--devices", job.devices != none.devices},
        {"--mfu", job.mfu.has_value()},
        {"--decode-mfu", job.decode_mfu.has_value()},
        {"--power-w", job.power_w.has_value()},
        {"--pue", job.pue != none.pue},
        {"--price", !q.price.empty()},
        {"--carbon-g-per-kwh", job.carbon_g_per_kwh.has_value()},
        {"--latency", !q.latency.empty()}}) {
    if (!is_given) continue;
    throw refused(std::string(name) + " says nothing of the least device", "--require",
                  "state its load by --users N, --input and --output, and levels by --slo");
  }
}

struct Given {
  const char* name;
  bool is_given;
  const char* reason;
};
constexpr const char* of_forecast =
    " is of a served load that is forecast; a training run and a stated MFU know no latency";
constexpr const char* of_training = " is of a training run, by --tokens";
constexpr const char* of_requests = " is of a served load, by --users or --requests-per-s";

void check(const PlanSizeQuestion& q) {
  if (q.model.empty()) throw refused("no model is named", {}, "name an id or a config.json");
  for (const std::int64_t tp : q.tp) {
    if (tp >= 1 && tp <= 1024) continue;
    throw refused(std::to_string(tp) + " devices are no unit", "--tp", "1 to 1024");
  }
  if (q.requires_device) return check_floor(q);
  if (q.device.empty()) {
    throw refused("no device is named", {}, "--device ID; halmark devices --known lists them");
  }
  require_answerable(q.job);
  const Job none = PlanSizeQuestion().job, &job = q.job;
  const bool is_forecast = tune::is_forecast(job);
  for (const auto& [name, is_given, reason] :
       {Given{"a level", !is_forecast && q.levels.any(), of_forecast},
        {"--tp", !is_forecast && !q.tp.empty(), of_forecast},
        {"--latency", !is_forecast && !q.latency.empty(), of_forecast},
        {"--sequence", !job.tokens && job.sequence != none.sequence, of_training},
        {"--input", job.tokens && job.input_tokens != none.input_tokens, of_requests},
        {"--output", job.tokens && job.output_tokens != none.output_tokens, of_requests},
        {"--decode-mfu", job.tokens && job.decode_mfu, of_requests}}) {
    if (is_given) throw refused(std::string(name) + reason, {}, "leave it out");
  }
}

report::View floor_view(const PlanSizeQuestion& q, const ModelSpec& spec,
                        const std::optional<Device>& device, const Precision& precision) {
  FloorQuestion floor{.concurrency = q.job.users.value_or(1)};
  if (!q.tp.empty()) floor.tp = q.tp.front();
  floor.request = {.input_tokens = q.job.input_tokens, .output_tokens = q.job.output_tokens};
  floor.levels = service_levels(q.levels);
  return device_floor_view(device_floor(spec, precision, floor), device);
}

// A number alone is of the one device that there is.
double price_of(const PlanSizeQuestion& q, const Device& device, const Folders& devices) {
  const bool is_named = q.price.find('=') != std::string::npos;
  if (q.price.find(',') != std::string::npos) {
    throw refused("'" + printable(q.price) + "' is a list, and the load is of " + device.id,
                  "--price",
                  "one price: --price 2.5; halmark plan-mix takes those of several devices");
  }
  const StatedPrice price = parse_price(is_named ? q.price : device.id + '=' + q.price);
  if (known_device(price.owner, devices).id != device.id) {
    throw refused("the load is of " + device.id + ", not of " + printable(price.owner), "--price");
  }
  return price.usd_per_hour;
}

ReplicaChoice choice_of(const PlanSizeQuestion& q) {
  ReplicaChoice out;
  out.unit.dtype = q.dtype;
  out.unit.latency = sources_or_default(q.latency, false);
  out.tp = q.tp;
  out.levels = service_levels(q.levels);
  return out;
}

}  // namespace

report::View plan_size_view(PlanSizeQuestion q, const Folders& models, const Folders& devices) {
  check(q);
  const ModelSpec spec = load_model(q.model, models);
  if (!q.job.tokens) require_context(spec, q.job.input_tokens, q.job.output_tokens);
  std::optional<Device> device;
  if (!q.device.empty()) device = known_device(q.device, devices);
  const Precision precision =
      precision_of(q.dtype, device ? precision_facts(spec, *device) : precision_facts(spec, true));
  if (q.requires_device) return floor_view(q, spec, device, precision);
  if (!q.price.empty()) q.job.price_per_device_hour = price_of(q, *device, devices);
  std::optional<Replica> replica;
  if (is_forecast(q.job)) {
    const ReplicaChoice choice = choice_of(q);
    replica = replica_for(q.job, spec, *device, choice, devices);
  }
  const Replica* of = replica ? &*replica : nullptr;
  return job_view(spec, *device, q.job, size_job(spec, precision, *device, q.job, of), of);
}

}  // namespace halmark::tune
