// KernelTable: every kernel that a set of deployments needs, each once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/kernel_case.hpp"
#include "core/latency.hpp"
#include "model/pricing/step_sum.hpp"

namespace halmark {

// Owner: one thread.
class KernelTable {
 public:
  std::int32_t index_of(const KernelCase& kernel_case);  // adds it when new
  std::int32_t find(const KernelCase& kernel_case) const { return indices_.at(kernel_case); }
  std::span<const KernelCase> cases() const { return cases_; }

 private:
  std::map<KernelCase, std::int32_t> indices_;
  std::vector<KernelCase> cases_;
};

// Unknown where there is no latency, or none that a sum may use.
KernelTime kernel_time(const std::optional<Latency>& latency);

}  // namespace halmark
