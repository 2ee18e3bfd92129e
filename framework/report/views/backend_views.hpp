// Problems on several backends, side by side: who is fastest, who cannot be told apart, and how
// close each comes to the bound of its own device.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "report/views/view.hpp"

namespace halmark::report {

struct BackendTime {
  std::string backend, variant;  // "opencl:0", "default"
  KernelPoint point;             // judged by its own device
  bool is_winner = false;        // fastest by its median
  bool is_tied = false;          // its interval overlaps that of the winner, who is tied as well
};

struct BackendComparison {
  std::string problem, dtype;
  std::vector<BackendTime> times;  // fastest first, those without a time last
  std::vector<std::string> notes;
};

// Marks winner and ties and sorts.
BackendComparison compared(std::string problem, std::string dtype, std::vector<BackendTime> times);

// {"problems": [...], "wins": {...}} and one table per problem, then how often each backend won.
View backends_view(std::span<const BackendComparison> comparisons);

}  // namespace halmark::report
