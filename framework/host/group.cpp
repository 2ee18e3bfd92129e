#include "host/group.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <sstream>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "host/nodes/group_starter.hpp"

namespace halmark {
namespace {

std::string draw_token() {
  std::random_device device;
  std::ostringstream text;
  for (int i = 0; i < 8; ++i) text << std::hex << device();
  return text.str();
}

// A private folder with one listening socket; both are gone when the group has connected.
class Listener : public RankAcceptor {
 public:
  Listener() : token_(draw_token()) {
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
    std::ranges::copy(path_, address.sun_path);
    if (::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
        ::listen(socket_.get(), 128) != 0) {
      throw unfit("no Unix socket can be made at " + path_);
    }
  }
  ~Listener() override {
    ::unlink(path_.c_str());
    ::rmdir(folder_.c_str());
  }
  std::vector<std::string> arguments() const override {
    return {"--connect", path_, "--token", token_};
  }
  const std::string& token() const override { return token_; }
  std::optional<protocol::Channel> accept() override {
    pollfd entry{socket_.get(), POLLIN, 0};
    if (::poll(&entry, 1, 50) <= 0) return std::nullopt;
    FileDescriptor rank(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!rank) return std::nullopt;
    return protocol::Channel(std::move(rank));
  }

 private:
  std::string token_, folder_, path_;
  FileDescriptor socket_;
};

// As root Open MPI refuses to run.
Environment launcher_environment(const CpuSet& cpus) {
  Environment environment = worker_environment(cpus, {});
  environment["OMPI_ALLOW_RUN_AS_ROOT"] = "1";
  environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1";
  // mpirun gives the other ranks a second of grace when one died; nothing of theirs is worth it.
  environment["OMPI_MCA_odls_base_sigkill_timeout"] = "0";
  environment["PRTE_MCA_odls_base_sigkill_timeout"] = "0";  // since Open MPI 5
  // Ranks sleep in the kernel only if they are told that they share cores.
  environment["OMPI_MCA_mpi_yield_when_idle"] = "0";
  return environment;
}

// Open MPI on one host: probing every fabric costs 200 ms per start.
Environment group_environment(const CpuSet& cpus, const Environment& named) {
  Environment environment = launcher_environment(cpus);
  environment["OMPI_MCA_pml"] = "ob1";
  // Shared memory is `vader` up to Open MPI 4 and `sm` since 5, and a name that a version does not
  // know ends the ranks: what leaves the host is excluded instead, which no version minds.
  environment["OMPI_MCA_btl"] = "^tcp,openib,ofi,uct,usnic,ugni,portals4,smcuda";
  environment["OMPI_MCA_mtl"] = "^ofi,psm2";
  environment["OMPI_MCA_osc"] = "^ucx";
  environment["OMPI_MCA_coll"] = "^hcoll,ucc";
  environment["OMPI_MCA_btl_base_warn_component_unused"] = "0";
  for (const auto& [name, value] : named) environment[name] = value;
  return environment;
}

CpuSet union_of(std::span<const CpuSet> sets) {
  CpuSet all;
  for (const CpuSet& set : sets) append_all(all.cpus, set.cpus);
  std::ranges::sort(all.cpus);
  all.cpus.erase(std::ranges::unique(all.cpus).begin(), all.cpus.end());
  return all;
}

}  // namespace

ProcessSpec group_process(const std::string& mpirun, const std::vector<std::string>& command,
                          std::span<const CpuSet> cpus, const Environment& named) {
  ProcessSpec spec;
  spec.program = mpirun;
  spec.arguments = {"-n", std::to_string(cpus.size()), "--oversubscribe", "--bind-to", "none"};
  append_all(spec.arguments, command);
  spec.is_launcher = true;
  spec.cpus = union_of(cpus);
  spec.environment = group_environment(cpus.front(), named);
  return spec;
}

ProcessSpec group_process_over(const std::vector<NodeRanks>& nodes, const std::string& mpirun,
                               const std::vector<std::string>& command,
                               std::span<const CpuSet> cpus, const Environment& named) {
  ProcessSpec spec = group_process(mpirun, command, cpus, {});
  spec.environment = launcher_environment(cpus.front());
  for (const auto& [name, value] : named) spec.environment[name] = value;
  std::vector<std::string> where = launcher_arguments(nodes);
  for (const auto& [name, value] : spec.environment) {
    // mpirun hands on its own variables to other nodes, and no others; threads have to spin there
    // as they do here.
    const bool is_for_ranks = named.contains(name) || name.starts_with("OMP_") ||
                              name.starts_with("GOMP_") || name.starts_with("POCL_");
    if (is_for_ranks) where.insert(where.end(), {"-x", name});
  }
  spec.arguments.insert(spec.arguments.begin(), where.begin(), where.end());
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
  using Ranks = Outcome<std::vector<std::unique_ptr<Worker>>>;
  return GroupStarter::under_launcher([&](const std::string& mpirun) -> Ranks {
    Listener listener;
    GroupStarter starter(ranks, listener);
    if (auto failure = starter.connect(
            group_process(mpirun, starter.command(), starter.cpus(), ranks.front().environment))) {
      return *failure;
    }
    if (auto failure = starter.greet()) return *failure;
    return starter.take();
  });
}

Outcome<std::vector<std::unique_ptr<Worker>>> start_group(const WorkerOptions& options, int ranks) {
  std::vector<WorkerOptions> each(as_size(ranks), options);
  for (WorkerOptions& rank : each) rank.workers_at_once = ranks;
  for (const int rank : below(ranks)) {
    auto& place = each[as_size(rank)].place;
    place.parts = ranks;
    place.part = rank;
  }
  return start_group(each);
}

}  // namespace halmark
