// The same MPI calls in a bare loop, in ranks of their own with the group's settings, CPUs and kind
// of memory: what the harness is compared with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "child.hpp"
#include "host/process/contained_process.hpp"
#include "host/process/file_descriptor.hpp"

namespace halmark::bench {

enum class BareCall : std::int64_t {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_recv,
};

struct BareMpiRequest {
  BareCall call = BareCall::all_reduce;
  std::int64_t source_bytes = 0, target_bytes = 0;  // of one rank, f32 values
  std::int64_t warm_up = 0, samples = 0, repeat = 1;
};

// The parent's end. Each rank reads its requests from a file of its own and sleeps meanwhile: a
// rank that waited inside MPI would spin on the CPUs of the harness. One thread.
class BareMpi {
 public:
  BareMpi(const std::string& mpirun, std::span<const CpuSet> cpus);  // throws Error (exit 5)
  ~BareMpi();
  BareMpi(const BareMpi&) = delete;
  BareMpi& operator=(const BareMpi&) = delete;

  // Nanoseconds of one call per sample, the slowest rank of each; the ranks start every sample
  // together. Throws Error (exit 1) when a rank is gone.
  std::vector<double> time(const BareMpiRequest& request);

 private:
  ScratchFolder folder_;
  std::vector<FileDescriptor> requests_;  // one per rank
  FileDescriptor answers_;
  std::unique_ptr<ContainedProcess> process_;
};

// The child's end: the body of main when the program was started with `bare_mpi_argument`, the
// folder of the pipes, and the CPUs of every rank.
inline constexpr const char* bare_mpi_argument = "--bare-mpi";
int serve_bare_mpi(int argc, char** argv);

}  // namespace halmark::bench
