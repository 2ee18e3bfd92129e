// The module halmark_cpu_mpi.so: a group over MPI, apart from the backend, which loads without it.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include "comm.hpp"
#include "kernel.hpp"
#include "sums.hpp"

namespace hm_cpu {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw halmark::plugin::failure(HM_LAUNCH_FAILED, std::string(call) + ": " + text.data(), code);
}

void sum_bf16(void* in, void* in_out, int* length, MPI_Datatype*) {
  add_bf16(static_cast<const std::uint16_t*>(in), static_cast<std::uint16_t*>(in_out), *length);
}

void sum_f16(void* in, void* in_out, int* length, MPI_Datatype*) {
  add_f16(static_cast<const std::uint16_t*>(in), static_cast<std::uint16_t*>(in_out), *length);
}

const std::byte* at(const void* base, std::int64_t offset_bytes) {
  return static_cast<const std::byte*>(base) + offset_bytes;
}
std::byte* at(void* base, std::int64_t offset_bytes) {
  return static_cast<std::byte*>(base) + offset_bytes;
}

int first_rank(std::string_view token) {
  int rank = -1;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), rank);
  if (error != std::errc{} || end != token.data() + token.size() || rank < 0) {
    invalid("the token of an MPI group is the number of its first rank");
  }
  return rank;
}

// MPI counts are int: longer messages go in pieces.
template <typename Call>
void in_pieces(std::int64_t count, Call&& call) {
  constexpr std::int64_t piece = Comm::largest_count;
  for (std::int64_t first = 0; first < count; first += piece) {
    call(first, static_cast<int>(std::min(piece, count - first)));
  }
}

class MpiComm : public Comm {
 public:
  MpiComm(std::string_view token, std::uint32_t rank, std::uint32_t size, bool has_threads);
  ~MpiComm() override;
  MpiComm(const MpiComm&) = delete;
  MpiComm& operator=(const MpiComm&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  std::string library_version() const override;
  void all_reduce(const void* source, void* target, std::int64_t count,
                  std::int32_t dtype) const override;
  void reduce_scatter(const void* source, void* target, std::int64_t count,
                      std::int32_t dtype) const override;
  void all_gather(const void* source, void* target, std::int64_t bytes) const override;
  void all_to_all(const void* source, void* target, std::int64_t bytes) const override;
  void broadcast(const void* source, void* target, std::int64_t bytes) const override;
  void shift(const void* source, void* target, std::int64_t bytes) const override;

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
  int size_ = 0;
};

MpiComm::Runtime::~Runtime() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owned && finalized == 0) MPI_Finalize();
}

MpiComm::MpiComm(std::string_view token, std::uint32_t rank, std::uint32_t size, bool has_threads) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) invalid("MPI has ended in this process; a group lives in fresh workers");
  if (initialized == 0) {
    // One thread calls MPI. Where there are others, Open MPI 4.1 has to know, and takes 4 to 6 %
    // more time for messages of 64 KiB.
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, has_threads ? MPI_THREAD_FUNNELED : MPI_THREAD_SINGLE,
                          &provided),
          "MPI_Init_thread");
    runtime_.owned = true;
  }
  // The caller's world stays untouched, and errors come back as codes instead of ending the ranks.
  if (token.empty()) {
    check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  } else {
    check(MPI_Comm_split(MPI_COMM_WORLD, first_rank(token), static_cast<int>(rank), &comm_),
          "MPI_Comm_split");
  }
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  if (static_cast<std::uint32_t>(rank_) != rank || static_cast<std::uint32_t>(size_) != size) {
    invalid("rank " + std::to_string(rank) + " of " + std::to_string(size) +
            " was asked for, but mpirun made this process rank " + std::to_string(rank_) + " of " +
            std::to_string(size_));
  }
  check(MPI_Type_contiguous(2, MPI_BYTE, &half_), "MPI_Type_contiguous");
  check(MPI_Type_commit(&half_), "MPI_Type_commit");
  check(MPI_Op_create(sum_bf16, 1, &bf16_sum_), "MPI_Op_create");
  check(MPI_Op_create(sum_f16, 1, &f16_sum_), "MPI_Op_create");
}

