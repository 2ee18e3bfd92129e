#include "worker/session.hpp"

#include <unistd.h>

#include <algorithm>
#include <new>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "worker/affinity.hpp"
#include "worker/request_failed.hpp"

namespace halmark::worker {
namespace {

using protocol::Type;

// The parent is gone: nobody is left to answer.
struct ConversationOver {};

protocol::Hello own_hello(const std::optional<Introduction>& introduction) {
  protocol::Hello hello;
  hello.pid = ::getpid();
  hello.build = tool_build;
  if (introduction) {
    hello.token = introduction->token;
    hello.rank = introduction->rank;
  }
  return hello;
}

}  // namespace

Session::OpenedDevice::OpenedDevice(PluginInstance& plugin, OpenDevice opened, HostMemory& memory,
                                    ClockSource& clock,
                                    const std::vector<protocol::KernelDescription>& kernels)
    : device(std::move(opened)),
      stream(take(device.create_stream(), "open")),
      context{plugin, device, stream, memory, clock, kernels},
      data_limit(device.description().kind == "cpu") {}

Session::Session(protocol::Channel channel, std::optional<Introduction> introduction)
    : channel_(std::move(channel)), introduction_(std::move(introduction)) {}

Session::~Session() = default;

int Session::run() {
  if (!greet()) return 1;
  while (true) {
    protocol::Received received = channel_.receive();
    if (!received) return received.status == protocol::ReceiveStatus::closed ? 0 : 1;
    try {
      if (!serve(received.frame)) return 0;
    } catch (const ConversationOver&) {
      return 0;
    }
  }
}

// A rank of a group comes by a socket that anybody could reach, so it shows its token first.
bool Session::greet() {
  if (introduction_ && !channel_.send_message(Type::hello, 0, own_hello(introduction_))) {
    return false;
  }
  protocol::Received received = channel_.receive();
  if (!received || received.frame.type() != Type::hello) return false;
  try {
    answer_hello(received.frame);
    return true;
  } catch (const std::exception& error) {
    // Without a hello there is no request to answer; the log says why.
    ::dprintf(STDERR_FILENO, "halmark-worker: %s\n", error.what());
    return false;
  }
}

void Session::answer_hello(protocol::Frame& frame) {
  const auto hello = protocol::decode<protocol::Hello>(frame.payload);
  request_ = frame.header.request;
  if (!hello.cpus.empty()) bind_to(hello.cpus);
  probes_.remember_placement();
  cache_dir_ = hello.cache_dir;
  if (hello.arena_bytes > 0 && !frame.fds.empty()) {
    memory_ = std::make_unique<HostMemory>(SharedMemory::map(
        std::move(frame.fds.front()), hello.arena_bytes, Access::read_write, true));
  }
  answer(Type::hello, own_hello(introduction_));
  if (introduction_ && introduction_->meeting && !introduction_->meeting->rehearse()) {
    throw unfit("the ranks do not meet over the network");
  }
}

bool Session::serve(protocol::Frame& frame) {
  request_ = frame.header.request;
  const auto fail = [&](std::int32_t code, const std::string& message) {
    answer(Type::failed, with_limit({code, "", message}));
  };
  try {
    if (frame.type() == Type::quit) {
      close();
      return false;
    }
    dispatch(frame);
  } catch (const RequestFailed& failure) {
    answer(Type::failed, with_limit(failure.failed()));
  } catch (const PluginRefused& refusal) {
    answer(Type::refused, protocol::Refused{refusal.reason()});
  } catch (const protocol::ProtocolError& error) {
    fail(HM_INVALID_ARGUMENT, error.what());
  } catch (const Error& error) {
    fail(HM_INVALID_ARGUMENT, error.line());
  } catch (const std::bad_alloc&) {
    fail(HM_OUT_OF_MEMORY, "the worker is out of memory");
  } catch (const std::exception& error) {
    fail(HM_INTERNAL, error.what());
  }
  return true;
}

void Session::dispatch(protocol::Frame& frame) {
  using namespace protocol;
  switch (frame.type()) {
    case Type::load:
      return load(decode<Load>(frame.payload).path);
    case Type::open:
      return open(decode<Open>(frame.payload));
    case Type::kernels:
      plugin();
      return answer(Type::plugin, description_);
    case Type::domains:
      return domains(decode<DomainsRequest>(frame.payload));
    case Type::supports:
      return supports(decode<SupportsRequest>(frame.payload));
    case Type::stage:
      return stage(decode<Stage>(frame.payload));
    case Type::reveal:
      return reveal(decode<Reveal>(frame.payload));
    case Type::sample:
      return sample(decode<SampleRequest>(frame.payload), frame);
    case Type::sequence:
      return sequence(decode<SequenceRequest>(frame.payload), frame);
    case Type::drop:
      return drop(decode<Drop>(frame.payload));
    case Type::token:
      return token();
    case Type::join:
      return join(decode<Join>(frame.payload));
    case Type::close:
      close();
      return send(Type::closed, "");
    case Type::probe:
      return probe(decode<ProbeRequest>(frame.payload), frame);
    case Type::memory:
      return memory();
    default:
      throw RequestFailed(HM_INVALID_ARGUMENT, "",
                          "no request of type " + std::to_string(frame.header.type));
  }
}

PluginInstance& Session::plugin() {
  if (!plugin_) throw RequestFailed(HM_INVALID_ARGUMENT, "", "no plugin is loaded");
  return *plugin_;
}

Session::OpenedDevice& Session::opened() {
  if (!opened_) throw RequestFailed(HM_INVALID_ARGUMENT, "", "no device is open");
  return *opened_;
}

StagedKernel& Session::staged(std::int64_t id, const char* phase) {
  const auto found = opened().staged.find(id);
  if (found == opened().staged.end()) {
    throw RequestFailed(HM_INVALID_ARGUMENT, phase, "nothing is staged as " + std::to_string(id));
  }
  return *found->second;
}

void Session::send(Type type, std::string_view payload, int fd) {
  if (!channel_.send(type, request_, 0, payload, fd)) throw ConversationOver{};
}

void Session::report_phase(const char* phase) {
  answer(Type::phase,
         protocol::PhaseNote{phase, opened_ ? opened_->data_limit.text() : std::string()});
}

// The limit that a kernel met is part of why it failed.
protocol::Failed Session::with_limit(protocol::Failed failed) const {
  if (failed.code == HM_OUT_OF_MEMORY && opened_ && !opened_->data_limit.text().empty()) {
    failed.message += "; it had " + opened_->data_limit.text();
  }
  return failed;
}

void Session::send_samples(const std::vector<double>& block) {
  constexpr std::size_t doubles_max = protocol::max_payload_bytes / sizeof(double);
  for (std::size_t at = 0; at < block.size(); at += doubles_max) {
    const std::size_t count = std::min(doubles_max, block.size() - at);
    const auto begin = block.begin() + static_cast<std::ptrdiff_t>(at);
    send(Type::samples, protocol::pack_doubles(std::vector<double>(
                            begin, begin + static_cast<std::ptrdiff_t>(count))));
  }
}

}  // namespace halmark::worker
