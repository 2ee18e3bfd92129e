#include "tune/sizing/served_size.hpp"

#include <fmt/format.h>

#include "core/text/error.hpp"
#include "report/choice/pick.hpp"

namespace halmark::tune {
namespace {

std::string levels_text(const std::vector<ServiceLevel>& levels, bool is_assumed) {
  std::string out;
  for (const ServiceLevel& level : levels) out += (out.empty() ? "" : ", ") + level_text(level);
  return out + (is_assumed ? " (assumed: no --slo)" : "");
}

bool is_saturated(const Evaluation& e) { return e.served && e.served->is_saturated; }

struct Offer {
  std::int64_t tp = 0, devices = 0;
  UnitLoad load;
};

}  // namespace

Replica replica_for(const Job& job, const ModelSpec& spec, const Device& device,
                    const ReplicaChoice& choice, const Folders& devices) {
  const UnitPricing pricing(choice.unit, spec, device, devices);
  const Most most = job.users ? Most::users : Most::requests;
  const bool assumes = choice.levels.empty() && job.output_tokens > 1;
  std::vector<ServiceLevel> levels = choice.levels;
  if (assumes) levels.push_back({Objective::interactivity, user_tokens_per_s, {}});
  Offer expected, sure;
  std::string reason;
  const std::vector<std::int64_t> sizes =
      choice.tp.empty() ? std::vector<std::int64_t>{1, 2, 4, 8, 16} : choice.tp;
  for (const std::int64_t tp : sizes) {
    std::vector<Evaluation> loads =
        pricing.loads({.input_tokens = job.input_tokens, .output_tokens = job.output_tokens}, tp);
    // No level is stated of the wait for the first token, which has no end there.
    if (assumes) std::erase_if(loads, is_saturated);
    const auto take = [&](Sureness sureness, Offer& best) {
      UnitLoad load = UnitPricing::most(loads, levels, most, sureness);
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
    throw refused(fmt::format("no {} devices of {} serve {} + {} tokens within {}",
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

}  // namespace halmark::tune
