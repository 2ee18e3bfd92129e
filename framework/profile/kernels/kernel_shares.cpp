#include "profile/kernels/kernel_shares.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

#include "core/lists.hpp"

namespace halmark {
namespace {

double share_weight(const ProfiledKernel& row, bool by_shape) {
  const auto count = as_double(row.count);
  if (!by_shape) return count;
  const auto [m, n, k] = *row.shape;
  return count * as_double(m) * as_double(n) * as_double(k);
}

}  // namespace

void share_work(const KernelLayer& layer, BoundLayer& bound) {
  std::map<std::int32_t, std::vector<std::size_t>> rows_of;
  for (const auto i : indices(bound.kernels)) {
    for (const BoundOperator& op : bound.kernels[i].operators) rows_of[op.index].push_back(i);
  }
  for (const auto& [index, rows] : rows_of) {
    if (rows.size() == 1) continue;
    const bool by_shape = std::ranges::all_of(
        rows, [&](std::size_t i) { return layer.kernels[i].shape.has_value(); });
    double sum = 0;
    for (const std::size_t i : rows) sum += share_weight(layer.kernels[i], by_shape);
    for (const std::size_t i : rows) {
      KernelBinding& binding = bound.kernels[i];
      binding.status = BindingStatus::shared;
      const auto it = std::ranges::find(binding.operators, index, &BoundOperator::index);
      it->share = share_weight(layer.kernels[i], by_shape) / sum;
    }
  }
  for (KernelBinding& binding : bound.kernels) {
    if (binding.status == BindingStatus::shared) binding.how += ", shared with other rows";
  }
}

}  // namespace halmark
