#include "host/worker_client.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/error.hpp"
#include "core/version.hpp"
#include "host/plugin.hpp"

namespace halmark {
namespace {

using protocol::Frame;
using protocol::ReceiveStatus;
using protocol::Type;

constexpr std::size_t block_doubles_max = 64u << 20;  // of one request, over all its blocks
constexpr double exit_wait_s = 5;  // mpirun needs a second to tell how a rank ended
constexpr double quit_wait_s = 0.5;
constexpr double log_check_s = 1;

WorkerFailure malformed(std::string reason) {
  return {Status::worker_lost, "the worker's answer is malformed: " + std::move(reason), "", 0,
          true};
}

bool is_fault_signal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

WorkerFailure failure_of_exit(const ExitCause& cause) {
  WorkerFailure failure;
  failure.signal = cause.signal;
  if (cause.out_of_memory || cause.signal == SIGKILL) {
    failure.status = Status::out_of_memory;
    failure.reason = "the worker was killed for its memory (host)";
  } else if (is_fault_signal(cause.signal)) {
    failure.status = Status::crashed;
    failure.reason = "the worker died of " + cause.text();
    if (cause.signal == SIGILL) {
      failure.reason += ": usually an instruction set that the plugin did not check";
    }
  } else {
    failure.reason = "the worker left without an answer, " + cause.text();
  }
  return failure;
}

// mpirun ends every rank when one dies and says which it was: "process rank 1 with PID 77 on node x
// exited on signal 11".
std::string culprit_rank(const std::string& log) {
  constexpr std::string_view lead = "mpirun noticed that process rank ";
  const auto found = log.rfind(lead);
  if (found == std::string::npos) return {};
  const auto begin = found + lead.size();
  const auto end = log.find_first_not_of("0123456789", begin);
  return " (rank " + log.substr(begin, end == std::string::npos ? end : end - begin) + ")";
}

template <class Message>
Outcome<Message> decoded(std::string_view payload) {
  try {
    return protocol::decode<Message>(payload);
  } catch (const protocol::ProtocolError& error) {
    return malformed(error.what());
  }
}

// Every sample is finite and positive but device_ns, where NaN means that there is none.
std::optional<std::vector<RawSample>> raw_samples(const std::vector<double>& block) {
  if (block.size() % raw_sample_doubles != 0) return std::nullopt;
  std::vector<RawSample> samples;
  samples.reserve(block.size() / raw_sample_doubles);
  for (std::size_t i = 0; i < block.size(); i += raw_sample_doubles) {
    const double set = block[i + 4];
    RawSample sample{block[i], block[i + 1], block[i + 2], std::nullopt, 0};
    if (!std::isfinite(sample.begin_ns) || !std::isfinite(sample.wall_ns) || sample.wall_ns < 0 ||
        !std::isfinite(sample.cpu_ns) || !(set >= 0 && set <= 1 << 30)) {
      return std::nullopt;
    }
    if (std::isinf(block[i + 3])) return std::nullopt;
    if (!std::isnan(block[i + 3])) sample.device_ns = block[i + 3];
    sample.set = static_cast<int>(set);
    samples.push_back(sample);
  }
  return samples;
}

}  // namespace

std::string program_beside(const std::string& name) {
  std::error_code failure;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", failure);
  if (failure) throw unfit("cannot find the running program in /proc");
  const auto beside = self.parent_path() / name;
  if (std::filesystem::exists(beside, failure)) return beside.string();
  // Test programs lie in tests/ next to bin/.
  const auto in_bin = self.parent_path().parent_path() / "bin" / name;
  if (std::filesystem::exists(in_bin, failure)) return in_bin.string();
  return beside.string();
}

std::span<const std::byte> RevealAnswer::part(const protocol::RevealedPart& part) const {
  return memory.view().subspan(static_cast<std::size_t>(part.offset),
                               static_cast<std::size_t>(part.bytes));
}

Outcome<std::unique_ptr<Worker>> Worker::start(const WorkerOptions& options) {
  try {
    std::unique_ptr<Worker> worker(new Worker);
    auto [ours, theirs] = protocol::socket_pair();
    worker->channel_ = protocol::Channel(std::move(ours));
    worker->limits_ = options.limits;
    worker->cpus_ = options.cpus ? *options.cpus : cpus_of(options.place);
    ProcessSpec spec;
    spec.program = options.program.empty() ? program_beside("halmark-worker") : options.program;
    spec.environment = worker_environment(worker->cpus_, options.environment);
    spec.cpus = worker->cpus_;
    spec.protocol_fd = theirs.get();
    spec.memory_limit_bytes = options.memory_limit_bytes;
    spec.limit_address_space = options.limit_address_space;
    spec.log_path = options.log_path;
    spec.keep_core = options.keep_core;
    worker->process_ = ContainedProcess::start(spec);
    theirs.reset();  // or the worker's end of file would never reach us
    auto greeted = worker->greet(options);
    if (!greeted) return greeted.failure;
    return worker;
  } catch (const std::exception& error) {
    return WorkerFailure{Status::worker_lost, error.what(), "start", 0, true};
  }
}

Worker::~Worker() { process_.reset(); }

// A compute worker speaks second; a rank of a group has spoken first, and this is the answer to it.
Outcome<Done> Worker::greet(const WorkerOptions& options) {
  protocol::Hello hello;
  hello.memory_limit_bytes = options.memory_limit_bytes;
  hello.cache_dir = options.cache_dir;
  hello.build = tool_build;
  hello.rank = hello_.rank;
  hello.cpus = cpus_.cpus;
  hello.pid = ::getpid();
  if (options.arena) hello.arena_bytes = options.arena->bytes();
  begin(Type::hello, Type::hello, hello, limits_.hello_s, "hello",
        options.arena ? options.arena->fd() : -1);
  auto answer = finish<protocol::Hello>();
  if (!answer) return answer.failure;
  if (answer->protocol != protocol::version) {
    return kill_for(Status::worker_lost,
                    "the worker speaks protocol " + std::to_string(answer->protocol) + ", not " +
                        std::to_string(protocol::version) + ": install halmark-worker anew");
  }
  hello_ = *answer;
  return Done{};
}

// ---- one request in flight --------------------------------------------------------------------

template <class Message>
void Worker::begin(Type type, Type expected, const Message& message, double limit_s,
                   const char* phase, int fd) {
  begin_frame(type, expected, protocol::encode(message), limit_s, phase, fd);
}

void Worker::begin_frame(Type type, Type expected, std::string payload, double limit_s,
                         const char* phase, int fd) {
  pending_ = Pending{};
  pending_.expected = expected;
  pending_.request = next_request_++;
  pending_.deadline = protocol::deadline_after(limit_s);
  if (gone_) {
    pending_.failure = gone_;
    return;
  }
  phase_ = phase;
  if (!channel_.send(type, pending_.request, 0, payload, fd, pending_.deadline)) {
    // The answer to a broken pipe is in how the worker ended.
    protocol::Received received;
    received.status = ReceiveStatus::closed;
    received.reason = payload.size() > protocol::max_payload_bytes
                          ? "the request exceeds the frame limit"
                          : "the worker does not read";
    pending_.failure = lost(received);
  }
}

void Worker::enter_phase(const std::string& phase) {
  phase_ = phase;
  if (phase == "create") pending_.deadline = protocol::deadline_after(limits_.create_s);
  if (phase == "pack") pending_.deadline = protocol::deadline_after(limits_.pack_s);
  if (phase == "first") pending_.deadline = protocol::deadline_after(limits_.first_s);
}

void Worker::take(Frame frame) {
  const Type type = frame.type();
  if (frame.header.request != pending_.request) {
    pending_.failure = kill_for(Status::worker_lost, "the worker answered another request");
  } else if (type == Type::phase) {
    auto note = decoded<protocol::PhaseNote>(frame.payload);
    if (note) {
      enter_phase(printable(note->phase).substr(0, 32));
    } else {
      pending_.failure = kill_for(Status::worker_lost, note.failure.reason);
    }
  } else if (type == Type::samples && pending_.takes_samples) {
    const auto block = protocol::unpack_doubles(frame.payload);
    if (!block || block->size() + pending_.samples.size() > block_doubles_max) {
      pending_.failure = kill_for(Status::worker_lost, "a samples block has a bad length");
    } else {
      pending_.samples.insert(pending_.samples.end(), block->begin(), block->end());
    }
  } else if (type == Type::failed) {
    auto failed = decoded<protocol::Failed>(frame.payload);
    if (!failed) {
      pending_.failure = kill_for(Status::worker_lost, failed.failure.reason);
      return;
    }
    WorkerFailure failure{status_of_code(failed->code), printable(failed->message),
                          failed->phase.empty() ? phase_ : printable(failed->phase), 0, false};
    if (failure.reason.empty()) failure.reason = std::string(status_name(failure.status));
    pending_.failure = std::move(failure);
  } else if (type == Type::refused) {
    auto refusal = decoded<protocol::Refused>(frame.payload);
    pending_.failure =
        refusal ? WorkerFailure{Status::refused, printable(refusal->reason), phase_, 0, false}
                : kill_for(Status::worker_lost, refusal.failure.reason);
  } else if (type == pending_.expected) {
    pending_.answer = std::move(frame);
  } else {
    pending_.failure = kill_for(Status::worker_lost, "the worker sent an answer of another kind");
  }
}

void Worker::pump() {
  // Woken once a second at most: the worker may be measuring on the core we would use.
  const auto check = protocol::deadline_after(log_check_s);
  const bool deadline_first = pending_.deadline && *pending_.deadline < *check;
  pollfd entry{channel_.fd(), POLLIN, 0};
  const auto until = deadline_first ? *pending_.deadline : *check;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  const int ready = ::poll(&entry, 1, static_cast<int>(std::max<long long>(0, left.count())));
  if (ready > 0) {
    auto received = channel_.receive(pending_.deadline);
    if (received) {
      take(std::move(received.frame));
    } else {
      pending_.failure = lost(received);
    }
  } else if (pending_.deadline && std::chrono::steady_clock::now() >= *pending_.deadline) {
    protocol::Received received;
    received.status = ReceiveStatus::timed_out;
    pending_.failure = lost(received);
  }
  const auto now = std::chrono::steady_clock::now();
  if (process_ && now >= next_log_check_) {
    process_->trim_log();
    next_log_check_ = *protocol::deadline_after(log_check_s);
  }
}

std::optional<WorkerFailure> Worker::settle() {
  while (!pending_.is_settled()) pump();
  return pending_.failure;
}

template <class Message>
Outcome<Message> Worker::finish() {
  if (auto failure = settle()) return *failure;
  auto message = decoded<Message>(pending_.answer->payload);
  if (!message) return kill_for(Status::worker_lost, message.failure.reason);
  return message;
}

WorkerFailure Worker::lose(WorkerFailure failure) {
  failure.worker_is_gone = true;
  if (failure.phase.empty()) failure.phase = phase_;
  channel_.close();
  if (!gone_) gone_ = failure;
  if (!pending_.is_settled()) pending_.failure = failure;
  return failure;
}

WorkerFailure Worker::kill_for(Status status, std::string reason) {
  WorkerFailure failure{status, std::move(reason), phase_, 0, true};
  if (process_ && !process_->kill_all()) {
    failure.status = Status::device_lost;
    failure.reason += "; it could not be killed, the device is lost";
  }
  return lose(std::move(failure));
}

WorkerFailure Worker::lost(const protocol::Received& received) {
  if (received.status == ReceiveStatus::timed_out) {
    return kill_for(Status::timed_out, "no answer within the limit of phase '" + phase_ + "'");
  }
  if (received.status == ReceiveStatus::malformed || received.status == ReceiveStatus::truncated) {
    // A truncated frame may be a crash in the middle of a write: how the process ended tells.
    const auto cause = process_ ? process_->wait(protocol::deadline_after(0.05)) : std::nullopt;
    if (!cause) return kill_for(Status::worker_lost, "bad frame: " + received.reason);
  }
  const auto cause =
      process_ ? process_->wait(protocol::deadline_after(exit_wait_s)) : std::nullopt;
  if (!cause) {
    return kill_for(Status::worker_lost,
                    "the worker closed its connection (" + received.reason + ")");
  }
  WorkerFailure failure = failure_of_exit(*cause);
  if (cause->killed_by_us) {
    failure.status = Status::worker_lost;
    failure.reason = "the worker was ended by us";
  }
  process_->kill_all();  // what it may have left behind
  failure.reason += culprit_rank(process_->log_tail());
  return lose(std::move(failure));
}

// ---- requests ---------------------------------------------------------------------------------

Outcome<protocol::PluginDescription> Worker::load(const std::string& path) {
  begin(Type::load, Type::plugin, protocol::Load{path}, limits_.load_s, "load");
  return finish<protocol::PluginDescription>();
}

Outcome<protocol::DeviceDescription> Worker::open(std::uint32_t index, const Config& options) {
  begin(Type::open, Type::opened, protocol::Open{index, options}, limits_.open_s, "open");
  return finish<protocol::DeviceDescription>();
}

Outcome<std::vector<protocol::DomainDescription>> Worker::domains(const std::string& kernel,
                                                                  const Problem& problem) {
  begin(Type::domains, Type::answer, protocol::DomainsRequest{kernel, problem}, limits_.query_s,
        "domains");
  auto answer = finish<protocol::DomainsAnswer>();
  if (!answer) return answer.failure;
  return std::move(answer->domains);
}

Outcome<protocol::SupportsAnswer> Worker::supports(const std::string& kernel,
                                                   const Problem& problem,
                                                   const std::vector<Config>& configs) {
  begin(Type::supports, Type::answer, protocol::SupportsRequest{kernel, problem, configs},
        limits_.query_s, "supports");
  auto answer = finish<protocol::SupportsAnswer>();
  if (!answer) return answer.failure;
  if (answer->status.size() != configs.size() || answer->reason.size() != configs.size()) {
    return kill_for(Status::worker_lost, "supports answered another number of configs");
  }
  return answer;
}

Outcome<protocol::Staged> Worker::stage(const protocol::Stage& request) {
  begin_stage(request);
  return finish_stage();
}

void Worker::begin_stage(const protocol::Stage& request) {
  begin(Type::stage, Type::staged, request, limits_.create_s, "create");
}

Outcome<protocol::Staged> Worker::finish_stage() { return finish<protocol::Staged>(); }

Outcome<RevealAnswer> Worker::reveal(const protocol::Reveal& request) {
  begin(Type::reveal, Type::revealed, request, limits_.query_s, "reveal");
  auto revealed = finish<protocol::Revealed>();
  if (!revealed) return revealed.failure;
  RevealAnswer answer{std::move(*revealed), {}};
  std::int64_t end = 0;
  for (const protocol::RevealedPart& part : answer.revealed.parts) {
    if (part.offset < 0 || part.bytes < 0 || part.offset > (std::int64_t{1} << 42) ||
        part.bytes > (std::int64_t{1} << 42)) {
      return kill_for(Status::worker_lost, "a revealed part lies outside its memory");
    }
    end = std::max(end, part.offset + part.bytes);
  }
  if (end == 0) return answer;
  auto& fds = pending_.answer->fds;
  if (fds.empty()) return kill_for(Status::worker_lost, "revealed bytes came without memory");
  try {
    answer.memory = SharedMemory::map(std::move(fds.front()), end, Access::read_only, false);
  } catch (const std::exception& error) {
    return kill_for(Status::worker_lost, error.what());
  }
  return answer;
}

Outcome<SampleAnswer> Worker::sample(const protocol::SampleRequest& request, int barrier_fd) {
  begin_sample(request, barrier_fd);
  return finish_sample();
}

void Worker::begin_sample(const protocol::SampleRequest& request, int barrier_fd) {
  begin(Type::sample, Type::measured, request,
        request.wall_cap_s + request.rule.warmup_cap_s + limits_.sample_margin_s, "warm",
        barrier_fd);
  pending_.takes_samples = true;
}

Outcome<SampleAnswer> Worker::finish_sample() {
  auto measured = finish<protocol::Measured>();
  if (!measured) return measured.failure;
  auto samples = raw_samples(pending_.samples);
  if (!samples) return kill_for(Status::worker_lost, "a sample is not finite");
  return SampleAnswer{std::move(*samples), std::move(*measured)};
}

Outcome<SequenceAnswer> Worker::sequence(const protocol::SequenceRequest& request, int barrier_fd) {
  begin_sequence(request, barrier_fd);
  return finish_sequence();
}

void Worker::begin_sequence(const protocol::SequenceRequest& request, int barrier_fd) {
  begin(Type::sequence, Type::measured, request, request.wall_cap_s + limits_.sample_margin_s,
        "sequence", barrier_fd);
  pending_.takes_samples = true;
}

Outcome<SequenceAnswer> Worker::finish_sequence() {
  auto measured = finish<protocol::Measured>();
  if (!measured) return measured.failure;
  for (double ns : pending_.samples) {
    if (!std::isfinite(ns) || ns < 0) {
      return kill_for(Status::worker_lost, "a step time is not finite");
    }
  }
  return SequenceAnswer{std::move(pending_.samples), std::move(*measured)};
}

Outcome<Done> Worker::drop(std::int64_t id) {
  begin(Type::drop, Type::dropped, protocol::Drop{id}, limits_.query_s, "drop");
  if (auto failure = settle()) return *failure;
  return Done{};
}

Outcome<protocol::TokenAnswer> Worker::token() {
  begin_frame(Type::token, Type::answer, "", limits_.query_s, "token");
  return finish<protocol::TokenAnswer>();
}

Outcome<Done> Worker::join(const protocol::Join& request) {
  begin_join(request);
  return finish_join();
}

void Worker::begin_join(const protocol::Join& request) {
  begin(Type::join, Type::joined, request, limits_.join_s, "join");
}

Outcome<Done> Worker::finish_join() {
  if (auto failure = settle()) return *failure;
  return Done{};
}

Outcome<protocol::ProbeAnswer> Worker::probe(const protocol::ProbeRequest& request) {
  const double windows_s = request.windows * request.window_ms * 1e-3;
  begin(Type::probe, Type::answer, request, windows_s + limits_.probe_margin_s, "probe");
  return finish<protocol::ProbeAnswer>();
}

Outcome<Done> Worker::close() {
  begin_frame(Type::close, Type::closed, "", limits_.close_s, "close");
  if (auto failure = settle()) return *failure;
  return Done{};
}

void Worker::quit() {
  if (!gone_ && process_) {
    phase_ = "quit";
    [[maybe_unused]] const bool sent = channel_.send(Type::quit, next_request_++, 0, "", -1,
                                                     protocol::deadline_after(quit_wait_s));
    // Ranks leave together: waiting here for mpirun would wait for the ranks not yet asked.
    if (process_.use_count() > 1) {
      lose({Status::worker_lost, "the worker was asked to leave", phase_, 0, true});
      process_.reset();
      return;
    }
    process_->wait(protocol::deadline_after(quit_wait_s));
  }
  kill();
}

bool Worker::kill() {
  const bool is_dead = !process_ || process_->kill_all();
  if (!gone_) lose({Status::worker_lost, "the worker was ended by us", phase_, SIGKILL, true});
  return is_dead;
}

bool Worker::alive() { return !gone_ && process_ && process_->running(); }

std::string Worker::log_tail() { return process_ ? process_->log_tail() : ""; }

void Worker::await_all(std::span<Worker* const> workers, const std::function<void()>& on_failure) {
  bool told = false;
  while (true) {
    std::vector<pollfd> entries;
    std::vector<Worker*> waiting;
    auto next = *protocol::deadline_after(log_check_s);
    for (Worker* worker : workers) {
      const Pending& pending = worker->pending_;
      if (pending.failure && !told && on_failure) {
        told = true;
        on_failure();
      }
      if (pending.is_settled()) continue;
      entries.push_back({worker->channel_.fd(), POLLIN, 0});
      waiting.push_back(worker);
      if (pending.deadline) next = std::min(next, *pending.deadline);
    }
    if (waiting.empty()) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
    ::poll(entries.data(), entries.size(), static_cast<int>(std::max<long long>(0, left.count())));
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      const auto& deadline = waiting[i]->pending_.deadline;
      const bool is_late = deadline && std::chrono::steady_clock::now() >= *deadline;
      if (entries[i].revents != 0 || is_late) waiting[i]->pump();
    }
  }
}

}  // namespace halmark
