// A plan is trimmed by these figures before anything is measured, so they lean to the upper side: a
// bound says how fast a kernel could be, the priors by how much libraries miss it.
#include "measure/campaign/predict_cost.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "kernels/contract.hpp"
#include "measure/campaign/arena_size.hpp"
#include "measure/campaign/case_group.hpp"
#include "measure/sampling/stop_rule.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {
namespace {

// Share of the roofline that a library usually reaches: large products 0.3, small ones and
// element-wise ops less. Only for predicting cost.
double efficiency_prior(const KernelCase& kernel_case, const Work& work) {
  if (kernel_case.is_collective()) return 0.2;
  if (work.matmul_flops <= 0) return 0.25;
  const bool is_thin = work.matmul_flops < 16 * work.bytes();
  return is_thin ? 0.6 : 0.3;
}

double dispatch_ns(const KernelCase& kernel_case) {
  return kernel_case.is_collective() ? 20e3 : 3e3;
}

// What a case needs at the least on shards of one device; ceilings are resolved once per thread
// count, because a plan has thousands of cases.
class LeastTimes {
 public:
  LeastTimes(const Device* device, const CostPriors& priors) : device_(device), priors_(priors) {}

  double ns(const KernelCase& kernel_case, const Work& work, int threads) {
    const bool is_known = device_ != nullptr && !device_->bandwidths.empty() &&
                          device_->peak(work.compute_dtype, threads);
    if (!is_known) {
      return std::max(work.matmul_flops / priors_.flops_per_s,
                      work.bytes() / priors_.bandwidth_bytes_per_s) *
             1e9;
    }
    auto found = ceilings_.find(threads);
    if (found == ceilings_.end()) {
      found = ceilings_.try_emplace(threads, *device_, threads).first;
    }
    return roofline::case_bound(work, kernel_case, found->second).ns();
  }

 private:
  const Device* device_;
  const CostPriors& priors_;
  std::map<int, roofline::Ceilings> ceilings_;
};

double predicted_ns(const KernelCase& kernel_case, LeastTimes& least, int threads,
                    const CostPriors& priors) {
  const Problem problem = complete_problem(kernel_case.problem);
  const Work work = find_contract(problem.op)->work(problem.params);
  // Element-wise FLOPs enter no bound, but exp and friends take time.
  const double vector_ns = work.vector_flops / (0.1 * priors.flops_per_s) * 1e9;
  return std::max(least.ns(kernel_case, work, threads), vector_ns) /
             efficiency_prior(kernel_case, work) +
         dispatch_ns(kernel_case);
}

}  // namespace

double predicted_kernel_ns(const KernelCase& kernel_case, const Device* device, int threads,
                           const CostPriors& priors) {
  LeastTimes least(device, priors);
  return predicted_ns(kernel_case, least, threads, priors);
}

CampaignCost predict_cost(std::span<const KernelCase> cases, int rounds,
                          const protocol::SampleRule& rule, const Device* device,
                          int device_threads, const CostPriors& priors) {
  CampaignCost cost;
  LeastTimes least(device, priors);
  std::set<CaseGroup> groups;
  double arenas_bytes = 0;
  for (const KernelCase& kernel_case : cases) {
    const int threads = std::max(1, device_threads / std::max(1, kernel_case.parts));
    const double kernel_s = predicted_ns(kernel_case, least, threads, priors) * 1e-9;
    const double sample_s = std::max(kernel_s, rule.min_sample_ns * 1e-9);
    const auto samples = static_cast<double>(min_samples_for(rule, kernel_s * 1e9));
    const double sampling_s = std::max(samples * sample_s, std::min(rule.budget_s, 64 * sample_s));
    // What is generated, packed and copied before the first call: a gather stages its whole table.
    const auto filled_bytes = static_cast<double>(staged_bytes(kernel_case));
    arenas_bytes = std::max(arenas_bytes, filled_bytes * case_group(kernel_case).workers());
    // Warm-up takes two batches and the gate two more calls.
    const double seconds =
        priors.gate_s + filled_bytes / priors.pack_bytes_per_s + sampling_s + 4 * sample_s;
    cost.case_seconds.push_back(seconds);
    cost.seconds += seconds * rounds;
    groups.insert(case_group(kernel_case));
  }
  cost.seconds += arenas_bytes / priors.page_bytes_per_s;
  for (const CaseGroup& group : groups) {
    cost.seconds += rounds * (group.is_collective ? priors.group_start_s : priors.worker_start_s) *
                    group.workers();
  }
  return cost;
}

}  // namespace halmark
