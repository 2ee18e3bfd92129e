#include "host/worker_client.hpp"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "host/plugin/plugin.hpp"
#include "host/process/run_memory.hpp"
#include "host/worker_pending.hpp"

namespace halmark {
namespace {

using protocol::Frame;
using protocol::ReceiveStatus;
using protocol::Type;

constexpr std::size_t block_doubles_max = 64u << 20;  // of one request, over all its blocks
constexpr double quit_wait_s = 0.5;
constexpr double log_check_s = 1;
constexpr std::chrono::seconds pause_min{2};

}  // namespace

std::int64_t memory_limit_of(const WorkerOptions& options) {
  return options.limits.memory_bytes ? *options.limits.memory_bytes
                                     : run_memory().worker_bytes(options.workers_at_once);
}

Outcome<std::unique_ptr<Worker>> Worker::start(const WorkerOptions& options) {
  try {
    std::unique_ptr<Worker> worker(new Worker);
    auto [ours, theirs] = protocol::socket_pair();
    worker->channel_ = protocol::Channel(std::move(ours));
    worker->limits_ = options.limits;
    worker->limits_.memory_bytes = memory_limit_of(options);
    worker->cpus_ = options.cpus ? *options.cpus : cpus_of(options.place);
    ProcessSpec spec;
    spec.program = options.program.empty() ? program_beside("halmark-worker") : options.program;
    spec.environment = worker_environment(worker->cpus_, options.environment);
    spec.cpus = worker->cpus_;
    spec.protocol_fd = theirs.get();
    spec.memory_limit_bytes = *worker->limits_.memory_bytes;
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
  hello.memory_limit_bytes = memory_limit_bytes();
  hello.cache_dir = options.cache_dir;
  hello.build = tool_build;
  hello.rank = hello_.rank;
  hello.cpus = cpus_.cpus;
  hello.pid = ::getpid();
  if (options.arena) hello.arena_bytes = arena_bytes_ = options.arena->bytes();
  begin(Type::hello, Type::hello, hello, limits_.hello_s, "hello",
        options.arena ? options.arena->fd() : -1);
  auto answer = finish<protocol::Hello>();
  if (!answer) return answer.failure;
  if (answer->protocol != protocol::version) {
    return kill_for(Status::worker_lost,
                    "the worker speaks protocol " + std::to_string(answer->protocol) + ", not " +
                        std::to_string(protocol::version) + ": reinstall halmark-worker");
  }
  hello_ = *answer;
  return Done{};
}

// ---- one request in flight --------------------------------------------------------------------

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
      if (!note->memory_limit.empty()) memory_limit_ = message_text(note->memory_limit);
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
    WorkerFailure failure{status_of_code(failed->code), message_text(failed->message),
                          failed->phase.empty() ? phase_ : printable(failed->phase), 0, false};
    if (failure.reason.empty()) failure.reason = std::string(status_name(failure.status));
    pending_.failure = std::move(failure);
  } else if (type == Type::refused) {
    auto refusal = decoded<protocol::Refused>(frame.payload);
    pending_.failure =
        refusal ? WorkerFailure{Status::refused, message_text(refusal->reason), phase_, 0, false}
                : kill_for(Status::worker_lost, refusal.failure.reason);
  } else if (type == pending_.expected) {
    pending_.answer = std::move(frame);
  } else {
    pending_.failure = kill_for(Status::worker_lost, "the worker sent an answer of another kind");
  }
}

// A poll that returns seconds too late did not wait: this process was stopped, or the machine was
// suspended, and the worker may have been too. That is no hang of the plugin.
void Worker::allow_for_pause(std::chrono::steady_clock::duration late) {
  if (late > pause_min && pending_.deadline) *pending_.deadline += late;
}

void Worker::pump() {
  // Woken once a second at most: the worker may be measuring on the core we would use.
  const auto check = protocol::deadline_after(log_check_s);
  const bool deadline_first = pending_.deadline && *pending_.deadline < *check;
  pollfd entry{channel_.fd(), POLLIN, 0};
  const auto until = deadline_first ? *pending_.deadline : *check;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
  const int ready = ::poll(&entry, 1, as_int(std::max<long long>(0, left.count())));
  allow_for_pause(std::chrono::steady_clock::now() - until);
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
    ::poll(entries.data(), entries.size(), as_int(std::max<long long>(0, left.count())));
    const auto late = std::chrono::steady_clock::now() - next;
    for (Worker* worker : waiting) worker->allow_for_pause(late);
    for (const auto i : indices(waiting)) {
      const auto& deadline = waiting[i]->pending_.deadline;
      const bool is_late = deadline && std::chrono::steady_clock::now() >= *deadline;
      if (entries[i].revents != 0 || is_late) waiting[i]->pump();
    }
  }
}

}  // namespace halmark
