#include "fleet/claimed_work.hpp"

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "tune/plan/plan.hpp"

namespace halmark::fleet {

CampaignOptions campaign_for(const WorkTable::Claim& claim, tune::NamedDevices& devices) {
  tune::KernelMeasuring measuring;
  devices.measure_with(measuring);
  CampaignOptions out;
  tune::add_plugins(measuring.others, out);
  out.peaks_by_device = measuring.peaks_by_device;
  if (const auto* own = find_value(out.peaks_by_device, "cpu:0")) {
    out.peaks = *own;  // whose memory the state of bandwidth is of
  }
  const WorkUnit& first = claim.units.front();
  out.rounds = 1;
  out.first_round = first.round;
  out.rule = tune::sample_rule(claim.settings.measure);
  out.wall_cap_s = claim.settings.measure.wall_cap_s;
  out.thresholds = tune::thresholds_of(claim.settings.measure.limits);
  out.seed = hash_combine(claim.settings.seed, as_uint64(first.id));
  out.stacks_of = [&claim](const KernelCase& k) -> std::span<const Stack> {
    for (const WorkUnit& unit : claim.units) {
      if (contains(unit.cases, k)) return unit.stacks;
    }
    return {};
  };
  return out;
}

}  // namespace halmark::fleet
