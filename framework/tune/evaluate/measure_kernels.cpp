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

std::vector<Measurement> measure_kernels(std::span<const KernelCase> cases,
                                         const KernelMeasuring& o) {
  CampaignOptions campaign = campaign_of(o.backend, o.plugin_path, o.plugin_hash, o.peaks);
  campaign.rounds = o.rounds;
  campaign.rule.budget_s = o.seconds;
  campaign.seed = o.seed;
  campaign.sink = o.sink;
  campaign.should_stop = o.is_interrupted;
  campaign.progress = o.progress;
  return Campaign(std::move(campaign)).run(cases);
}

}  // namespace halmark::tune
