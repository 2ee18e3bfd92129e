#include "bare_mpi.hpp"

#include <fcntl.h>
#include <mpi.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "core/text/error.hpp"
#include "host/group.hpp"
#include "tests/checkout.hpp"
#include "worker/affinity.hpp"
#include "worker/host_memory.hpp"

namespace halmark::bench {
namespace {

std::string request_path(const std::string& folder, int rank) {
  return folder + "/request." + std::to_string(rank);
}
std::string answer_path(const std::string& folder) { return folder + "/answer"; }

FileDescriptor open_pipe(const std::string& path, int mode) {
  FileDescriptor pipe(::open(path.c_str(), mode | O_CLOEXEC));
  if (!pipe) throw Error(ExitCode::error, "cannot open", path);
  return pipe;
}

FileDescriptor make_pipe(const std::string& path) {
  if (::mkfifo(path.c_str(), 0600) != 0) throw Error(ExitCode::error, "cannot make", path);
  return open_pipe(path, O_RDWR);  // does not wait for the other end
}

bool read_all(int fd, void* target, std::size_t bytes) {
  auto* at = static_cast<char*>(target);
  while (bytes > 0) {
    const ssize_t count = ::read(fd, at, bytes);
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

bool write_all(int fd, const void* source, std::size_t bytes) {
  const auto* at = static_cast<const char*>(source);
  while (bytes > 0) {
    const ssize_t count = ::write(fd, at, bytes);
    if (count <= 0) return false;
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
  return true;
}

// Where the worker puts an operand: on pages of its own, one line behind their beginning.
struct Operand {
  explicit Operand(std::int64_t bytes)
      : block(worker::HostMemory::map_own(static_cast<std::uint64_t>(bytes) + 3 * 64)),
        data(block.data() + 64) {}
  worker::HostBlock block;
  std::byte* data;
};

void fill(const Operand& source, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes / 4; ++i) {
    const float value = static_cast<float>(i % 17) / 16.0F - 0.5F;
    std::memcpy(source.data + 4 * i, &value, 4);
  }
}

struct Ranks {
  int rank = 0, size = 1;
};

void call_once(const BareMpiRequest& request, Ranks ranks, std::byte* source, std::byte* target) {
  const MPI_Comm world = MPI_COMM_WORLD;
  const auto bytes = static_cast<int>(request.source_bytes);
  switch (request.call) {
    case BareCall::all_reduce:
      MPI_Allreduce(source, target, bytes / 4, MPI_FLOAT, MPI_SUM, world);
      return;
    case BareCall::all_gather:
      MPI_Allgather(source, bytes, MPI_BYTE, target, bytes, MPI_BYTE, world);
      return;
    case BareCall::reduce_scatter:
      MPI_Reduce_scatter_block(source, target, bytes / 4 / ranks.size, MPI_FLOAT, MPI_SUM, world);
      return;
    case BareCall::all_to_all:
      MPI_Alltoall(source, bytes / ranks.size, MPI_BYTE, target, bytes / ranks.size, MPI_BYTE,
                   world);
      return;
    case BareCall::broadcast:
      MPI_Bcast(ranks.rank == 0 ? source : target, bytes, MPI_BYTE, 0, world);
      if (ranks.rank == 0) std::memcpy(target, source, static_cast<std::size_t>(bytes));
      return;
    case BareCall::send_recv:
      MPI_Sendrecv(source, bytes, MPI_BYTE, (ranks.rank + 1) % ranks.size, 0, target, bytes,
                   MPI_BYTE, (ranks.rank + ranks.size - 1) % ranks.size, 0, world,
                   MPI_STATUS_IGNORE);
      return;
  }
}

std::vector<double> time_calls(const BareMpiRequest& request, Ranks ranks) {
  const Operand source(request.source_bytes), target(request.target_bytes);
  fill(source, request.source_bytes);
  for (std::int64_t i = 0; i < request.warm_up; ++i) {
    call_once(request, ranks, source.data, target.data);
  }
  std::vector<double> own(static_cast<std::size_t>(request.samples)), slowest(own.size());
  for (double& ns : own) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin_ns = monotonic_ns();
    for (std::int64_t i = 0; i < request.repeat; ++i) {
      call_once(request, ranks, source.data, target.data);
    }
    ns = (monotonic_ns() - begin_ns) / static_cast<double>(request.repeat);
  }
  MPI_Reduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, 0,
             MPI_COMM_WORLD);
  return slowest;
}

std::string cpus_text(const CpuSet& cpus) {
  std::string text;
  for (const int cpu : cpus.cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text;
}

std::vector<int> cpus_of_text(const std::string& text) {
  std::vector<int> cpus;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) cpus.push_back(std::stoi(item));
  return cpus;
}

}  // namespace

BareMpi::BareMpi(const std::string& mpirun, std::span<const CpuSet> cpus)
    : folder_(std::filesystem::path(test::in_build())) {
  const std::string folder = folder_.path().string();
  std::vector<std::string> command{std::filesystem::read_symlink("/proc/self/exe").string(),
                                   bare_mpi_argument, folder};
  for (std::size_t rank = 0; rank < cpus.size(); ++rank) {
    requests_.push_back(make_pipe(request_path(folder, static_cast<int>(rank))));
    command.push_back(cpus_text(cpus[rank]));
  }
  answers_ = make_pipe(answer_path(folder));
  process_ = ContainedProcess::start(group_process(mpirun, command, cpus, {}));
}

// The ranks sleep in a read that nothing ends.
BareMpi::~BareMpi() { process_->kill_all(); }

std::vector<double> BareMpi::time(const BareMpiRequest& request) {
  std::vector<double> out(static_cast<std::size_t>(request.samples));
  for (const FileDescriptor& pipe : requests_) {
    if (!write_all(pipe.get(), &request, sizeof request)) {
      throw Error(ExitCode::error, "the bare ranks take no request");
    }
  }
  for (pollfd entry{answers_.get(), POLLIN, 0}; ::poll(&entry, 1, 100) <= 0;) {
    if (!process_->running()) {
      throw Error(ExitCode::error, "the bare ranks ended: " + process_->log_tail());
    }
  }
  if (!read_all(answers_.get(), out.data(), out.size() * sizeof(double))) {
    throw Error(ExitCode::error, "the bare ranks gave no answer");
  }
  return out;
}

int serve_bare_mpi(int argc, char** argv) {
  const char* rank_text = std::getenv("OMPI_COMM_WORLD_RANK");
  const int expected = rank_text ? std::atoi(rank_text) : 0;
  if (argc < 4 + expected) return 2;
  // Before MPI starts, as the worker does: its memory belongs to the CPUs that it finds.
  worker::bind_to(cpus_of_text(argv[3 + expected]));
  MPI_Init(&argc, &argv);
  Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  const std::string folder = argv[2];
  const FileDescriptor requests = open_pipe(request_path(folder, ranks.rank), O_RDONLY);
  const FileDescriptor answers = open_pipe(answer_path(folder), O_WRONLY);
  for (BareMpiRequest request; read_all(requests.get(), &request, sizeof request);) {
    const std::vector<double> slowest = time_calls(request, ranks);
    if (ranks.rank == 0 &&
        !write_all(answers.get(), slowest.data(), slowest.size() * sizeof(double))) {
      break;
    }
  }
  MPI_Finalize();
  return 0;
}

}  // namespace halmark::bench
