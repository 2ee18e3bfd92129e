// What bounds a kernel, recomputed from the device record by code of the checker's own.
#pragma once

#include <string>
#include <vector>

#include "core/device.hpp"
#include "core/kernel_case.hpp"
#include "core/work.hpp"

namespace halmark::front_proof {

// One term that a kernel must state: `amount` cannot pass in less than amount / per_s.
struct ExpectedTerm {
  std::string peak;  // id: "bf16_matrix, 2 threads"
  std::string source;
  double per_s = 0, amount = 0;
  bool counts_operations = false;
};

// In the order of the format: operations, then the levels from the nearest on; the same again of
// what all shards share; the link. `threads`: CPUs of the whole device, 0 = all its figures are of.
std::vector<ExpectedTerm> expected_terms(const Device& device, int threads,
                                         const KernelCase& kernel_case, const Work& work);

}  // namespace halmark::front_proof
