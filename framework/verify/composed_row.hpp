// Whether the estimate of a configuration follows from the rows before it. Without the model's
// graph: each operator's time is that of a kernel of its work that the run measured, and the step
// is the sum of its operators.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/latency.hpp"
#include "journal/check.hpp"
#include "verify/measured_row.hpp"

namespace halmark {

// Of one run; rows in their order.
class MeasuredKernels {
 public:
  void add(const Measurement& row);
  std::vector<RowFault> check_evaluation(const StoredEntry& entry) const;

 private:
  // What a reader may have made of a kernel's rows at some time: those of one build of the plugin,
  // the last row of each round, as far as they had come.
  struct Kernel {
    double flops = 0, bytes = 0;  // of one execution
    std::map<int, Measurement> rounds;
    std::vector<Latency> folds;
  };
  std::string fault_of(const OperatorShare& share) const;

  std::map<std::pair<std::string, std::string>, Kernel> kernels_;  // case, plugin hash
};

}  // namespace halmark
