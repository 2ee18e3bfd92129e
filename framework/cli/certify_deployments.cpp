#include "cli/certify_deployments.hpp"

#include <algorithm>
#include <optional>

#include "measure/campaign/predict_cost.hpp"
#include "model/pricing/memory.hpp"
#include "roofline/ceilings.hpp"

namespace halmark::cli {
namespace {

// What leaves a combination out, in the order in which it is asked.
enum Exclusion : std::int32_t { none = -1, shard_count, expert_group, impossible_split, memory };

std::vector<CertifyConstraint> exclusions(const std::vector<std::int64_t>& shards) {
  std::string list;
  for (const std::int64_t n : shards) list += (list.empty() ? "" : ", ") + std::to_string(n);
  return {{"shard_count", "dp * tp * pp in {" + list + "}"},
          {"ep_exceeds_group", "dp * tp % ep == 0"},
          {"impossible_split", ""},
          {"out_of_memory", ""}};
}

// A step's sum as a formula over the times of its kernels.
class StepFormula {
 public:
  void begin_stage() { terms_.clear(); }
  void add(const StepSum::Term& term) {
    terms_.push_back(formula::scaled(formula::constant(term.count), formula::kernel(term.kernel)));
  }
  void end_stage() { stages_.push_back(formula::sum(terms_)); }
  Formula step(double micro_batches) const {
    return formula::scaled(formula::constant(micro_batches), formula::largest(stages_));
  }

 private:
  std::vector<Formula> terms_, stages_;
};

Formula step_formula(const StepSum& compiled) { return fold(compiled, StepFormula()); }

// Nothing for an objective that is not known to be better whenever a kernel is faster.
std::optional<Formula> formula_of(Objective objective, const StepSum& compiled,
                                  const OperatorGraph& graph) {
  using namespace formula;
  constexpr double ns_per_s = 1e9;
  if (objective == Objective::latency) return step_formula(compiled);
  if (objective == Objective::throughput) {
    return scaled(constant(ns_per_s), rate(constant(compiled.tokens), step_formula(compiled)));
  }
  if (objective == Objective::memory) {
    return constant(static_cast<double>(memory_use(graph).total_bytes));
  }
  return std::nullopt;
}

SearchObjective described(Objective objective) {
  const bool is_throughput = objective == Objective::throughput;
  return {.name = std::string(objective_name(objective)),
          .unit = is_throughput                     ? "tokens/s"
                  : objective == Objective::latency ? "ns"
                                                    : "bytes",
          .is_maximised = is_throughput};
}

class Translation {
 public:
  Translation(const TunePlan& plan, const LocalMachine& machine, double safety)
      : plan_(plan), machine_(machine), safety_(safety) {}

  DeploymentProblem run() {
    sort_objectives();
    add_domains();
    add_combinations();
    out_.cases.assign(kernels_.cases().begin(), kernels_.cases().end());
    add_kernels();
    return std::move(out_);
  }

 private:
  void sort_objectives() {
    const Composer& some = plan_.composers.begin()->second;
    KernelTable scratch;
    const StepSum compiled = some.compile(scratch);
    for (const Objective o : plan_.sweep.objectives) {
      const bool has_formula = formula_of(o, compiled, some.graph()).has_value();
      (has_formula ? out_.certified : out_.only_reported).push_back(o);
      if (has_formula) out_.problem.objectives.push_back(described(o));
    }
    if (out_.certified.empty()) {
      throw refused("none of the sweep's objectives can be certified", plan_.sweep.file,
                    "latency, throughput and memory can");
    }
  }

  void add_domains() {
    CertifiableProblem& p = out_.problem;
    p.time_units_per_s = 1e9;
    for (const SearchDomain& d : plan_.space->domains()) {
      CertifyDomain domain{.name = d.name, .values = {}};
      for (const ParamValue& v : d.values) domain.values.push_back(text_of(v));
      p.domains.push_back(std::move(domain));
    }
    shards_ = shard_counts(plan_.sweep, machine_.cores);
    p.constraints = exclusions(shards_);
    p.fronts.clear();
  }

