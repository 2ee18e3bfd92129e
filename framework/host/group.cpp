#include "host/group.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <sstream>
#include <system_error>

#include "core/text/clean_text.hpp"
#include "core/text/error.hpp"

namespace halmark {
// Named, since a friend of the workers has one of these as its field.
namespace group_start {

// A private folder with one listening socket; both are gone when the group has connected.
class Listener {
 public:
  Listener() {
    const char* base = std::getenv("TMPDIR");
    std::string pattern = std::string(base && *base ? base : "/tmp") + "/halmark-XXXXXX";
    if (::mkdtemp(pattern.data()) == nullptr) throw unfit("cannot make a folder in " + pattern);
    folder_ = pattern;
    path_ = folder_ + "/group";
    socket_ = FileDescriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (!socket_ || path_.size() >= sizeof address.sun_path) {
      throw unfit("no Unix socket can be made at " + path_, "set TMPDIR to a shorter path");
    }
    std::copy(path_.begin(), path_.end(), address.sun_path);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_.get(), 128) != 0) {
      throw unfit("no Unix socket can be made at " + path_);
    }
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  const std::string& path() const { return path_; }
  // Nothing when nobody connected within 50 ms.
  FileDescriptor accept() {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 50) <= 0) return FileDescriptor();
    return FileDescriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  }

 private:
  std::string folder_, path_;
  FileDescriptor socket_;
};

std::string draw_token() {
  std::random_device device;
  std::ostringstream text;
  for (int i = 0; i < 8; ++i) text << std::hex << device();
  return text.str();
}

// Open MPI on one host: probing every fabric costs 200 ms per start, and as root it refuses to run.
Environment group_environment(const CpuSet& cpus, const Environment& named) {
  Environment environment = worker_environment(cpus, {});
  environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
  environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  environment["OMPI_MCA_pml"] = "ob1";
  // Shared memory is `vader` up to Open MPI 4 and `sm` since 5, and a name that a version does not
  // know ends the ranks: what leaves the host is excluded instead, which no version minds.
  environment["OMPI_MCA_btl"] = "^tcp,openib,ofi,uct,usnic,ugni,portals4,smcuda";
  environment["OMPI_MCA_mtl"] = "^ofi,psm2";
  environment["OMPI_MCA_osc"] = "^ucx";
  environment["OMPI_MCA_coll"] = "^hcoll,ucc";
  environment["OMPI_MCA_btl_base_warn_component_unused"] = "0";
  // mpirun gives the other ranks a second of grace when one died; nothing of theirs is worth it.
  environment["OMPI_MCA_odls_base_sigkill_timeout"] = "0";
  environment["PRTE_MCA_odls_base_sigkill_timeout"] = "0";  // since Open MPI 5
  // Ranks sleep in the kernel only if they are told that they share cores.
  environment["OMPI_MCA_mpi_yield_when_idle"] = "0";
  for (const auto& [name, value] : named) environment[name] = value;
  return environment;
}

CpuSet cpus_of_rank(const WorkerOptions& options) {
  return options.cpus ? *options.cpus : cpus_of(options.place);
}

CpuSet union_of(std::span<const CpuSet> sets) {
  CpuSet all;
  for (const CpuSet& set : sets) all.cpus.insert(all.cpus.end(), set.cpus.begin(), set.cpus.end());
  std::sort(all.cpus.begin(), all.cpus.end());
  all.cpus.erase(std::unique(all.cpus.begin(), all.cpus.end()), all.cpus.end());
  return all;
}

}  // namespace group_start

using namespace group_start;

// Builds Workers around sockets that connected to us.
class GroupStarter {
 public:
  explicit GroupStarter(std::span<const WorkerOptions> ranks)
      : options_(ranks), token_(draw_token()), workers_(ranks.size()) {
    for (const WorkerOptions& rank : ranks) cpus_.push_back(cpus_of_rank(rank));
  }

