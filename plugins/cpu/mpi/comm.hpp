// One group of ranks. MPI is opened and starts with the first communicator of a process that needs
// it and never when the plugin loads: compute workers do not pay for it, and a machine without MPI
// loses collectives between ranks and nothing else.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

namespace hm_cpu {

// One thread drives a communicator. Every call returns when this rank's part is done, and wants
// counts that MPI can say, see largest_count.
class Comm {
 public:
  // Elements, or bytes of a move, that one block of a call may have; longer ones are refused before
  // anything runs. all_reduce, broadcast and shift go in pieces and have no limit.
  static constexpr std::int64_t largest_count = std::numeric_limits<int>::max();

  virtual ~Comm() = default;
  // Of this process under mpirun, without starting MPI; empty where its launcher does not say.
  static std::string own_rank();

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string library_version() const = 0;  // first line, as MPI states it

  // Sums are of f32, s32, bf16 or f16; the latter two round after every addition.
  virtual void all_reduce(const void* source, void* target, std::int64_t count,
                          std::int32_t dtype) const = 0;
  // `count` and `bytes` are those of one block; the longer side has one block per rank.
  virtual void reduce_scatter(const void* source, void* target, std::int64_t count,
                              std::int32_t dtype) const = 0;
  virtual void all_gather(const void* source, void* target, std::int64_t bytes) const = 0;
  virtual void all_to_all(const void* source, void* target, std::int64_t bytes) const = 0;
  // From rank 0, whose own target is filled too.
  virtual void broadcast(const void* source, void* target, std::int64_t bytes) const = 0;
  // Sends to rank + 1 and receives from rank - 1.
  virtual void shift(const void* source, void* target, std::int64_t bytes) const = 0;
};

// The process must have been started by mpirun. `token`: own_rank() of the group's rank 0; all
// ranks of mpirun join a group of more than one rank each at the same time. Without a token the
// group is all of them, and `rank` must be MPI's own. A group of one needs neither mpirun nor MPI.
// `has_threads`: this process has others than the calling one. Throws failure where MPI is absent.
std::unique_ptr<Comm> make_comm(std::string_view token, std::uint32_t rank, std::uint32_t size,
                                bool has_threads);

// What the module exports, by this name: a group of two ranks or more, owned by the caller.
using MakeMpiComm = Comm*(std::string_view token, std::uint32_t rank, std::uint32_t size,
                          bool has_threads);
inline constexpr const char* make_mpi_comm_symbol = "hm_cpu_make_mpi_comm";

}  // namespace hm_cpu