  std::int32_t exclusion(const Point& point) const {
    const auto degree = [&point](std::size_t d) { return static_cast<std::int64_t>(point[d]) + 1; };
    const std::int64_t devices = degree(1) * degree(2) * degree(3);
    if (std::ranges::find(shards_, devices) == shards_.end()) return shard_count;
    if (degree(1) * degree(2) % degree(4) != 0) return expert_group;
    if (!plan_.space->contains(point)) return impossible_split;
    return plan_.composers.contains(plan_.configuration(point)) ? none : memory;
  }

  std::int32_t front_of(const Point& point) {
    std::vector<std::string>& fronts = out_.problem.fronts;
    const auto name =
        std::string(phase_name(plan_.groups[static_cast<std::size_t>(point[0])].workload.phase));
    const auto at = std::ranges::find(fronts, name);
    const auto index = static_cast<std::int32_t>(at - fronts.begin());
    if (at == fronts.end()) fronts.push_back(name);
    return index;
  }

  void add_combinations() {
    Point point(out_.problem.domains.size(), 0);
    for (std::uint64_t c = 0;; ++c) {
      const std::int32_t broken = exclusion(point);
      out_.problem.broken.push_back(broken);
      out_.problem.front_of.push_back(front_of(point));
      if (broken == none) add_configuration(c, plan_.configuration(point));
      std::size_t d = point.size();
      while (d-- > 0) {
        if (++point[d] < static_cast<double>(out_.problem.domains[d].values.size())) break;
        point[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) return;
    }
  }

  void add_configuration(std::uint64_t combination, const Configuration& configuration) {
    const Composer& composer = plan_.composers.at(configuration);
    const StepSum compiled = composer.compile(kernels_);
    std::vector<Formula>& formulas = out_.problem.own_formulas[combination];
    for (const Objective o : out_.certified) {
      formulas.push_back(*formula_of(o, compiled, composer.graph()));
    }
    out_.deployments[combination] = configuration;
  }

  std::int32_t peak_index(const roofline::Ceiling& ceiling) {
    std::vector<BoundPeak>& peaks = out_.problem.peaks;
    const auto at = std::ranges::find(peaks, ceiling.name, &BoundPeak::id);
    const auto index = static_cast<std::int32_t>(at - peaks.begin());
    if (at == peaks.end()) {
      const bool is_operations = ceiling.level == roofline::Level::compute;
      peaks.push_back({.id = ceiling.name,
                       .value = ceiling.per_s,
                       .unit = is_operations ? "FLOP/s" : "bytes/s",
                       .source = ceiling.source,
                       .safety = safety_,
                       .is_operations = is_operations});
    }
    return index;
  }

  void add_kernels() {
    // Peaks are those of the CPU of this machine; other back ends have none here.
    const bool has_peaks = machine_.measured && plan_.sweep.backend == "cpu";
    const Device* device = has_peaks ? &*machine_.measured : nullptr;
    const CampaignCost cost =
        predict_cost(out_.cases, plan_.sweep.measure.rounds, sample_rule(plan_.sweep.measure),
                     device, machine_.cores);
    const CaseBounds bounds({.device = device, .threads = machine_.cores});
    for (std::size_t k = 0; k < out_.cases.size(); ++k) {
      const CaseBound of_case = bounds.of(out_.cases[k]);
      CertifyKernel kernel{.key = out_.cases[k].key(),
                           .operations = of_case.work.matmul_flops,
                           .bytes = of_case.work.bytes(),
                           .expected = predicted_kernel_ns(out_.cases[k], device, machine_.cores),
                           .cost = cost.case_seconds[k] * plan_.sweep.measure.rounds};
      for (const roofline::Part& part : of_case.bound.parts()) {
        kernel.terms.push_back({peak_index(of_case.ceilings->at(part.source)), part.amount});
      }
      out_.problem.kernels.push_back(std::move(kernel));
    }
  }

  const TunePlan& plan_;
  const LocalMachine& machine_;
  double safety_;
  std::vector<std::int64_t> shards_;
  KernelTable kernels_;
  DeploymentProblem out_;
};

}  // namespace

DeploymentProblem certifiable_deployments(const TunePlan& plan, const LocalMachine& machine,
                                          double safety) {
  return Translation(plan, machine, safety).run();
}

}  // namespace halmark::cli
