// Builds Workers around the channels of ranks that an acceptor lets in. Of this room alone.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/group.hpp"
#include "host/nodes/rank_acceptor.hpp"
#include "host/worker_client.hpp"

namespace halmark {

class GroupStarter {
 public:
  // Both have to outlive it.
  GroupStarter(std::span<const WorkerOptions> ranks, RankAcceptor& acceptor)
      : options_(ranks),
        acceptor_(acceptor),
        memory_bytes_(memory_limit_of(ranks.front())),
        workers_(ranks.size()) {
    for (const WorkerOptions& rank : ranks) cpus_.push_back(cpus_of_rank(rank));
  }

  std::span<const CpuSet> cpus() const { return cpus_; }
  std::vector<std::string> command() const;
  // `launcher` runs command() once per rank; log, memory limit and cores are those of rank 0.
  // Gives why there is no group.
  std::optional<WorkerFailure> connect(ProcessSpec launcher);
  std::optional<WorkerFailure> greet();
  std::vector<std::unique_ptr<Worker>> take() { return std::move(workers_); }
  // What `start(mpirun)` gives; a failure where there is no mpirun, or what it throws.
  template <class Start>
  static auto under_launcher(Start start) -> decltype(start(std::string())) {
    const std::string mpirun = find_mpirun();
    if (mpirun.empty()) {
      return WorkerFailure{Status::unsupported,
                           "mpirun is not installed; install the package openmpi-bin", "start", 0,
                           true};
    }
    try {
      return start(mpirun);
    } catch (const std::exception& error) {
      return WorkerFailure{Status::worker_lost, error.what(), "start", 0, true};
    }
  }
  // Ends them all; the reason ends with what the launcher wrote.
  WorkerFailure failed(Status status, std::string reason);

 private:
  static CpuSet cpus_of_rank(const WorkerOptions& options) {
    return options.cpus ? *options.cpus : cpus_of(options.place);
  }
  std::size_t admit(protocol::Channel channel);

  std::span<const WorkerOptions> options_;
  RankAcceptor& acceptor_;
  std::int64_t memory_bytes_;  // of each rank; 0 = no limit
  std::shared_ptr<ContainedProcess> process_;
  std::vector<CpuSet> cpus_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace halmark
