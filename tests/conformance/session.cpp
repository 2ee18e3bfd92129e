#include "session.hpp"

#include <gtest/gtest.h>

#include <map>

#include "host/group.hpp"

namespace halmark::conformance {
namespace {

constexpr std::int64_t arena_bytes = 16 << 20;

const SharedMemory& arena() {
  static const SharedMemory memory =
      SharedMemory::create("halmark-conformance", arena_bytes, false);
  return memory;
}

using Key = std::pair<std::string, std::uint32_t>;  // path, device

std::unique_ptr<Worker>& worker_of(const std::string& path, std::uint32_t device) {
  static std::map<Key, std::unique_ptr<Worker>> workers;
  return workers[{path, device}];
}

struct Group {
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::unique_ptr<SharedMemory>> arenas;
  bool is_alive() {
    for (const auto& worker : workers) {
      if (!worker->alive()) return false;
    }
    return !workers.empty();
  }
};

// A backend may have no communicator of this size; of size one it must.
bool join_all(Group& group, const std::string& token) {
  const auto size = static_cast<int>(group.workers.size());
  for (int rank = 0; rank < size; ++rank) {
    group.workers[static_cast<std::size_t>(rank)]->begin_join({token, rank, size});
  }
  bool all = true;
  for (const auto& worker : group.workers) {
    const auto joined = worker->finish_join();
    const bool may_refuse = size > 1 && joined.failure.status == Status::unsupported;
    EXPECT_TRUE(joined || may_refuse) << joined.failure.reason;
    all = all && joined;
  }
  return all;
}

bool open_all(Group& group, const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  for (const auto& worker : group.workers) {
    const auto loaded = worker->load(plugin.path);
    EXPECT_TRUE(loaded) << loaded.failure.reason;
    if (!loaded) return false;
    const auto opened = worker->open(device.index, device.options);
    EXPECT_TRUE(opened) << opened.failure.reason;
    if (!opened) return false;
  }
  const auto token = group.workers.front()->token();
  EXPECT_TRUE(token) << token.failure.reason;
  if (!token) return false;
  return join_all(group, token->hex);
}

}  // namespace

WorkerOptions worker_options() {
  WorkerOptions options;
  options.cpus = CpuSet{};
  options.arena = &arena();
  return options;
}

void keep_worker(const std::string& path, std::uint32_t device, std::unique_ptr<Worker> worker) {
  worker_of(path, device) = std::move(worker);
}

Worker* open_worker(const PluginUnderTest& plugin, const DeviceUnderTest& device) {
  auto& worker = worker_of(plugin.path, device.index);
  if (worker && worker->alive()) return worker.get();
  auto started = Worker::start(worker_options());
  EXPECT_TRUE(started) << started.failure.reason;
  if (!started) return nullptr;
  worker = std::move(*started);
  const auto loaded = worker->load(plugin.path);
  EXPECT_TRUE(loaded) << loaded.failure.reason;
  if (!loaded) return nullptr;
  const auto opened = worker->open(device.index, device.options);
  EXPECT_TRUE(opened) << opened.failure.reason;
  return opened ? worker.get() : nullptr;
}

std::vector<Worker*> open_group(const PluginUnderTest& plugin, const DeviceUnderTest& device,
                                int ranks) {
  static std::map<std::pair<Key, int>, Group> groups;
  auto& group = groups[{{plugin.path, device.index}, ranks}];
  if (!group.is_alive()) {
    group = {};
    std::vector<WorkerOptions> options;
    for (int rank = 0; rank < ranks; ++rank) {
      group.arenas.push_back(std::make_unique<SharedMemory>(
          SharedMemory::create("halmark-conformance-rank", arena_bytes, false)));
      options.push_back(worker_options());
      options.back().arena = group.arenas.back().get();
      // Ranks share cores here: one that waits must let the other run.
      options.back().environment["OMPI_MCA_mpi_yield_when_idle"] = "1";
      options.back().environment["OMP_NUM_THREADS"] = "1";
    }
    auto started = start_group(options);
    if (!started) {
      ADD_FAILURE() << "group of " << ranks << ": " << started.failure.reason;
      return {};
    }
    group.workers = std::move(*started);
    if (!open_all(group, plugin, device)) {
      group = {};
      return {};
    }
  }
  std::vector<Worker*> all;
  for (const auto& worker : group.workers) all.push_back(worker.get());
  return all;
}

std::int64_t next_id() {
  static std::int64_t id = 0;
  return ++id;
}

}  // namespace halmark::conformance
