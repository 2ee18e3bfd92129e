#include "fleet/claimed_work.hpp"

#include <algorithm>

#include "core/numeric/random.hpp"
#include "core/ranges.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::fleet {

CampaignOptions campaign_for(const WorkTable::Claim& claim, tune::NamedDevices& devices) {
  tune::KernelMeasuring measuring;
  devices.measure_with(measuring);
  CampaignOptions out;
  tune::add_plugins(measuring.others, out);
  out.peaks_by_device = measuring.peaks_by_device;
  if (const auto own = out.peaks_by_device.find("cpu:0"); own != out.peaks_by_device.end()) {
    out.peaks = own->second;  // whose memory the state of bandwidth is of
  }
  const WorkUnit& first = claim.units.front();
  out.rounds = 1;
  out.first_round = first.round;
  out.rule = tune::sample_rule(claim.settings.measure);
  out.wall_cap_s = claim.settings.measure.wall_cap_s;
  out.thresholds = tune::thresholds_of(claim.settings.measure.limits);
  out.seed = hash_combine(claim.settings.seed, static_cast<std::uint64_t>(first.id));
  out.stacks_of = [&claim](const KernelCase& k) -> std::span<const Stack> {
    for (const WorkUnit& unit : claim.units) {
      if (contains(unit.cases, k)) return unit.stacks;
    }
    return {};
  };
  return out;
}

}  // namespace halmark::fleet
