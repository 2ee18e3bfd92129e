// One group of ranks over MPI. MPI starts with the first communicator of a process and never when
// the plugin loads: compute workers do not pay for it.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hm_cpu {

// Element types that ranks can sum.
enum class Sum { f32, s32, bf16 };

// One thread drives a communicator. Every call returns when this rank's part is done.
class Comm {
 public:
  // The process must have been started by mpirun with `size` ranks; `rank` must be MPI's own. A
  // group of one needs neither mpirun nor MPI.
  Comm(std::uint32_t rank, std::uint32_t size);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  static std::string library_version();  // first line, as MPI states it

  void all_reduce(const void* source, void* target, std::int64_t count, Sum sum) const;
  void all_gather(const void* source, void* target, std::int64_t bytes) const;
  // Sends to rank + 1 and receives from rank - 1.
  void shift(const void* source, void* target, std::int64_t bytes) const;

 private:
  // Ends MPI when this communicator started it, also when its constructor fails.
  struct Runtime {
    bool owned = false;
    ~Runtime();
  };
  Runtime runtime_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Datatype bf16_ = MPI_DATATYPE_NULL;
  MPI_Op bf16_sum_ = MPI_OP_NULL;
  int rank_ = 0;
  int size_ = 1;
};

// The token carries nothing: mpirun already connected the ranks.
std::unique_ptr<Comm> make_comm(std::string_view token, std::uint32_t rank, std::uint32_t size);

}  // namespace hm_cpu
