// The workers of one group in one round: one process per shard, plugin loaded, device open.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/numeric/cast.hpp"
#include "host/nodes/node_group.hpp"
#include "host/process/barrier.hpp"
#include "host/process/shared_memory.hpp"
#include "host/worker_client.hpp"
#include "measure/campaign/case_group.hpp"

namespace halmark {

// Ranks cut into groups of more than one that meet apart, each rank in one of them.
using RankGroups = std::vector<std::vector<int>>;
std::string group_name(std::span<const int> members);  // "0,2"; what Stage::group names it by

struct CrewOptions {
  CaseGroup group;
  std::string plugin_path;
  std::map<std::string, std::string> plugin_path_by_backend = {};  // of those that have another
  Config open_options;
  std::map<std::string, std::string> environment;
  std::string cache_dir;
  WorkerLimits limits;
  std::string worker_program = {};  // "" = the one of this installation
  bool needs_group = false;         // ranks that know each other; under mpirun when several
  std::vector<RankGroups> cuts;     // of them, beside the group of all
  std::span<SharedMemory> arenas;   // one per worker, or none
  const NodeJob* job = nullptr;     // of ranks on several nodes
};

// Fans each request out to every shard and collects every answer, so that no shard is left with a
// request in flight. Outcomes are in shard order. One thread.
class Crew {
 public:
  static Outcome<std::unique_ptr<Crew>> start(const CrewOptions& options);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  int size() const { return static_cast<int>(workers_.size()); }
  bool alive();
  const CaseGroup& group() const { return group_; }
  // Of one shard: all have the same unless their places are named.
  const protocol::PluginDescription& plugin(int shard = 0) const { return opened(shard).plugin; }
  const protocol::DeviceDescription& device(int shard = 0) const { return opened(shard).device; }
  int threads(int shard = 0) const;  // its CPUs; 0 = not a CPU
  int host_threads(int shard = 0) const { return at(shard).cpus().threads(); }  // that it may use
  // What to expect of a start of ranks on several nodes; 0 = they share a machine.
  double start_skew_ns() const { return start_skew_ns_; }
  Worker& worker(int index) { return *workers_[as_size(index)]; }

  // `request` with its own rank for every shard.
  std::vector<Outcome<protocol::Staged>> stage(const protocol::Stage& request);
  // One request of its own per shard, or none; the answer stands at the same place.
  std::vector<std::optional<Outcome<protocol::Staged>>> stage_each(
      const std::vector<std::optional<protocol::Stage>>& requests);
  // All shards at once, from a common barrier when there are several; or those of `shards`, while
  // the others wait for requests.
  std::vector<Outcome<SampleAnswer>> sample(const protocol::SampleRequest& request,
                                            std::span<const int> shards = {});
  std::vector<Outcome<SequenceAnswer>> sequence(
      std::span<const protocol::SequenceRequest> requests);  // one per shard
  // All shards at once, from a common barrier when there are several.
  std::vector<Outcome<protocol::ProbeAnswer>> probe(const protocol::ProbeRequest& request);
  // One after the other: nothing runs meanwhile.
  std::vector<Outcome<protocol::MemoryAnswer>> memory();
  void drop(std::int64_t id);
  void quit();

 private:
  Crew() = default;
  std::optional<WorkerFailure> start_workers(const CrewOptions& options);
  std::optional<WorkerFailure> open_devices(const CrewOptions& options);
  std::optional<WorkerFailure> join_ranks(std::span<const RankGroups> cuts);
  std::optional<WorkerFailure> join(const RankGroups& groups, bool is_of_all);
  // Sends through `begin`, waits for every shard; a failure of one aborts the barrier, on which the
  // others would wait for it.
  using Begin =
      std::function<void(Worker&, const std::optional<protocol::Barrier>&, int barrier_fd)>;
  void run_together(std::span<const int> shards, const Begin& begin);
  struct Opened {
    protocol::PluginDescription plugin;
    protocol::DeviceDescription device;
  };
  const Opened& opened(int shard) const { return opened_[as_size(shard)]; }
  const Worker& at(int shard) const { return *workers_[as_size(shard)]; }
  std::vector<int> all_shards() const;
  std::vector<Worker*> pointers(std::span<const int> shards) const;

  CaseGroup group_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::unique_ptr<RankMeeting> meeting_;  // of ranks on several nodes
  double start_skew_ns_ = 0;
  std::vector<Opened> opened_;  // by shard
};

// The first failure among outcomes, with the shard named when there are several.
template <class T>
std::optional<WorkerFailure> first_failure(const std::vector<Outcome<T>>& outcomes) {
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i]) continue;
    WorkerFailure failure = outcomes[i].failure;
    if (outcomes.size() > 1) failure.reason = "shard " + std::to_string(i) + ": " + failure.reason;
    return failure;
  }
  return std::nullopt;
}

}  // namespace halmark
