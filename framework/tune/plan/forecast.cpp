#include "tune/plan/forecast.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>

#include "core/lists.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "plan/toml/trim.hpp"
#include "search/sampler.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {

namespace {

CampaignCost cost_of(const TunePlan& plan, std::span<const KernelCase> kernels) {
  const Target& target = plan.target();
  return predict_cost(kernels, plan.sweep().measure.rounds, sample_rule(plan.sweep().measure),
                      target.measured ? &*target.measured : nullptr, target.cores,
                      [&](const KernelCase& k) { return plan.composers().stacks_of(k); });
}

std::vector<double> of_all_rounds(const TunePlan& plan, const CampaignCost& cost) {
  return mapped(cost.case_seconds,
                [&](const double one_round) { return one_round * plan.sweep().measure.rounds; });
}

std::vector<Configuration> all_of(const TuneProblem& problem) {
  std::vector<Configuration> out;
  for (const std::uint64_t i : below(problem.space().size())) {
    out.push_back(problem.at(problem.space().point(i)));
  }
  return out;
}

std::vector<Configuration> first_batch(const TunePlan& plan, const TuneProblem& problem) {
  std::vector<Configuration> out;
  const auto sampler = make_sampler(plan.sweep().sampler, problem.space(), plan.sweep().seed);
  for (const Point& point : sampler->ask(measured_batch)) out.push_back(problem.at(point));
  return out;
}

// Points that are left out together: they differ in their layout alone.
struct Group {
  TrimGroup trim;
  std::string constraint;  // that leaves them out
  std::size_t problem = 0;
};

bool is_degree(std::string_view parameter) {
  static constexpr std::string_view degrees[] = {"dp", "tp", "pp", "ep", "cp"};
  return contains(degrees, parameter);
}

// "not (context == 1024 and batch == 4 and precision == "bf16")"
std::string exclusion(const Setting& setting) {
  std::string out;
  for (const auto& [name, value] : setting) {
    if (is_degree(name)) continue;
    const bool is_text = std::holds_alternative<std::string>(value);
    const std::string quote = is_text ? "\"" : "";
    out += (out.empty() ? "not (" : " and ") + name + " == " + quote + text_of(value) + quote;
  }
  return out + ')';
}

class Groups {
 public:
  explicit Groups(const TunePlan& plan) : plan_(plan) {
    const std::vector<KernelCase>& kernels = plan.forecast().kernels;
    for (const auto k : indices(kernels)) {
      kernels_[kernels[k]] = as_int(k);
    }
    for (const auto p : indices(plan.problems())) {
      const Space& space = plan.problems()[p].space();
      for (const std::uint64_t i : below(space.size())) add(p, space.point(i));
    }
    for (Group& g : groups_) {
      std::ranges::sort(g.trim.kernels);
      g.trim.kernels.erase(std::ranges::unique(g.trim.kernels).begin(), g.trim.kernels.end());
    }
  }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  void add(std::size_t p, const Point& point) {
    const TuneProblem& problem = plan_.problems()[p];
    const Configuration c = problem.at(point);
    const Composers::Entry& entry = plan_.composers().of(c);
    if (!entry.composer) return;
    const std::string constraint = exclusion(problem.space().setting(point));
    const auto [it, is_new] = index_.try_emplace({p, constraint}, groups_.size());
    if (is_new) {
      groups_.push_back(
          {{problem.name() + " batch " + std::to_string(c.workload.batch) + ' ' + c.precision.name,
            problem.name(),
            {}},
           constraint,
           p});
    }
    std::vector<std::int32_t>& kernels = groups_[it->second].trim.kernels;
    for (const KernelCase& k : entry.composer->kernels()) kernels.push_back(kernels_.at(k));
  }

  const TunePlan& plan_;
  std::map<KernelCase, std::int32_t> kernels_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> index_;
  std::vector<Group> groups_;
};

}  // namespace

Forecast forecast_of(const TunePlan& plan) {
  Forecast out;
  out.is_whole = plan.configurations() <= forecast_configurations_max;
  for (const TuneProblem& problem : plan.problems()) {
    const auto found = out.is_whole ? all_of(problem) : first_batch(plan, problem);
    append_all(out.configurations, found);
  }
  out.kernels = plan.composers().kernels(out.configurations);
  if (const auto& nightly = plan.sweep().nightly) {
    for (const auto* asked : {&nightly->kernels, &nightly->sentinels}) {
      for (KernelCase& k : night_cases(plan.sweep(), *asked)) {
        if (!contains(out.kernels, k)) out.kernels.push_back(std::move(k));
      }
    }
  }
  CampaignCost cost = cost_of(plan, out.kernels);
  out.seconds = cost.seconds;
  out.memory = std::move(cost.memory);
  return out;
}

std::vector<double> case_seconds(const TunePlan& plan, std::span<const KernelCase> kernels) {
  return of_all_rounds(plan, cost_of(plan, kernels));
}

Trimmed trim_to_budget(const TunePlan& plan) {
  const Groups groups(plan);
  std::vector<TrimGroup> asked = mapped(groups.groups(), &Group::trim);
  const CampaignCost cost = cost_of(plan, plan.forecast().kernels);
  const std::vector<double> seconds = of_all_rounds(plan, cost);
  const double all_cases = std::accumulate(seconds.begin(), seconds.end(), 0.0);
  const TrimResult result = halmark::trim_to_budget(
      asked, seconds, std::max(0.0, cost.seconds - all_cases), plan.sweep().budget_s);
  Trimmed out{.problems = {}, .left_out = result.left_out};
  for (std::size_t p = 0; p < plan.problems().size(); ++p) {
    std::vector<StatedConstraint> constraints;
    for (const auto g : indices(asked)) {
      const Group& group = groups.groups()[g];
      if (result.is_kept[g] || group.problem != p) continue;
      constraints.push_back({"trimmed_to_budget", group.constraint, {}});
    }
    out.problems.push_back(plan.problems()[p].with(std::move(constraints)));
  }
  return out;
}

}  // namespace halmark::tune
