#include "search/certify/proof.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/digest.hpp"

namespace halmark {
namespace {

using Record = nlohmann::json;  // keys sorted; numbers as short as reads back; not finite = null

class Writer {
 public:
  Writer(const Certifier& certifier, const Certificate& certificate, const ProofFacts& facts)
      : certifier_(certifier),
        problem_(certifier.problem()),
        space_(certifier.configurations()),
        certificate_(certificate),
        facts_(facts) {}

  std::string text() {
    add("header", header());
    for (const auto& [kind, record] : facts_.context) add(kind.c_str(), Record(record));
    add("space", space());
    for (const auto& fact : problem_.facts) add("fact", table(fact, "values"));
    for (const auto& slot : problem_.slots) add("slot", table(slot, "kernels"));
    if (!problem_.formulas.empty()) add("formula", {{"objectives", formulas(problem_.formulas)}});
    for (const auto& [combination, own] : problem_.own_formulas) {
      add("config", {{"at", space_.levels(combination)},
                     {"front", space_.front(combination)},
                     {"objectives", formulas(own)}});
    }
    for (const auto k : indices(problem_.kernels)) add("kernel", kernel(k));
    for (const BoundAlarm& alarm : certifier_.alarms()) add("alarm", record_of(alarm));
    for (const CertificateLeaf& leaf : certificate_.leaves) add("leaf", record_of(leaf));
    for (const CertifiedPoint& point : certificate_.front) add("front", record_of(point));
    Record end = trailer();
    end["sha256"] = sha256_of(out_);
    add("trailer", std::move(end));
    return std::move(out_);
  }

 private:
  void add(const char* what, Record record) {
    record["record"] = what;
    out_ += record.dump() + '\n';
  }

  Record header() const {
    Record objectives = Record::array(), peaks = Record::array();
    for (const SearchObjective& o : problem_.objectives) {
      objectives.push_back(
          {{"name", o.name}, {"unit", o.unit}, {"sign", o.is_maximised ? "maximize" : "minimize"}});
    }
    for (const BoundPeak& p : problem_.peaks) {
      peaks.push_back({{"id", p.id},
                       {"value", p.value},
                       {"unit", p.unit},
                       {"source", p.source},
                       {"safety", p.safety},
                       {"counts", p.is_operations ? "operations" : "bytes"}});
    }
    return {{"format", "halmark-front-proof"},
            {"version", front_proof_version},
            {"program", facts_.program},
            {"plan", facts_.plan},
            {"run", facts_.run},
            {"run_objective", facts_.run_objective},
            {"composition",
             {{"id", "formula"},
              {"version", 1},
              {"is", facts_.is_definition ? "definition" : "model"}}},
            {"objectives", objectives},
            {"fronts", problem_.fronts},
            {"peaks", peaks},
            {"time_units_per_s", problem_.time_units_per_s},
            {"alpha", joint_alpha(certifier_, facts_)},
            {"eps", certifier_.options().eps}};
  }

  Record space() const {
    Record domains = Record::array(), constraints = Record::array();
    for (const CertifyDomain& d : problem_.domains) {
      domains.push_back({{"name", d.name}, {"values", d.values}});
    }
    for (const CertifyConstraint& c : problem_.constraints) {
      constraints.push_back({{"name", c.name}, {"expression", c.expression}});
    }
    return {{"domains", domains},
            {"constraints", constraints},
            {"combinations", space_.combinations()},
            {"configurations", certificate_.configurations}};
  }

  template <typename T>
  Record table(const LevelTable<T>& table, const char* values) const {
    Record over = Record::array();
    for (const std::int32_t d : table.over) over.push_back(domain_name(d));
    return {{"name", table.name}, {"over", over}, {values, table.values}};
  }

  const std::string& domain_name(std::int32_t domain) const {
    return problem_.domains[as_size(domain)].name;
  }

  Record formulas(const std::vector<Formula>& formulas) const {
    std::vector<std::string> facts, slots;
    for (const auto& fact : problem_.facts) facts.push_back(fact.name);
    for (const auto& slot : problem_.slots) slots.push_back(slot.name);
    Record out = Record::array();
    for (const Formula& f : formulas) out.push_back(Record(formula_json(f, facts, slots)));
    return out;
  }

