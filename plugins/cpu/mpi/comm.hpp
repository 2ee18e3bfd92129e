// One group of ranks over MPI. MPI starts with the first communicator of a process and never when
// the plugin loads: compute workers do not pay for it.
#pragma once

#include <mpi.h>

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

  // The process must have been started by mpirun. `token`: own_rank() of the group's rank 0; all
  // ranks of mpirun join a group of more than one rank each at the same time. Without a token the
  // group is all of them, and `rank` must be MPI's own. A group of one needs neither mpirun nor
  // MPI. `has_threads`: this process has others than the calling one.
  Comm(std::string_view token, std::uint32_t rank, std::uint32_t size, bool has_threads);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  static std::string library_version();  // first line, as MPI states it
  // Of this process under mpirun, without starting MPI; empty where its launcher does not say.
  static std::string own_rank();

  // Sums are of f32, s32, bf16 or f16; the latter two round after every addition.
  void all_reduce(const void* source, void* target, std::int64_t count, std::int32_t dtype) const;
  // `count` and `bytes` are those of one block; the longer side has one block per rank.
  void reduce_scatter(const void* source, void* target, std::int64_t count,
                      std::int32_t dtype) const;
  void all_gather(const void* source, void* target, std::int64_t bytes) const;
  void all_to_all(const void* source, void* target, std::int64_t bytes) const;
  // From rank 0, whose own target is filled too.
  void broadcast(const void* source, void* target, std::int64_t bytes) const;
  // Sends to rank + 1 and receives from rank - 1.
  void shift(const void* source, void* target, std::int64_t bytes) const;

 private:
  // Ends MPI when this communicator started it, also when its constructor fails.
  struct Runtime {
    bool owned = false;
    ~Runtime();
  };
  struct Sum {
    MPI_Datatype type;
    MPI_Op op;
    std::int64_t width_bytes;
  };
  Sum sum_of(std::int32_t dtype) const;

  Runtime runtime_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype half_ = MPI_DATATYPE_NULL;  // 16 bits; the operation says which float they are
  MPI_Op bf16_sum_ = MPI_OP_NULL;
  MPI_Op f16_sum_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
};

std::unique_ptr<Comm> make_comm(std::string_view token, std::uint32_t rank, std::uint32_t size,
                                bool has_threads);

}  // namespace hm_cpu
