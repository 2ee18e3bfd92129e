// Series of one implementation teach together, whatever their types: fp8 lies beside bf16.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "latency/imported/kernel_table.hpp"
#include "latency/interpolation/believed_points.hpp"

namespace halmark {

struct TableSeries {
  const ImportedTable* table = nullptr;
  const KernelSeries* series = nullptr;  // of it
};

// Calls take(position of its first series, its points, how one of them is named) for each
// implementation of each table, in the order of the first.
using TakeImplementation = std::function<void(
    std::size_t first, const std::vector<LatencyPoint>& points, PointsOrigin origin)>;
void each_implementation(std::span<const TableSeries> series, const TakeImplementation& take);

}  // namespace halmark