MpiComm::~MpiComm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (f16_sum_ != MPI_OP_NULL) MPI_Op_free(&f16_sum_);
  if (bf16_sum_ != MPI_OP_NULL) MPI_Op_free(&bf16_sum_);
  if (half_ != MPI_DATATYPE_NULL) MPI_Type_free(&half_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::string MpiComm::library_version() const {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view version(text.data());
  return std::string(version.substr(0, version.find_first_of(",\n")));
}

MpiComm::Sum MpiComm::sum_of(std::int32_t dtype) const {
  switch (dtype) {
    case HM_DTYPE_F32:
      return {MPI_FLOAT, MPI_SUM, 4};
    case HM_DTYPE_S32:
      return {MPI_INT32_T, MPI_SUM, 4};
    case HM_DTYPE_BF16:
      return {half_, bf16_sum_, 2};
    case HM_DTYPE_F16:
      return {half_, f16_sum_, 2};
    default:
      unsupported("ranks sum f32, s32, bf16 and f16, not " + std::string(dtype_name(dtype)));
  }
}

void MpiComm::all_reduce(const void* source, void* target, std::int64_t count,
                         std::int32_t dtype) const {
  const Sum sum = sum_of(dtype);
  in_pieces(count, [&](std::int64_t first, int length) {
    const std::int64_t offset_bytes = first * sum.width_bytes;
    check(MPI_Allreduce(at(source, offset_bytes), at(target, offset_bytes), length, sum.type,
                        sum.op, comm_),
          "MPI_Allreduce");
  });
}

void MpiComm::reduce_scatter(const void* source, void* target, std::int64_t count,
                             std::int32_t dtype) const {
  const Sum sum = sum_of(dtype);
  check(MPI_Reduce_scatter_block(source, target, static_cast<int>(count), sum.type, sum.op, comm_),
        "MPI_Reduce_scatter_block");
}

void MpiComm::all_gather(const void* source, void* target, std::int64_t bytes) const {
  const int length = static_cast<int>(bytes);
  check(MPI_Allgather(source, length, MPI_BYTE, target, length, MPI_BYTE, comm_), "MPI_Allgather");
}

void MpiComm::all_to_all(const void* source, void* target, std::int64_t bytes) const {
  const int length = static_cast<int>(bytes);
  check(MPI_Alltoall(source, length, MPI_BYTE, target, length, MPI_BYTE, comm_), "MPI_Alltoall");
}

void MpiComm::broadcast(const void* source, void* target, std::int64_t bytes) const {
  // The root sends its source, so that the others do not wait for its own copy.
  void* const buffer = rank_ == 0 ? const_cast<void*>(source) : target;
  in_pieces(bytes, [&](std::int64_t first, int length) {
    check(MPI_Bcast(at(buffer, first), length, MPI_BYTE, 0, comm_), "MPI_Bcast");
  });
  if (rank_ == 0) std::memcpy(target, source, static_cast<std::size_t>(bytes));
}

void MpiComm::shift(const void* source, void* target, std::int64_t bytes) const {
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  in_pieces(bytes, [&](std::int64_t first, int length) {
    check(MPI_Sendrecv(at(source, first), length, MPI_BYTE, next, 0, at(target, first), length,
                       MPI_BYTE, previous, 0, comm_, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  });
}

}  // namespace
}  // namespace hm_cpu

extern "C" __attribute__((visibility("default"))) hm_cpu::Comm* hm_cpu_make_mpi_comm(
    std::string_view token, std::uint32_t rank, std::uint32_t size, bool has_threads) {
  return new hm_cpu::MpiComm(token, rank, size, has_threads);
}
