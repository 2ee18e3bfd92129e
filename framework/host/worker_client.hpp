// The parent's end of a worker: spawn, requests with deadlines, and the mapping of every way a
// worker can fail to one status. The parent never loads a plugin; this is its only way to one.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured/worker_limits.hpp"
#include "host/partition.hpp"
#include "host/plugin/outcome.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/program.hpp"
#include "host/process/shared_memory.hpp"
#include "host/protocol.hpp"
#include "host/timed_sample.hpp"
#include "host/transport.hpp"

namespace halmark {

struct WorkerOptions {
  ShardPlace place;                     // cut by hwloc into the worker's affinity ...
  std::optional<CpuSet> cpus;           // ... unless given here; an empty set = as the parent
  Environment environment;              // named variables, over the allow-list
  const SharedMemory* arena = nullptr;  // owned by the caller; the worker maps it
  int workers_at_once = 1;              // that share the machine's memory
  std::string cache_dir;                // "" = plugins keep nothing on disk
  WorkerLimits limits;
  std::string log_path;  // stdout and stderr of the worker; "" = unnamed
  std::string program;   // "" = halmark-worker beside the running program
  bool keep_core = false;
};

struct SampleAnswer {
  std::vector<TimedSample> samples;  // times per execution
  protocol::Measured measured;
  std::vector<std::byte> kept = {};  // what measured.kept points into, checked on arrival
  // Of ranks on several nodes, one per sample: no two began it further apart than this.
  std::vector<double> start_skews_ns = {};
};
struct SequenceAnswer {
  std::vector<TimedSample> steps;  // of the first repetition, of the second, ...
  protocol::Measured measured;
};
struct RevealAnswer {
  protocol::Revealed revealed;
  SharedMemory memory;  // empty when no part has bytes
  std::span<const std::byte> part(const protocol::RevealedPart& part) const;  // checked on arrival
};

// What `options` allow one worker: their limit, or its share of what this run may use now; 0 =
// none.
std::int64_t memory_limit_of(const WorkerOptions& options);

// Used by one thread, the one that started it. A request ends in an Outcome, never in an exception;
// once a failure says worker_is_gone, every later request fails the same way. begin_x sends,
// finish_x waits: several workers run at once between the two. One request in flight each.
class Worker {
 public:
  static Outcome<std::unique_ptr<Worker>> start(const WorkerOptions& options);
  ~Worker();  // kills what is left
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Outcome<protocol::PluginDescription> load(const std::string& path);
  Outcome<protocol::DeviceDescription> open(std::uint32_t index, const Config& options = {});
  Outcome<std::vector<protocol::DomainDescription>> domains(const std::string& kernel,
                                                            const Problem& problem);
  Outcome<protocol::SupportsAnswer> supports(const std::string& kernel, const Problem& problem,
                                             const std::vector<Config>& configs);

  Outcome<protocol::Staged> stage(const protocol::Stage& request);
  void begin_stage(const protocol::Stage& request);
  Outcome<protocol::Staged> finish_stage();

  Outcome<RevealAnswer> reveal(const protocol::Reveal& request);

  // barrier_fd: the memfd of a SharedBarrier when request.barrier is set, else -1.
  Outcome<SampleAnswer> sample(const protocol::SampleRequest& request, int barrier_fd = -1);
  void begin_sample(const protocol::SampleRequest& request, int barrier_fd = -1);
  Outcome<SampleAnswer> finish_sample();

  Outcome<SequenceAnswer> sequence(const protocol::SequenceRequest& request, int barrier_fd = -1);
  void begin_sequence(const protocol::SequenceRequest& request, int barrier_fd = -1);
  Outcome<SequenceAnswer> finish_sequence();

  Outcome<Done> drop(std::int64_t id);
  Outcome<protocol::TokenAnswer> token();
  Outcome<Done> join(const protocol::Join& request);
  void begin_join(const protocol::Join& request);
  Outcome<Done> finish_join();
  Outcome<protocol::ProbeAnswer> probe(const protocol::ProbeRequest& request, int barrier_fd = -1);
  void begin_probe(const protocol::ProbeRequest& request, int barrier_fd = -1);
  Outcome<protocol::ProbeAnswer> finish_probe();
  Outcome<protocol::MemoryAnswer> memory();
  Outcome<Done> close();  // the device; another may be opened
  // Asks an idle worker to leave, waits 500 ms, then kills. Of a group, the last rank asked waits:
  // quit every rank.
  void quit();
  // SIGKILL to everything the worker started. False when it cannot be killed: the device is lost.
  bool kill();

  bool alive();
  std::string log_tail();
  std::int64_t pid() const { return hello_.pid; }
  std::int64_t memory_limit_bytes() const { return limits_.memory_bytes.value_or(0); }  // 0 = none
  std::int64_t arena_bytes() const { return arena_bytes_; }
  const protocol::Hello& hello() const { return hello_; }
  const CpuSet& cpus() const { return cpus_; }
  const std::string& phase() const { return phase_; }

  // Waits until every worker has its answer (finish_x then returns at once) or failed. At the first
  // failure `on_failure` runs once, so that the caller can abort the barrier on which the others
  // would wait for the dead one.
  static void await_all(std::span<Worker* const> workers, const std::function<void()>& on_failure);

 private:
  friend class GroupStarter;
  struct Pending {
    protocol::Type expected = protocol::Type::failed;
    std::uint32_t request = 0;
    protocol::Deadline deadline;
    bool takes_samples = false;
    std::vector<double> samples;
    std::optional<protocol::Frame> answer;
    std::optional<WorkerFailure> failure;
    bool is_settled() const { return answer || failure; }
  };
  Worker() = default;
  Outcome<Done> greet(const WorkerOptions& options);
  template <class Message>
  void begin(protocol::Type type, protocol::Type expected, const Message& message, double limit_s,
             const char* phase, int fd = -1);
  void begin_frame(protocol::Type type, protocol::Type expected, std::string payload,
                   double limit_s, const char* phase, int fd = -1);
  void allow_for_pause(std::chrono::steady_clock::duration late);
  void pump();  // takes one frame of the pending request, or fails it
  void take(protocol::Frame frame);
  void enter_phase(const std::string& phase);
  std::optional<WorkerFailure> settle();  // pumps until the pending request is settled
  template <class Message>
  Outcome<Message> finish();
  void blame_memory(WorkerFailure& failure, const std::string& log) const;
  WorkerFailure lost(const protocol::Received& received);
  WorkerFailure kill_for(Status status, std::string reason);
  WorkerFailure lose(WorkerFailure failure);
  std::optional<WorkerFailure> take_kept(SampleAnswer& answer);

  protocol::Channel channel_;
  std::shared_ptr<ContainedProcess> process_;  // shared by the ranks of one group
  protocol::Hello hello_;
  CpuSet cpus_;
  WorkerLimits limits_;
  std::int64_t arena_bytes_ = 0;
  std::vector<bool> is_cpu_device_;  // of the plugin
  std::uint32_t next_request_ = 1;
  std::string phase_ = "hello";
  std::string memory_limit_;  // that the worker has set for the kernel which it stages, in words
  std::chrono::steady_clock::time_point next_log_check_{};
  Pending pending_;
  std::optional<WorkerFailure> gone_;
};

}  // namespace halmark