  Record kernel(std::size_t k) const {
    const CertifyKernel& what = problem_.kernels[k];
    const KernelKnowledge& known = certifier_.kernels()[k];
    Record terms = Record::array();
    for (const BoundTerm& t : what.terms) terms.push_back({{"peak", t.peak}, {"amount", t.amount}});
    Record out = {{"id", k},
                  {"key", what.key},
                  {"operations", what.operations},
                  {"bytes", what.bytes},
                  {"terms", terms},
                  {"bound", known.bound}};
    if (known.status == KernelStatus::failed) out["failed"] = known.reason;
    if (known.status != KernelStatus::measured) return out;
    out["interval"] = {known.low, known.high};
    const KernelEvidence evidence = facts_.evidence.empty() ? KernelEvidence{} : facts_.evidence[k];
    out["confidence"] = evidence.confidence;
    out["rounds"] = evidence.rounds;
    out["medians"] = evidence.medians;
    return out;
  }

  static Record record_of(const BoundAlarm& alarm) {
    return {{"kernel", alarm.kernel},
            {"peak", alarm.peak},
            {"low", alarm.low},
            {"bound", alarm.bound},
            {"peak_before", alarm.peak_before},
            {"peak_after", alarm.peak_after}};
  }

  static Record record_of(const std::vector<Interval>& intervals) {
    Record out = Record::array();
    for (const Interval& i : intervals) out.push_back({i.low, i.high});
    return out;
  }

  Record record_of(const CertificateLeaf& leaf) const {
    using Kind = CertificateLeaf::Kind;
    Record box = Record::object(), bounds = Record::array();
    for (const auto d : indices(leaf.levels)) {
      box[problem_.domains[d].name] = leaf.levels[d];
    }
    for (const LeafBound& b : leaf.bounds) {
      Record one = {{"bound", b.bound}};
      if (leaf.kind == Kind::open) {
        one["gap"] = b.gap;
      } else {
        one["by"] = b.by;
      }
      bounds.push_back(std::move(one));
    }
    Record out = {{"box", box}, {"configurations", leaf.configurations}};
    switch (leaf.kind) {
      case Kind::constraint:
        out["constraint"] = leaf.constraints;
        break;
      case Kind::failed:
        out["failed"] = leaf.kernel;
        break;
      case Kind::dominated:
        out["dominated"] = bounds;
        if (leaf.cut >= 0) out["cut"] = domain_name(leaf.cut);
        break;
      case Kind::evaluated:
        out["evaluated"] = record_of(leaf.interval);
        break;
      case Kind::open:
        out["open"] = bounds;
        break;
    }
    return out;
  }

  Record record_of(const CertifiedPoint& point) const {
    Record out = {{"front", point.front},
                  {"config", point.configuration},
                  {"interval", record_of(point.interval)},
                  {"kernels", point.kernels},
                  {"class", point.is_certain ? "certain" : "possible"}};
    const auto run = facts_.runs.find(point.configuration);
    if (run == facts_.runs.end()) return out;
    const EndToEnd& whole = run->second;
    out["run"] = {{"value", whole.value}, {"interval", {whole.interval.low, whole.interval.high}}};
    return out;
  }

  Record trailer() const {
    return {{"state", certificate_state_name(certificate_.state)},
            {"configurations", certificate_.configurations},
            {"evaluated", certificate_.evaluated},
            {"dominated", certificate_.dominated},
            {"failed", certificate_.failed},
            {"open", certificate_.open},
            {"gap", certificate_.gap},
            {"kernels", problem_.kernels.size()},
            {"kernels_measured", certifier_.kernels_measured()},
            {"alarms", certifier_.alarms().size()},
            {"composition_confirmed", is_confirmed(certificate_, facts_)},
            {"wall_s", facts_.wall_s},
            {"device_s", facts_.device_s}};
  }

  const Certifier& certifier_;
  const CertifiableProblem& problem_;
  const Configurations& space_;
  const Certificate& certificate_;
  const ProofFacts& facts_;
  std::string out_;
};

}  // namespace

bool is_confirmed(const Certificate& certificate, const ProofFacts& facts) {
  if (facts.is_definition) return true;
  if (facts.run_objective < 0) return false;
  const auto j = as_size(facts.run_objective);
  return std::ranges::all_of(certificate.front, [&](const CertifiedPoint& point) {
    const auto* run = find_value(facts.runs, point.configuration);
    return run && run->interval.low <= point.interval[j].high &&
           run->interval.high >= point.interval[j].low;
  });
}

double joint_alpha(const Certifier& certifier, const ProofFacts& facts) {
  double out = 0;
  for (const auto k : indices(facts.evidence)) {
    const bool counts = certifier.kernels()[k].status == KernelStatus::measured;
    if (counts) out += 1 - facts.evidence[k].confidence;
  }
  return std::min(out, 1.0);
}

std::string proof_text(const Certifier& certifier, const Certificate& certificate,
                       const ProofFacts& facts) {
  return Writer(certifier, certificate, facts).text();
}

}  // namespace halmark
