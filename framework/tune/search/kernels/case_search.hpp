// The one loop over ways of running a problem: a sampler asks for points, each point is a kernel
// case, and each case is measured once.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "search/loop.hpp"
#include "search/space/space.hpp"
#include "tune/evaluate/measure_kernels.hpp"

namespace halmark::tune {

// What a parameter is called that nobody set: the plugin chooses.
inline constexpr const char* by_default = "default";

struct CaseSampling {
  std::string sampler = "grid";
  std::int64_t trials = 0;  // per problem; 0 = everything that is offered
  std::uint64_t seed = 1;
};

struct MeasuredCases {
  std::vector<KernelCase> cases;  // that were asked for, each once
  std::vector<Measurement> rows;
};

// Of the product of the domains, the points that are offered.
Space offered_space(std::vector<SearchDomain> domains, const std::vector<Point>& points);

// Refers to `measuring`.
class CaseSearch {
 public:
  explicit CaseSearch(const KernelMeasuring& measuring) : measuring_(measuring) {}

  // Cases that are known are not measured again.
  void require(std::span<const KernelCase> cases);
  // Of one problem. `should_stop` is asked between batches; may be empty.
  SearchResult run(const Space& space, const std::function<KernelCase(const Point&)>& case_of,
                   const CaseSampling& sampling, const std::function<bool()>& should_stop);
  MeasuredCases take() { return std::move(out_); }

 private:
  Told told_of(const Point& point, const KernelCase& asked) const;

  const KernelMeasuring& measuring_;
  std::set<std::string> known_;
  MeasuredCases out_;
};

}  // namespace halmark::tune
