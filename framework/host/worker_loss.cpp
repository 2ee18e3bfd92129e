// How a worker is lost, and what its end says of the reason.
#include <signal.h>

#include "host/process/out_of_memory.hpp"
#include "host/worker_client.hpp"

namespace halmark {
namespace {

using protocol::ReceiveStatus;

constexpr double exit_wait_s = 5;  // mpirun needs a second to tell how a rank ended

bool is_fault_signal(int signal) {
  return signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE ||
         signal == SIGABRT || signal == SIGTRAP || signal == SIGSYS;
}

WorkerFailure failure_of_exit(const ExitCause& cause) {
  WorkerFailure failure;
  failure.signal = cause.signal;
  if (cause.out_of_memory) {
    failure.status = Status::out_of_memory;
    failure.reason = "the worker was killed for its memory (host): " + cause.evidence;
  } else if (cause.signal == SIGKILL) {
    failure.reason = "the worker was killed from outside (SIGKILL): " + cause.evidence;
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

// mpirun ends every rank when one dies and says which it was: "mpirun noticed that process rank 1
// with PID 77 on node x exited on signal 11"; since Open MPI 5 it calls itself prterun.
std::string culprit_rank(const std::string& log) {
  constexpr std::string_view lead = " noticed that process rank ";
  const auto found = log.rfind(lead);
  if (found == std::string::npos) return {};
  const auto begin = found + lead.size();
  const auto end = log.find_first_not_of("0123456789", begin);
  return " (rank " + log.substr(begin, end == std::string::npos ? end : end - begin) + ")";
}

}  // namespace

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

// An exception that nobody caught, and an address that malloc did not give.
void Worker::blame_memory(WorkerFailure& failure, const std::string& log) const {
  const auto says = [&](std::string_view what) { return log.find(what) != std::string::npos; };
  const std::int64_t bytes = process_->memory_limit_bytes();
  std::string limit = memory_limit_;
  if (limit.empty() && bytes > 0) limit = "limit " + std::to_string(bytes >> 20) + " MiB";
  const bool threw = failure.signal == SIGABRT && says("std::bad_alloc");
  if (threw || (failure.signal == SIGSEGV && says(out_of_memory_mark))) {
    failure.status = Status::out_of_memory;
    failure.reason = std::string("the worker was out of memory (host): ") +
                     (threw ? "std::bad_alloc" : "nothing was left to give, signal 11") +
                     (limit.empty() ? "" : ", " + limit);
  } else if (failure.signal == SIGSEGV && !memory_limit_.empty()) {
    failure.reason += "; it had " + memory_limit_;
  }
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
  const std::string log = process_->log_tail();
  blame_memory(failure, log);
  failure.reason += culprit_rank(log);
  return lose(std::move(failure));
}

}  // namespace halmark
