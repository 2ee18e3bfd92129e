// What `halmark bench` measures with beside one plugin on one machine: a baseline, other nodes.
#pragma once

#include <optional>
#include <vector>

#include "host/plugin/plugin_choice.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/search/kernels/bench_request.hpp"

namespace halmark::tune {

// Cases of the plugin that rows are scored against; it takes turns with the other from now on.
std::vector<KernelCase> baseline_beside(const BenchRequest& request,
                                        const std::vector<FoundPlugin>& found,
                                        std::vector<KernelCase>& cases, KernelMeasuring& measuring);

// With --mpi-hosts: the cases lie on those nodes from now on, as device "0@2", and no peak of this
// machine bounds them. Asks the nodes first. Throws Error: exit 2 for cases that are no collectives
// of as many ranks, or nodes with unequal numbers of them; 5 for nodes that are not alike.
void spread_over_nodes(const BenchRequest& request, const FoundPlugin& plugin,
                       std::vector<KernelCase>& cases, KernelMeasuring& measuring,
                       std::optional<RunPeaks>& peaks);

}  // namespace halmark::tune
