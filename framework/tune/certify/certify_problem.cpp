// A proof lists combinations, so the problems of all phases stand side by side in one product, with
// the phase as its first domain. Everything else is taken from the problems as they are: the text
// of their constraints, their configurations, the sums of their steps.
#include "tune/certify/certify_problem.hpp"

#include <algorithm>
#include <optional>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/units.hpp"
#include "expression/expression.hpp"
#include "latency/case_bounds.hpp"
#include "measure/campaign/predict_cost.hpp"
#include "model/pricing/memory.hpp"
#include "roofline/ceilings.hpp"

namespace halmark::tune {
namespace {

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

Formula step_formula(const StepSum& sum) { return fold(sum, StepFormula()); }

// Nothing for an objective that is not known to be better whenever a kernel is faster.
std::optional<Formula> formula_of(Objective objective, const StepSum& compiled,
                                  const OperatorGraph& graph) {
  using namespace formula;
  if (objective == Objective::latency) return step_formula(compiled);
  if (objective == Objective::throughput) {
    return scaled(constant(ns_per_s), rate(constant(compiled.tokens), step_formula(compiled)));
  }
  if (objective == Objective::memory) {
    return constant(as_double(memory_use(graph).total_bytes));
  }
  return std::nullopt;
}

// The union of the domains of all problems, and which level of it a value has.
class Product {
 public:
  explicit Product(const TunePlan& plan) : plan_(plan) {
    SearchDomain phase{.name = "phase"};
    for (const TuneProblem& p : plan.problems()) phase.values.emplace_back(p.name());
    domains_.push_back(std::move(phase));
    for (const TuneProblem& p : plan.problems()) {
      for (const SearchDomain& d : p.space().domains()) add(d);
    }
    for (const SearchDomain& d : domains_) {
      total_ *= d.values.size();
      if (total_ > certify_combinations_max) {
        throw refused("a certificate lists every combination, and this sweep has more than " +
                          std::to_string(certify_combinations_max),
                      plan.sweep().file, "fewer values, or another sampler");
      }
    }
  }

  std::span<const SearchDomain> domains() const { return domains_; }
  std::uint64_t total() const { return total_; }

  std::vector<ParamValue> values(std::uint64_t combination) const {
    std::vector<ParamValue> out(domains_.size());
    for (std::size_t d = domains_.size(); d-- > 0;) {
      const std::vector<ParamValue>& values = domains_[d].values;
      out[d] = values[combination % values.size()];
      combination /= values.size();
    }
    return out;
  }
  std::size_t problem(const std::vector<ParamValue>& values) const {
    return as_size(*domains_.front().coordinate(values.front()));
  }
  // The point of its problem; nothing where a value is none of the problem's, or a domain that the
  // problem has not is not at its first value.
  std::optional<Point> point(const std::vector<ParamValue>& values) const {
    const Space& space = plan_.problems()[problem(values)].space();
    Point out(space.domains().size(), absent);
    for (std::size_t d = 1; d < domains_.size(); ++d) {
      const auto own = std::ranges::find(space.domains(), domains_[d].name, &SearchDomain::name);
      if (own == space.domains().end()) {
        if (values[d] != domains_[d].values.front()) return std::nullopt;
        continue;
      }
      const auto coordinate = own->coordinate(values[d]);
      if (!coordinate) return std::nullopt;
      out[as_size(own - space.domains().begin())] = *coordinate;
    }
    return out;
  }

 private:
  void add(const SearchDomain& domain) {
    auto* known = find_or_null(domains_, domain.name, &SearchDomain::name);
    if (!known) {
      domains_.push_back({.name = domain.name, .values = domain.values});
      return;
    }
    for (const ParamValue& v : domain.values) {
      if (std::ranges::find(known->values, v) == known->values.end()) known->values.push_back(v);
    }
  }

  const TunePlan& plan_;
  std::vector<SearchDomain> domains_;
  std::uint64_t total_ = 1;
};

// The constraints of all problems as the proof states them, and which one a combination breaks.
class Exclusions {
 public:
  Exclusions(const TunePlan& plan, const Product& product) {
    auto names = mapped(product.domains(), &SearchDomain::name);
    for (const TuneProblem& p : plan.problems()) {
      for (const StatedConstraint& c : p.description().constraints) {
        const std::string text = "phase != \"" + p.name() + "\" or (" + c.expression + ")";
        stated_.push_back({c.name, text});
        expressions_.emplace_back(text, names, std::map<std::string, ParamValue>{}, c.name);
      }
    }
    of_another_phase_ = as_int(stated_.size());
    stated_.push_back({"of_another_phase", ""});
    impossible_ = as_int(stated_.size());
    stated_.push_back({"impossible_or_out_of_memory", ""});
  }

  const std::vector<CertifyConstraint>& stated() const { return stated_; }
  std::int32_t of_another_phase() const { return of_another_phase_; }
  std::int32_t impossible() const { return impossible_; }
  std::optional<std::int32_t> broken(const std::vector<ParamValue>& values) const {
    std::vector<Operand> operands =
        mapped(values, [&](const ParamValue& v) { return Operand::of(v); });
    for (const auto i : indices(expressions_)) {
      if (expressions_[i].evaluate(operands) == Truth::no) return as_int(i);
    }
    return std::nullopt;
  }