  Outcome<std::vector<std::unique_ptr<Worker>>> run(const std::string& mpirun) {
    launch(mpirun);
    const auto deadline = protocol::deadline_after(options_.front().limits.hello_s);
    for (std::size_t connected = 0; connected < workers_.size();) {
      if (!process_->running()) {
        const auto cause = process_->wait(protocol::deadline_after(0));
        return failed(Status::worker_lost, "mpirun ended before all ranks connected, " +
                                               (cause ? cause->text() : std::string("unknown")));
      }
      if (std::chrono::steady_clock::now() > *deadline) {
        return failed(Status::timed_out, "only " + std::to_string(connected) + " of " +
                                             std::to_string(workers_.size()) + " ranks connected");
      }
      if (FileDescriptor socket = listener_.accept()) connected += admit(std::move(socket));
    }
    for (std::size_t rank = 0; rank < workers_.size(); ++rank) {
      auto greeted = workers_[rank]->greet(options_[rank]);
      if (!greeted) return greeted.failure;
    }
    return std::move(workers_);
  }

 private:
  void launch(const std::string& mpirun) {
    const WorkerOptions& first = options_.front();
    ProcessSpec spec =
        group_process(mpirun,
                      {first.program.empty() ? program_beside("halmark-worker") : first.program,
                       "--connect", listener_.path(), "--token", token_},
                      cpus_, first.environment);
    spec.memory_limit_bytes = memory_limit_of(first);
    spec.processes = static_cast<int>(options_.size());
    spec.log_path = first.log_path;
    spec.keep_core = first.keep_core;
    process_ = ContainedProcess::start(spec);
  }

  // One if the connection is a rank of ours; a connection without the token is closed.
  std::size_t admit(FileDescriptor socket) {
    protocol::Channel channel(std::move(socket));
    auto received = channel.receive(protocol::deadline_after(5));
    if (!received || received.frame.type() != protocol::Type::hello) return 0;
    try {
      const auto hello = protocol::decode<protocol::Hello>(received.frame.payload);
      const auto rank = static_cast<std::size_t>(hello.rank);
      if (hello.token != token_ || hello.rank < 0 || rank >= workers_.size() || workers_[rank]) {
        return 0;
      }
      std::unique_ptr<Worker> worker(new Worker);
      worker->channel_ = std::move(channel);
      worker->process_ = process_;
      worker->hello_ = hello;
      worker->cpus_ = cpus_[rank];
      worker->limits_ = options_[rank].limits;
      workers_[rank] = std::move(worker);
      return 1;
    } catch (const protocol::ProtocolError&) {
      return 0;
    }
  }

  WorkerFailure failed(Status status, std::string reason) {
    process_->kill_all();
    const std::string log = cut_text(process_->log_tail(), 300);
    if (!log.empty()) reason += ": " + log;
    return {status, std::move(reason), "hello", 0, true};
  }

  std::span<const WorkerOptions> options_;
  std::string token_;
  Listener listener_;
  std::shared_ptr<ContainedProcess> process_;
  std::vector<CpuSet> cpus_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

ProcessSpec group_process(const std::string& mpirun, const std::vector<std::string>& command,
                          std::span<const CpuSet> cpus, const Environment& named) {
  ProcessSpec spec;
  spec.program = mpirun;
  spec.arguments = {"-n", std::to_string(cpus.size()), "--oversubscribe", "--bind-to", "none"};
  spec.arguments.insert(spec.arguments.end(), command.begin(), command.end());
  spec.is_launcher = true;
  spec.cpus = union_of(cpus);
  spec.environment = group_environment(cpus.front(), named);
  return spec;
}

std::string find_mpirun() {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/local/bin:/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string candidate = folder + "/mpirun";
    if (!folder.empty() && folder.front() == '/' && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

Outcome<std::vector<std::unique_ptr<Worker>>> start_group(std::span<const WorkerOptions> ranks) {
  const std::string mpirun = find_mpirun();
  if (mpirun.empty()) {
    return WorkerFailure{Status::unsupported,
                         "mpirun is not installed; install the package openmpi-bin", "start", 0,
                         true};
  }
  try {
    GroupStarter starter(ranks);
    return starter.run(mpirun);
  } catch (const std::exception& error) {
    return WorkerFailure{Status::worker_lost, error.what(), "start", 0, true};
  }
}

Outcome<std::vector<std::unique_ptr<Worker>>> start_group(const WorkerOptions& options, int ranks) {
  std::vector<WorkerOptions> each(static_cast<std::size_t>(ranks), options);
  for (WorkerOptions& rank : each) rank.workers_at_once = ranks;
  for (int rank = 0; rank < ranks; ++rank) {
    auto& place = each[static_cast<std::size_t>(rank)].place;
    place.parts = ranks;
    place.part = rank;
  }
  return start_group(each);
}

}  // namespace halmark
