// Bounds of kernel cases on the shares of one device. Asks the contract of each case for its work.
#pragma once

#include <map>
#include <utility>

#include "core/kernel_case.hpp"
#include "core/work.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

// Peaks that bound a figure.
struct BoundingDevice {
  const Device* device = nullptr;  // null = no bounds
  int threads = 0;                 // CPUs of the whole device; 0 = all that its figures are of
};

struct CaseBound {
  Work work;
  roofline::Bound bound;
  const roofline::Ceilings* ceilings = nullptr;  // of CaseBounds, never null
};

// Owner: one thread. The device must outlive it and stay as it is.
class CaseBounds {
 public:
  explicit CaseBounds(BoundingDevice bounding) : bounding_(bounding) {}
  // Shards that run at once share ceilings beside having their own. Throws Error (exit 2) for a
  // problem that its contract refuses.
  CaseBound of(const KernelCase& kernel_case) const;

 private:
  const roofline::Ceilings& ceilings(const KernelCase& kernel_case) const;

  BoundingDevice bounding_;
  mutable std::map<std::pair<int, int>, roofline::Ceilings> ceilings_;  // by parts, shards at once
};

}  // namespace halmark
