// A plan is trimmed by these figures before anything is measured, so they lean to the upper side: a
// bound says how fast a kernel could be, the priors by how much libraries miss it.
#include "measure/campaign/predict_cost.hpp"

#include <algorithm>
#include <map>

#include "core/lists.hpp"
#include "kernels/contract.hpp"
#include "measure/campaign/stack/measure_in_stack.hpp"
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

namespace {

class CostOfCampaign {
 public:
  CostOfCampaign(int rounds, const protocol::SampleRule& rule, const Device* device,
                 int device_threads, const CostPriors& priors)
      : rounds_(rounds),
        rule_(rule),
        device_threads_(device_threads),
        priors_(priors),
        least_(device, priors) {}

  void add(std::span<const KernelCase> cases, const GroupedCases& grouped) {
    cost_.case_seconds.resize(cases.size(), 0);
    double of_all = 0;
    if (!grouped.stacks.empty()) {
      of_all = stack_seconds(grouped.stacks);
      cost_.memory.add(grouped.stacks);
    }
    for (const std::size_t index : grouped.cases) {
      const double seconds = grouped.stacks.empty() ? loop_seconds(cases[index])
                                                    : of_all / as_double(grouped.cases.size());
      cost_.case_seconds[index] = seconds;
      if (grouped.stacks.empty()) cost_.memory.add(cases[index]);
      cost_.seconds += seconds * rounds_;
    }
    // A stack starts workers of its own, which its seconds hold.
    if (grouped.stacks.empty()) cost_.seconds += rounds_ * start_s(grouped.group);
  }

  CampaignCost total() {
    cost_.seconds += arenas_bytes_ / priors_.page_bytes_per_s;
    return std::move(cost_);
  }

 private:
  double start_s(const CaseGroup& group) const {
    return (group.is_collective ? priors_.group_start_s : priors_.worker_start_s) * group.workers();
  }
  int threads_of(const KernelCase& k) const {
    return std::max(1, device_threads_ / std::max(1, k.parts));
  }

  double loop_seconds(const KernelCase& k) {
    const double kernel_s = predicted_ns(k, least_, threads_of(k), priors_) * 1e-9;
    const double sample_s = std::max(kernel_s, rule_.min_sample_ns * 1e-9);
    const auto samples = as_double(min_samples_for(rule_, kernel_s * 1e9));
    const double sampling_s = std::max(samples * sample_s, std::min(rule_.budget_s, 64 * sample_s));
    // What is generated, packed and copied before the first call: a gather stages its whole table.
    const auto filled_bytes = as_double(staged_bytes(k));
    arenas_bytes_ = std::max(arenas_bytes_, filled_bytes * case_group(k).workers());
    // Warm-up takes two batches and the gate two more calls.
    return priors_.gate_s + filled_bytes / priors_.pack_bytes_per_s + sampling_s + 4 * sample_s;
  }

  // Ranks stage at once and are as slow as the slowest.
  double stack_seconds(std::span<const Stack> stacks) {
    double slowest = 0, filled_of_all = 0;
    bool meets = false;
    for (const Stack& stack : stacks) {
      std::vector<double> kernel_s;
      double staging_s = 0;
      for (const auto k : indices(stack.kernels)) {
        KernelCase staged = stack.kernels[k];
        staged.sets = as_int(stack.instances[k]);
        const auto filled = as_double(staged_bytes(staged));
        filled_of_all += filled;
        staging_s += priors_.stacked_gate_s + filled / priors_.pack_bytes_per_s;
        kernel_s.push_back(predicted_ns(staged, least_, threads_of(staged), priors_) * 1e-9);
        meets = meets || staged.is_collective();
      }
      double repetition_s = 0;
      for (const StackStep& step : stack.steps) {
        repetition_s += kernel_s[as_size(step.kernel)];
      }
      const auto least = as_double(min_samples_for(rule_, repetition_s * 1e9));
      // A warm repetition, and one that tells how long they take.
      const double sampling_s =
          2 * repetition_s + std::max(least * repetition_s, in_stack_budget_s(rule_));
      slowest = std::max(slowest, staging_s + sampling_s);
    }
    arenas_bytes_ = std::max(arenas_bytes_, filled_of_all);
    CaseGroup group = case_group(stacks.front().kernels.front());
    group.is_collective = meets;
    return slowest + start_s(group);
  }

  int rounds_;
  const protocol::SampleRule& rule_;
  int device_threads_;
  const CostPriors& priors_;
  LeastTimes least_;
  double arenas_bytes_ = 0;
  CampaignCost cost_;
};

}  // namespace

CampaignCost predict_cost(std::span<const KernelCase> cases, int rounds,
                          const protocol::SampleRule& rule, const Device* device,
                          int device_threads, const StacksOf& stacks_of, const CostPriors& priors) {
  CostOfCampaign cost(rounds, rule, device, device_threads, priors);
  for (const GroupedCases& grouped : round_order(cases, 0, stacks_of)) cost.add(cases, grouped);
  return cost.total();
}

}  // namespace halmark
