// The conversation with the parent: one request in flight, each answered or `failed`. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

#include "host/nodes/meeting.hpp"
#include "host/plugin/plugin.hpp"
#include "host/process/barrier.hpp"
#include "host/transport.hpp"
#include "measure/sampling/clock_source.hpp"
#include "worker/data_limit.hpp"
#include "worker/host_memory.hpp"
#include "worker/machine_probes.hpp"
#include "worker/sequence.hpp"
#include "worker/staging/staged_kernel.hpp"

namespace halmark::worker {

// How a group worker introduces itself; compute workers answer the parent's hello instead.
struct Introduction {
  std::string token;
  int rank = 0;
  std::unique_ptr<MeetingPlace> meeting;  // where the parent is on another node
};

class Session {
 public:
  Session(protocol::Channel channel, std::optional<Introduction> introduction);
  ~Session();
  // Until `quit` or the end of the stream; gives the exit code.
  int run();

 private:
  // Members in the order of their creation: children of a device go before it.
  struct OpenedDevice {
    OpenDevice device;
    DeviceStream stream;
    std::map<std::string, Communicator> communicators;  // by group
    DeviceContext context;
    StagedKernels staged;
    std::set<Dtype> warmed, cold;  // computed a discarded call; had none
    DataLimit data_limit;
    OpenedDevice(PluginInstance& plugin, OpenDevice opened, HostMemory& memory, ClockSource& clock,
                 const std::vector<protocol::KernelDescription>& kernels);
  };

  bool greet();
  void answer_hello(protocol::Frame& frame);
  // False when the conversation is over.
  bool serve(protocol::Frame& frame);
  void dispatch(protocol::Frame& frame);

  void load(const std::string& path);
  void open(const protocol::Open& request);
  void domains(const protocol::DomainsRequest& request);
  void supports(const protocol::SupportsRequest& request);
  void stage(const protocol::Stage& request);
  void reveal(const protocol::Reveal& request);
  void sample(const protocol::SampleRequest& request, protocol::Frame& frame);
  void sequence(const protocol::SequenceRequest& request, protocol::Frame& frame);
  void drop(const protocol::Drop& request);
  void token();
  void join(const protocol::Join& request);
  void close();
  void probe(const protocol::ProbeRequest& request, protocol::Frame& frame);
  void memory();

  PluginInstance& plugin();
  OpenedDevice& opened();
  StagedKernel& staged(std::int64_t id, const char* phase);
  bool warm_process(Dtype dtype);
  // Of the shards that take part in a request, as it asks for.
  struct StartTogether {
    std::unique_ptr<SharedBarrier> memory;
    StartBarrier* barrier = nullptr;
  };
  StartTogether start_barrier(const std::optional<protocol::Barrier>& asked, protocol::Frame& frame,
                              const char* phase);
  void report_phase(const char* phase);
  protocol::Failed with_limit(protocol::Failed failed) const;
  void send(protocol::Type type, std::string_view payload, int fd = -1);
  template <class Message>
  void answer(protocol::Type type, const Message& message, int fd = -1) {
    send(type, protocol::encode(message), fd);
  }
  void send_samples(const std::vector<double>& block);

  protocol::Channel channel_;
  std::optional<Introduction> introduction_;
  std::uint32_t request_ = 0;
  SystemClock clock_;
  MachineProbes probes_{clock_};
  std::string cache_dir_;
  std::unique_ptr<HostMemory> memory_ = std::make_unique<HostMemory>();
  std::unique_ptr<PluginInstance> plugin_;
  protocol::PluginDescription description_;
  std::unique_ptr<OpenedDevice> opened_;
};

}  // namespace halmark::worker
