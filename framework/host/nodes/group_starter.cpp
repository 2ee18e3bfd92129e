#include "host/nodes/group_starter.hpp"

#include "core/lists.hpp"
#include "core/text/clean_text.hpp"

namespace halmark {

std::vector<std::string> GroupStarter::command() const {
  const WorkerOptions& first = options_.front();
  std::vector<std::string> out{first.program.empty() ? program_beside("halmark-worker")
                                                     : first.program};
  const std::vector<std::string> arguments = acceptor_.arguments();
  append_all(out, arguments);
  return out;
}

std::optional<WorkerFailure> GroupStarter::connect(ProcessSpec launcher) {
  const WorkerOptions& first = options_.front();
  launcher.memory_limit_bytes = memory_bytes_;
  launcher.processes = as_int(options_.size());
  launcher.log_path = first.log_path;
  launcher.keep_core = first.keep_core;
  process_ = ContainedProcess::start(launcher);
  const auto deadline = protocol::deadline_after(first.limits.hello_s);
  for (std::size_t connected = 0; connected < workers_.size() || !acceptor_.is_complete();) {
    if (!process_->running()) {
      const auto cause = process_->wait(protocol::deadline_after(0));
      return failed(Status::worker_lost, "mpirun ended before all ranks connected, " +
                                             (cause ? cause->text() : std::string("unknown")));
    }
    if (std::chrono::steady_clock::now() > *deadline) {
      return failed(Status::timed_out, "only " + std::to_string(connected) + " of " +
                                           std::to_string(workers_.size()) + " ranks connected");
    }
    if (auto channel = acceptor_.accept()) connected += admit(std::move(*channel));
  }
  return std::nullopt;
}

std::optional<WorkerFailure> GroupStarter::greet() {
  for (const auto rank : indices(workers_)) {
    auto greeted = workers_[rank]->greet(options_[rank]);
    if (!greeted) return greeted.failure;
  }
  return std::nullopt;
}

// One if the connection is a rank of ours; a connection without the token is closed.
std::size_t GroupStarter::admit(protocol::Channel channel) {
  auto received = channel.receive(protocol::deadline_after(5));
  if (!received || received.frame.type() != protocol::Type::hello) return 0;
  try {
    const auto hello = protocol::decode<protocol::Hello>(received.frame.payload);
    const auto rank = as_size(hello.rank);
    if (hello.token != acceptor_.token() || hello.rank < 0 || rank >= workers_.size() ||
        workers_[rank]) {
      return 0;
    }
    std::unique_ptr<Worker> worker(new Worker);
    worker->channel_ = std::move(channel);
    worker->process_ = process_;
    worker->hello_ = hello;
    worker->cpus_ = cpus_[rank];
    worker->limits_ = options_[rank].limits;
    worker->limits_.memory_bytes = memory_bytes_;
    workers_[rank] = std::move(worker);
    return 1;
  } catch (const protocol::ProtocolError&) {
    return 0;
  }
}

WorkerFailure GroupStarter::failed(Status status, std::string reason) {
  process_->kill_all();
  const std::string log = cut_text(process_->log_tail(), 300);
  if (!log.empty()) reason += ": " + log;
  return {status, std::move(reason), "hello", 0, true};
}

}  // namespace halmark
