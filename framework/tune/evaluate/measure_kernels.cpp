#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

CampaignOptions campaign_of(const std::string& backend, const std::string& plugin_path,
                            const std::string& plugin_hash, RunPeaks* peaks) {
  CampaignOptions out;
  out.plugin_path_by_backend[backend] = plugin_path;
  out.plugin_hash_by_backend[backend] = plugin_hash;
  out.peaks = peaks;
  return out;
}

void add_plugins(const BackendPlugins& plugins, CampaignOptions& to) {
  to.plugin_path_by_backend.insert(plugins.paths.begin(), plugins.paths.end());
  to.plugin_hash_by_backend.insert(plugins.hashes.begin(), plugins.hashes.end());
}

ValidityThresholds thresholds_of(const MeasureLimits& limits) {
  ValidityThresholds out;
  const auto set = [](Limit& limit, const std::optional<double>& suspect) {
    if (!suspect) return;
    limit.invalid *= *suspect / limit.suspect;
    limit.suspect = *suspect;
  };
  set(out.disturbed_samples, limits.disturbed_samples);
  set(out.run_delay_fraction, limits.run_delay_fraction);
  set(out.involuntary_switches_per_s, limits.involuntary_switches_per_s);
  set(out.steal_fraction, limits.steal_fraction);
  set(out.clock_moved, limits.clock_moved);
  set(out.peak_moved, limits.peak_moved);
  set(out.bandwidth_moved, limits.bandwidth_moved);
  return out;
}

std::vector<Measurement> measure_kernels(std::span<const KernelCase> cases,
                                         const KernelMeasuring& o) {
  CampaignOptions campaign = campaign_of(o.backend, o.plugin_path, o.plugin_hash, o.peaks);
  add_plugins(o.others, campaign);
  campaign.peaks_by_device = o.peaks_by_device;
  campaign.job = o.job;
  campaign.rounds = o.rounds;
  campaign.rule.budget_s = o.seconds;
  if (o.limits.disturbed_share) campaign.rule.disturbed_share = *o.limits.disturbed_share;
  campaign.thresholds = thresholds_of(o.limits);
  campaign.seed = o.seed;
  campaign.sink = o.sink;
  campaign.limits = o.worker_limits;
  campaign.hangs = o.hangs.get();
  campaign.stacks_of = o.stacks_of;
  campaign.should_stop = [&o] { return o.stop.stop_requested(); };
  campaign.progress = o.progress;
  return Campaign(std::move(campaign)).run(cases);
}

}  // namespace halmark::tune
