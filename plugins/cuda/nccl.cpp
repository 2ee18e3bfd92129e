#include "nccl.hpp"

#include <cstring>

#include "cuda.hpp"
#include "dynamic_library.hpp"

namespace hm_cuda {

// The library's stable C interface (nccl.h of NCCL 2): its header is a package that toolkits may
// leave out.
namespace {
struct UniqueId {
  char internal[128];
};
constexpr int success = 0, type_bytes = 1, operation_sum = 0, root = 0;
}  // namespace

struct NcclFunctions {
  int (*version)(int*);
  int (*unique_id)(UniqueId*);
  int (*init_rank)(void**, int ranks, UniqueId, int rank);
  int (*destroy)(void*);
  const char* (*error_text)(int);
  int (*all_reduce)(const void*, void*, std::size_t, int, int, void*, cudaStream_t);
  int (*reduce_scatter)(const void*, void*, std::size_t, int, int, void*, cudaStream_t);
  int (*all_gather)(const void*, void*, std::size_t, int, void*, cudaStream_t);
  int (*broadcast)(const void*, void*, std::size_t, int, int, void*, cudaStream_t);
  int (*send)(const void*, std::size_t, int, int, void*, cudaStream_t);
  int (*receive)(void*, std::size_t, int, int, void*, cudaStream_t);
  int (*group_start)();
  int (*group_end)();
};

int nccl_dtype(std::int64_t dtype) {
  switch (dtype) {
    case HM_DTYPE_S32:
      return 2;
    case HM_DTYPE_F16:
      return 6;
    case HM_DTYPE_F32:
      return 7;
    case HM_DTYPE_BF16:
      return 9;
    default:
      return -1;
  }
}

Nccl::Nccl(const std::string& file) {
  DynamicLibrary library(file);
  auto found = std::make_shared<NcclFunctions>();
  library.find(found->version, "ncclGetVersion");
  library.find(found->unique_id, "ncclGetUniqueId");
  library.find(found->init_rank, "ncclCommInitRank");
  library.find(found->destroy, "ncclCommDestroy");
  library.find(found->error_text, "ncclGetErrorString");
  library.find(found->all_reduce, "ncclAllReduce");
  library.find(found->reduce_scatter, "ncclReduceScatter");
  library.find(found->all_gather, "ncclAllGather");
  library.find(found->broadcast, "ncclBroadcast");
  library.find(found->send, "ncclSend");
  library.find(found->receive, "ncclRecv");
  library.find(found->group_start, "ncclGroupStart");
  library.find(found->group_end, "ncclGroupEnd");
  absence_ = library.absence();
  if (absence_.empty()) functions_ = std::move(found);
}

Nccl::~Nccl() = default;

std::string Nccl::version() const {
  int version = 0;  // 22803 = 2.28.3
  if (!functions_ || functions_->version(&version) != success) return {};
  return std::to_string(version / 10000) + '.' + std::to_string(version / 100 % 100) + '.' +
         std::to_string(version % 100);
}

std::string Nccl::make_token() const {
  UniqueId id{};
  const int result = functions_->unique_id(&id);
  if (result != success) {
    throw plug::failure(HM_INTERNAL,
                        std::string("ncclGetUniqueId: ") + functions_->error_text(result), result);
  }
  return {id.internal, sizeof id.internal};
}

Comm::Comm(const Nccl& nccl, int ordinal, std::string_view token, std::uint32_t rank,
           std::uint32_t size)
    : functions_(nccl.functions_),
      rank_(static_cast<int>(rank)),
      size_(static_cast<int>(size)),
      version_(nccl.version()) {
  if (!functions_) {
    if (size > 1) absence_ = "collectives of several ranks need NCCL: " + nccl.absence();
    return;
  }
  UniqueId id{};
  if (size == 1) {
    if (functions_->unique_id(&id) != success) return;
  } else if (token.size() != sizeof id.internal) {
    absence_ = "rank 0 has no NCCL, which collectives of several ranks need";
    return;
  } else {
    std::memcpy(id.internal, token.data(), sizeof id.internal);
  }
  hm_cuda::check(cudaSetDevice(ordinal), "cudaSetDevice");
  const int result = functions_->init_rank(&comm_, size_, id, rank_);
  if (result == success) return;
  comm_ = nullptr;
  if (size == 1) return;
  absence_ = std::string("ncclCommInitRank: ") + functions_->error_text(result) +
             " (every rank needs a device of its own)";
}

Comm::~Comm() {
  if (comm_ != nullptr) functions_->destroy(comm_);
}

std::string Comm::library_version() const { return version_; }

void Comm::check(int result, const char* what) const {
  if (result == success) return;
  throw plug::failure(HM_LAUNCH_FAILED, std::string(what) + ": " + functions_->error_text(result),
                      result);
}

void Comm::all_reduce(cudaStream_t stream, const void* source, void* target, std::uint64_t count,
                      std::int64_t dtype) const {
  check(functions_->all_reduce(source, target, count, nccl_dtype(dtype), operation_sum, comm_,
                               stream),
        "ncclAllReduce");
}

void Comm::reduce_scatter(cudaStream_t stream, const void* source, void* target,
                          std::uint64_t count, std::int64_t dtype) const {
  check(functions_->reduce_scatter(source, target, count, nccl_dtype(dtype), operation_sum, comm_,
                                   stream),
        "ncclReduceScatter");
}

void Comm::all_gather(cudaStream_t stream, const void* source, void* target,
                      std::uint64_t bytes) const {
  check(functions_->all_gather(source, target, bytes, type_bytes, comm_, stream), "ncclAllGather");
}

void Comm::all_to_all(cudaStream_t stream, const void* source, void* target,
                      std::uint64_t bytes) const {
  const auto* from = static_cast<const char*>(source);
  auto* to = static_cast<char*>(target);
  check(functions_->group_start(), "ncclGroupStart");
  for (int peer = 0; peer < size_; ++peer) {
    const std::uint64_t offset = static_cast<std::uint64_t>(peer) * bytes;
    check(functions_->send(from + offset, bytes, type_bytes, peer, comm_, stream), "ncclSend");
    check(functions_->receive(to + offset, bytes, type_bytes, peer, comm_, stream), "ncclRecv");
  }
  check(functions_->group_end(), "ncclGroupEnd");
}

void Comm::broadcast(cudaStream_t stream, const void* source, void* target,
                     std::uint64_t bytes) const {
  check(functions_->broadcast(source, target, bytes, type_bytes, root, comm_, stream),
        "ncclBroadcast");
}

void Comm::shift(cudaStream_t stream, const void* source, void* target, std::uint64_t bytes) const {
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  check(functions_->group_start(), "ncclGroupStart");
  check(functions_->send(source, bytes, type_bytes, next, comm_, stream), "ncclSend");
  check(functions_->receive(target, bytes, type_bytes, previous, comm_, stream), "ncclRecv");
  check(functions_->group_end(), "ncclGroupEnd");
}

}  // namespace hm_cuda
