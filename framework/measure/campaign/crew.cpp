#include "measure/campaign/crew.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/lists.hpp"
#include "core/text/text.hpp"
#include "host/group.hpp"

namespace halmark {
namespace {

WorkerFailure failure_of(Status status, std::string reason, std::string phase) {
  return {status, std::move(reason), std::move(phase), 0, false};
}

WorkerOptions worker_options(const CrewOptions& options, int index) {
  WorkerOptions worker;
  worker.place = options.group.place(index);
  worker.environment = options.environment;
  worker.cache_dir = options.cache_dir;
  worker.limits = options.limits;
  worker.program = options.worker_program;
  worker.workers_at_once =
      options.job != nullptr ? options.job->nodes.front().ranks : options.group.workers();
  if (options.needs_group) {
    // Ranks wait for each other inside a collective: when one is gone the others never answer.
    worker.limits.create_s = std::min(worker.limits.create_s, 30.0);
    worker.limits.first_s = std::min(worker.limits.first_s, 15.0);
  }
  if (options.job != nullptr) {
    constexpr double reach_s = 60;  // of the launcher, by ssh or Slurm
    worker.limits.hello_s = std::max(worker.limits.hello_s, reach_s);
    return worker;  // no memory of this machine is theirs
  }
  if (as_size(index) < options.arenas.size()) {
    const SharedMemory& arena = options.arenas[as_size(index)];
    if (arena) worker.arena = &arena;
  }
  return worker;
}

// The device index of a plugin by its id, or by its position.
std::optional<std::uint32_t> device_index(const protocol::PluginDescription& plugin,
                                          const std::string& wanted) {
  for (const auto i : indices(plugin.devices)) {
    if (plugin.devices[i].id == wanted) return as_uint32(i);
  }
  for (const auto i : indices(plugin.devices)) {
    if (std::to_string(i) == wanted) return as_uint32(i);
  }
  return std::nullopt;
}

template <class Answer, class Finish>
std::vector<Outcome<Answer>> finish_all(std::vector<std::unique_ptr<Worker>>& workers,
                                        Finish finish) {
  std::vector<Outcome<Answer>> outcomes;
  for (auto& worker : workers) outcomes.push_back(finish(*worker));
  return outcomes;
}

}  // namespace

std::string group_name(std::span<const int> members) { return join(members, ","); }

Outcome<std::unique_ptr<Crew>> Crew::start(const CrewOptions& options) {
  std::unique_ptr<Crew> crew(new Crew);
  crew->group_ = options.group;
  if (auto failure = crew->start_workers(options)) return *failure;
  if (auto failure = crew->open_devices(options)) return *failure;
  if (options.needs_group) {
    if (auto failure = crew->join_ranks(options.cuts)) return *failure;
  }
  return crew;
}

std::optional<WorkerFailure> Crew::start_workers(const CrewOptions& options) {
  std::vector<WorkerOptions> shards;
  for (const int i : below(options.group.workers())) shards.push_back(worker_options(options, i));
  if (options.job != nullptr) {
    auto group = start_node_group(shards, *options.job);
    if (!group) return group.failure;
    workers_ = std::move(group->ranks);
    meeting_ = std::move(group->meeting);
    start_skew_ns_ = group->start_skew_ns;
  } else if (options.needs_group && shards.size() > 1) {
    auto ranks = start_group(shards);
    if (!ranks) return ranks.failure;
    workers_ = std::move(*ranks);
  } else {
    for (const WorkerOptions& shard : shards) {
      auto worker = Worker::start(shard);
      if (!worker) return worker.failure;
      workers_.push_back(std::move(*worker));
    }
  }
  return std::nullopt;
}

std::optional<WorkerFailure> Crew::open_devices(const CrewOptions& options) {
  for (const auto shard : indices(workers_)) {
    Worker& worker = *workers_[shard];
    const ShardPlace place = options.group.place(as_int(shard));
    const auto* own = find_value(options.plugin_path_by_backend, place.backend);
    auto plugin = worker.load(!own ? options.plugin_path : *own);
    if (!plugin) return plugin.failure;
    const auto index = device_index(*plugin, place.device);
    if (!index) {
      const std::string why = plugin->log.empty() ? "" : ": " + plugin->log.back();
      return failure_of(Status::refused,
                        "plugin " + plugin->name + " has no device " + place.device + why, "open");
    }
    auto device = worker.open(*index, options.open_options);
    if (!device) return device.failure;
    opened_.push_back({std::move(*plugin), std::move(*device)});
  }
  return std::nullopt;
}

int Crew::threads(int shard) const {
  return device(shard).kind == "cpu" ? at(shard).cpus().threads() : 0;
}

// Who meets whom through what is a plugin's own: two of them know nothing of each other.
std::optional<WorkerFailure> Crew::join_ranks(std::span<const RankGroups> cuts) {
  for (const int shard : below(size())) {
    if (plugin(shard).name != plugin().name) {
      return failure_of(Status::unsupported,
                        "collectives between plugins " + plugin().name + " and " +
                            plugin(shard).name + " are not executable here",
                        "join");
    }
    if (!plugin(shard).has_comm) {
      return failure_of(Status::unsupported, "plugin " + plugin(shard).name + " has no collectives",
                        "join");
    }
  }
  if (auto failure = join({all_shards()}, true)) return failure;
  for (const RankGroups& cut : cuts) {
    if (auto failure = join(cut, false)) return failure;
  }
  return std::nullopt;
}

// All ranks join at the same time, because some libraries cut their world in one call of all.
std::optional<WorkerFailure> Crew::join(const RankGroups& groups, bool is_of_all) {
  std::vector<protocol::Join> requests(workers_.size());
  for (const std::vector<int>& members : groups) {
    auto token = worker(members.front()).token();
    if (!token) return token.failure;
    for (std::size_t i = 0; i < members.size(); ++i) {
      requests[as_size(members[i])] = {.token_hex = token->hex,
                                       .rank = as_int(i),
                                       .size = as_int(members.size()),
                                       .group = is_of_all ? std::string() : group_name(members)};
    }
  }
  for (const int rank : below(size())) {
    worker(rank).begin_join(requests[as_size(rank)]);
  }
  const auto joined = finish_all<Done>(workers_, [](Worker& w) { return w.finish_join(); });
  return first_failure(joined);
}

std::vector<int> Crew::all_shards() const {
  std::vector<int> all(workers_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<Worker*> Crew::pointers(std::span<const int> shards) const {
  return mapped(shards, [&](const int i) { return workers_[as_size(i)].get(); });
}

bool Crew::alive() {
  return std::ranges::all_of(workers_, [](const auto& w) { return w->alive(); });
}

std::vector<Outcome<protocol::Staged>> Crew::stage(const protocol::Stage& request) {
  protocol::Stage shard = request;
  for (const int i : below(size())) {
    shard.rank = i;
    shard.ranks = size();
    worker(i).begin_stage(shard);
  }
  Worker::await_all(pointers(all_shards()), {});
  return finish_all<protocol::Staged>(workers_, [](Worker& w) { return w.finish_stage(); });
}

std::vector<std::optional<Outcome<protocol::Staged>>> Crew::stage_each(
    const std::vector<std::optional<protocol::Stage>>& requests) {
  std::vector<Worker*> asked;
  for (const auto i : indices(requests)) {
    if (!requests[i]) continue;
    workers_[i]->begin_stage(*requests[i]);
    asked.push_back(workers_[i].get());
  }
  Worker::await_all(asked, {});
  std::vector<std::optional<Outcome<protocol::Staged>>> outcomes(requests.size());
  for (const auto i : indices(requests)) {
    if (requests[i]) outcomes[i] = workers_[i]->finish_stage();
  }
  return outcomes;
}

void Crew::run_together(std::span<const int> shards, const Begin& begin) {
  if (shards.size() == 1) return begin(worker(shards.front()), std::nullopt, -1);
  protocol::Barrier own{.parties = as_int(shards.size())};
  if (meeting_) {
    own.meeting = meeting_->begin(shards);
    for (const int shard : shards) {
      begin(worker(shard), own, -1);
      ++own.index;
    }
    return Worker::await_all(pointers(shards), [this] { meeting_->abort(); });
  }
  // A barrier that was aborted cannot be used again, and one page costs nothing: one per request.
  SharedBarrier barrier = SharedBarrier::create();
  for (const int shard : shards) {
    begin(worker(shard), own, barrier.fd());
    ++own.index;
  }
  Worker::await_all(pointers(shards), [&barrier] { barrier.abort(); });
}

std::vector<Outcome<SampleAnswer>> Crew::sample(const protocol::SampleRequest& request,
                                                std::span<const int> shards) {
  const std::vector<int> all = all_shards();
  if (shards.empty()) shards = all;
  run_together(shards, [&](Worker& shard, const auto& barrier, int barrier_fd) {
    protocol::SampleRequest own = request;
    own.barrier = barrier;
    shard.begin_sample(own, barrier_fd);
  });
  std::vector<Outcome<SampleAnswer>> outcomes =
      mapped(shards, [&](const int i) { return worker(i).finish_sample(); });
  if (meeting_ && shards.size() > 1 && !request.pilot_only) {
    const std::vector<double> skews_ns = meeting_->skews_ns();
    for (auto& outcome : outcomes) {
      if (outcome) outcome->start_skews_ns = skews_ns;
    }
  }
  return outcomes;
}

std::vector<Outcome<SequenceAnswer>> Crew::sequence(
    std::span<const protocol::SequenceRequest> requests) {
  std::size_t next = 0;
  run_together(all_shards(), [&](Worker& shard, const auto& barrier, int barrier_fd) {
    protocol::SequenceRequest own = requests[next++];
    own.barrier = barrier;
    shard.begin_sequence(own, barrier_fd);
  });
  return finish_all<SequenceAnswer>(workers_, [](Worker& w) { return w.finish_sequence(); });
}

std::vector<Outcome<protocol::ProbeAnswer>> Crew::probe(const protocol::ProbeRequest& request) {
  run_together(all_shards(), [&](Worker& shard, const auto& barrier, int barrier_fd) {
    protocol::ProbeRequest own = request;
    own.barrier = barrier;
    shard.begin_probe(own, barrier_fd);
  });
  return finish_all<protocol::ProbeAnswer>(workers_, [](Worker& w) { return w.finish_probe(); });
}

std::vector<Outcome<protocol::MemoryAnswer>> Crew::memory() {
  return finish_all<protocol::MemoryAnswer>(workers_, [](Worker& w) { return w.memory(); });
}

void Crew::drop(std::int64_t id) {
  for (auto& worker : workers_) {
    // A shard that failed to stage has nothing to drop, and says so; both are fine.
    if (worker->alive()) (void)worker->drop(id);
  }
}

void Crew::quit() {
  for (auto& worker : workers_) worker->quit();
}

}  // namespace halmark
