// The search at kernel level: which way of running a problem is fastest on a device. The same loop
// and the same samplers as for configurations, over the kernels of a plugin and their parameters.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/winner.hpp"
#include "measure/campaign/variants.hpp"
#include "search/space/space.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/search/kernels/case_search.hpp"

namespace halmark::tune {

// The variants of one problem as a space: the kernel, and the parameters of each kernel, which are
// active for it alone.
class VariantProblem {
 public:
  explicit VariantProblem(const VariantSet& set);  // which must outlive it
  const Space& space() const { return space_; }
  const Variant& at(const Point& point) const;

 private:
  const VariantSet& set_;
  std::vector<Point> points_;  // of the variants, in their order
  Space space_;
};

// Measures the variants that the sampler asks for, of each problem; a grid measures all variants of
// all problems in the rounds of one campaign.
MeasuredCases search_variants(std::span<const VariantSet> sets, const KernelMeasuring& measuring,
                              const CaseSampling& sampling);

}  // namespace halmark::tune
