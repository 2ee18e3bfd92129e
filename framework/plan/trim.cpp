#include "plan/trim.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace halmark {
namespace {

// How many kept groups need each kernel.
std::vector<int> users(const std::vector<TrimGroup>& groups, const std::vector<bool>& is_kept,
                       std::size_t kernels) {
  std::vector<int> out(kernels, 0);
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (!is_kept[g]) continue;
    for (const std::int32_t k : groups[g].kernels) ++out[static_cast<std::size_t>(k)];
  }
  return out;
}

}  // namespace

TrimResult trim_to_budget(const std::vector<TrimGroup>& groups,
                          const std::vector<double>& kernel_seconds, double fixed_seconds,
                          double budget_seconds) {
  TrimResult out{.is_kept = std::vector<bool>(groups.size(), true)};
  while (true) {
    const std::vector<int> used = users(groups, out.is_kept, kernel_seconds.size());
    out.seconds = fixed_seconds;
    for (std::size_t k = 0; k < used.size(); ++k)
      out.seconds += used[k] > 0 ? kernel_seconds[k] : 0;
    if (out.seconds <= budget_seconds) return out;

    std::map<std::string, int> class_size;
    for (std::size_t g = 0; g < groups.size(); ++g)
      class_size[groups[g].keep_class] += out.is_kept[g];
    std::size_t dearest = groups.size();
    double saved = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      if (!out.is_kept[g] || class_size[groups[g].keep_class] == 1) continue;
      double own = 0;
      for (const std::int32_t k : groups[g].kernels) {
        const auto index = static_cast<std::size_t>(k);
        own += used[index] == 1 ? kernel_seconds[index] : 0;
      }
      if (own > saved) {
        saved = own;
        dearest = g;
      }
    }
    if (dearest == groups.size()) return out;
    out.is_kept[dearest] = false;
    out.left_out.push_back(groups[dearest].name + ": saves " +
                           std::to_string(static_cast<long>(std::lround(saved))) +
                           " s of measuring");
  }
}

}  // namespace halmark
