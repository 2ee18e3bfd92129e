// Ranks of a collective: several workers under one mpirun, one Worker each.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "host/nodes/node_list.hpp"
#include "host/worker_client.hpp"

namespace halmark {

// Starts `ranks` workers under mpirun; rank i gets part i of `ranks` cuts of options.place (or CPUs
// as parts[i] says). mpirun itself is under the containment, so any rank that fails ends the group
// and no rank outlives it. Compute workers never pay for MPI: use Worker::start for them.
// Status `unsupported` when mpirun is not installed.
Outcome<std::vector<std::unique_ptr<Worker>>> start_group(const WorkerOptions& options, int ranks);

// One WorkerOptions per rank (cpus or place, arena, cache_dir); program, environment, limits, log
// and memory limit are those of rank 0.
Outcome<std::vector<std::unique_ptr<Worker>>> start_group(std::span<const WorkerOptions> ranks);

// What starts one process of `command` per rank under `mpirun`, rank by rank on `cpus`' union: each
// binds itself to its own. Groups are started so, and so is what groups are compared with.
ProcessSpec group_process(const std::string& mpirun, const std::vector<std::string>& command,
                          std::span<const CpuSet> cpus, const Environment& named);

// The same over nodes: MPI chooses what it goes over, as the site or the user set it up, and
// `named` is handed on to every node.
ProcessSpec group_process_over(const std::vector<NodeRanks>& nodes, const std::string& mpirun,
                               const std::vector<std::string>& command,
                               std::span<const CpuSet> cpus, const Environment& named);

// Absolute path of mpirun in PATH; "" when it is not installed.
std::string find_mpirun();

}  // namespace halmark
