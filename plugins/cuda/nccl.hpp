// One group of ranks over NCCL, looked for at run time: only collectives of several ranks need it.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace hm_cuda {

struct NcclFunctions;

class Nccl {
 public:
  explicit Nccl(const std::string& file = "libnccl.so.2");
  ~Nccl();
  // Why there is none; empty where there is one.
  const std::string& absence() const { return absence_; }
  std::string version() const;  // "2.28.3"
  // What rank 0 gives to the others; throws where it cannot be made.
  std::string make_token() const;

 private:
  friend class Comm;
  std::shared_ptr<const NcclFunctions> functions_;  // null = absent
  std::string absence_;
};

// A rank of a group; one thread drives it. A group that could not be joined (no library, two ranks
// on one device) exists all the same and says why not: the problems that need it are refused then.
// A group of one goes through the library too where there is one, and is a copy elsewhere.
class Comm {
 public:
  Comm(const Nccl& nccl, int ordinal, std::string_view token, std::uint32_t rank,
       std::uint32_t size);
  ~Comm();
  Comm(const Comm&) = delete;
  Comm& operator=(const Comm&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const std::string& absence() const { return absence_; }
  bool has_library() const { return comm_ != nullptr; }
  std::string library_version() const;

  // Sums are of f32, s32, bf16 or f16 (HM_DTYPE_*). `count` and `bytes` are those of one block; the
  // longer side has one block per rank. All queue on `stream`.
  void all_reduce(cudaStream_t stream, const void* source, void* target, std::uint64_t count,
                  std::int64_t dtype) const;
  void reduce_scatter(cudaStream_t stream, const void* source, void* target, std::uint64_t count,
                      std::int64_t dtype) const;
  void all_gather(cudaStream_t stream, const void* source, void* target, std::uint64_t bytes) const;
  void all_to_all(cudaStream_t stream, const void* source, void* target, std::uint64_t bytes) const;
  void broadcast(cudaStream_t stream, const void* source, void* target, std::uint64_t bytes) const;
  // Sends to rank + 1 and receives from rank - 1.
  void shift(cudaStream_t stream, const void* source, void* target, std::uint64_t bytes) const;

 private:
  void check(int result, const char* what) const;

  std::shared_ptr<const NcclFunctions> functions_;
  void* comm_ = nullptr;
  int rank_, size_;
  std::string absence_, version_;
};

// HM_DTYPE_* as NCCL numbers it; negative = it does not sum this type here.
int nccl_dtype(std::int64_t dtype);

}  // namespace hm_cuda
