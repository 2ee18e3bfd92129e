// What can be certified: a finite space, kernels with proved lower bounds, and objectives composed
// from kernel times by formulas. Plain values; nothing here knows a device.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/search_domain.hpp"
#include "search/certify/formula.hpp"

namespace halmark {

// A ceiling that no kernel can beat: a rate per second, with where it is from.
struct BoundPeak {
  std::string id;    // "bf16, 2 threads"
  double value = 0;  // per second: FLOP, bytes, ...
  std::string unit;  // "FLOP/s"
  std::string source;
  double safety = 1.05;       // the bound allows for a peak that is so much higher
  bool is_operations = true;  // else bytes
};

// One part of a lower bound: time >= amount / (peak x safety).
struct BoundTerm {
  std::int32_t peak = 0;
  double amount = 0;
};

// One thing to measure. Time units are the problem's.
struct CertifyKernel {
  std::string key;
  double operations = 0;              // least that any allowed algorithm executes
  double bytes = 0;                   // every input and output once
  std::vector<BoundTerm> terms = {};  // none: nothing is known before it is measured
  double expected = 0;                // guess of its time, to choose what to measure; 0 = its bound
  double cost = 1;                    // guess of what measuring it costs, in any unit
};

struct CertifyDomain {
  std::string name;
  std::vector<std::string> values = {};  // text of each level
};

struct CertifyConstraint {
  std::string name;
  std::string
      expression;  // language of expression/expression.hpp; "" = stated, not to be recomputed
};

// A value per combination of some domains, the last one running fastest.
template <typename T>
struct LevelTable {
  std::string name;
  std::vector<std::int32_t> over;  // domains, ascending
  std::vector<T> values = {};
};

// A combination is a level per domain, numbered with the last domain running fastest.
struct CertifiableProblem {
  std::vector<CertifyDomain> domains;  // boxes are cut along the first, then the second, ...
  std::vector<SearchObjective> objectives;
  std::vector<std::string> fronts = {"front"};  // configurations of different fronts never compare
  std::vector<CertifyConstraint> constraints;
  std::vector<std::int32_t> broken;    // per combination: its constraint or -1; empty = all valid
  std::vector<std::int32_t> front_of;  // per combination; empty = all belong to front 0
  std::vector<BoundPeak> peaks;
  double time_units_per_s = 1;
  std::vector<CertifyKernel> kernels;
  std::vector<LevelTable<double>> facts;
  std::vector<LevelTable<std::int32_t>> slots;
  std::vector<Formula> formulas;  // one per objective, all minimised: of every configuration ...
  std::map<std::uint64_t, std::vector<Formula>> own_formulas;  // ... or of each its own
};

inline constexpr std::uint64_t certify_combinations_max = std::uint64_t{1} << 24;

// The fold of roofline::Bound over the peaks of a proof, each raised by its safety factor: the
// largest of amount / (value x safety), in time units.
double kernel_bound(const CertifyKernel& kernel, const std::vector<BoundPeak>& peaks,
                    double time_units_per_s);

// The combinations of a problem, which must outlive it.
class Configurations {
 public:
  // Throws Error (exit 2) when there are more combinations than can be listed, none that is valid,
  // and where tables do not fit the domains.
  explicit Configurations(const CertifiableProblem& problem);

  std::uint64_t combinations() const { return strides_.empty() ? 0 : total_; }
  std::uint64_t stride(std::size_t domain) const { return strides_[domain]; }
  std::vector<std::int32_t> levels(std::uint64_t combination) const;
  bool is_valid(std::uint64_t combination) const;
  std::size_t front(std::uint64_t combination) const;
  // Unique, ascending.
  std::vector<std::int32_t> kernels(std::uint64_t combination) const;
  // Objectives of a valid combination from times by kernel.
  void compose(std::uint64_t combination, std::span<const double> times,
               std::span<double> objectives) const;

 private:
  const std::vector<Formula>& formulas(std::uint64_t combination) const;
  template <typename T>
  T look_up(const LevelTable<T>& table, std::uint64_t combination) const;
  void check() const;

  const CertifiableProblem& problem_;
  std::vector<std::uint64_t> strides_, sizes_;
  std::uint64_t total_ = 1;
  mutable std::vector<double> facts_, scratch_;
  mutable std::vector<std::int32_t> slots_;
};

}  // namespace halmark