 private:
  std::vector<CertifyConstraint> stated_;
  std::vector<Expression> expressions_;
  std::int32_t of_another_phase_ = 0, impossible_ = 0;
};

class Translation {
 public:
  Translation(const TunePlan& plan, double safety)
      : plan_(plan), safety_(safety), product_(plan), exclusions_(plan, product_) {}

  StepsToCertify run() {
    sort_objectives();
    add_domains();
    add_combinations();
    out_.cases.assign(kernels_.cases().begin(), kernels_.cases().end());
    add_kernels();
    return std::move(out_);
  }

 private:
  const Composer& some_composer() const {
    for (const Configuration& c : plan_.forecast().configurations) {
      const Composers::Entry& entry = plan_.composers().of(c);
      if (entry.composer) return *entry.composer;
    }
    throw refused("no configuration of this sweep is possible here", plan_.sweep().file);
  }

  void sort_objectives() {
    const Composer& some = some_composer();
    KernelTable scratch;
    const StepSum compiled = some.compile(scratch);
    for (const Objective o : plan_.sweep().objectives) {
      const bool has_formula = formula_of(o, compiled, some.graph()).has_value();
      (has_formula ? out_.certified : out_.only_reported).push_back(o);
      if (!has_formula) continue;
      const ObjectiveRow& row = row_of(o);
      out_.problem.objectives.push_back({.name = std::string(row.name),
                                         .unit = std::string(row.unit),
                                         .is_maximised = row.is_maximised});
    }
    if (out_.certified.empty()) {
      throw refused("none of the sweep's objectives can be certified", plan_.sweep().file,
                    "latency, throughput and memory can");
    }
  }

  void add_domains() {
    CertifiableProblem& p = out_.problem;
    p.time_units_per_s = 1e9;
    for (const SearchDomain& d : product_.domains()) {
      CertifyDomain domain{.name = d.name, .values = {}};
      for (const ParamValue& v : d.values) domain.values.push_back(text_of(v));
      p.domains.push_back(std::move(domain));
    }
    p.constraints = exclusions_.stated();
    p.fronts.clear();
    for (const TuneProblem& problem : plan_.problems()) p.fronts.push_back(problem.name());
  }

  void add_combinations() {
    for (const std::uint64_t c : below(product_.total())) {
      const std::vector<ParamValue> values = product_.values(c);
      out_.problem.front_of.push_back(as_int(product_.problem(values)));
      out_.problem.broken.push_back(added(c, values));
    }
  }

  // What leaves the combination out; -1 when it is a configuration, which is added.
  std::int32_t added(std::uint64_t combination, const std::vector<ParamValue>& values) {
    const auto point = product_.point(values);
    if (!point) return exclusions_.of_another_phase();
    if (const auto broken = exclusions_.broken(values)) return *broken;
    const Configuration c = plan_.problems()[product_.problem(values)].at(*point);
    const Composers::Entry& entry = plan_.composers().of(c);
    if (!entry.composer) return exclusions_.impossible();
    const StepSum compiled = entry.composer->compile(kernels_);
    std::vector<Formula>& formulas = out_.problem.own_formulas[combination];
    for (const Objective o : out_.certified) {
      formulas.push_back(*formula_of(o, compiled, entry.composer->graph()));
    }
    out_.configurations[combination] = c;
    return -1;
  }

  std::int32_t peak_index(const roofline::Ceiling& ceiling) {
    std::vector<BoundPeak>& peaks = out_.problem.peaks;
    const auto at = std::ranges::find(peaks, ceiling.name, &BoundPeak::id);
    const auto index = as_int(at - peaks.begin());
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
    const Target& target = plan_.target();
    // Peaks are those of the CPU of this machine; other back ends have none here.
    const bool has_peaks = target.measured && target.backend == "cpu";
    const Device* device = has_peaks ? &*target.measured : nullptr;
    const MeasureSettings& measure = plan_.sweep().measure;
    const CampaignCost cost =
        predict_cost(out_.cases, measure.rounds, sample_rule(measure), device, target.cores);
    const CaseBounds bounds({.device = device, .threads = target.cores});
    for (const auto k : indices(out_.cases)) {
      const CaseBound of_case = bounds.of(out_.cases[k]);
      CertifyKernel kernel{.key = out_.cases[k].key(),
                           .operations = of_case.work.matmul_flops,
                           .bytes = of_case.work.bytes(),
                           .expected = predicted_kernel_ns(out_.cases[k], device, target.cores),
                           .cost = cost.case_seconds[k] * measure.rounds};
      for (const roofline::Part& part : of_case.bound.parts()) {
        kernel.terms.push_back({peak_index(of_case.ceilings->at(part.source)), part.amount});
      }
      out_.problem.kernels.push_back(std::move(kernel));
    }
  }

  const TunePlan& plan_;
  double safety_;
  Product product_;
  Exclusions exclusions_;
  KernelTable kernels_;
  StepsToCertify out_;
};

}  // namespace

StepsToCertify steps_to_certify(const TunePlan& plan, double safety) {
  return Translation(plan, safety).run();
}

}  // namespace halmark::tune
