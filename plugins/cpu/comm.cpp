#include "comm.hpp"

#include <halmark_plugin.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "kernel.hpp"

namespace hm_cpu {
namespace {

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  throw halmark::plugin::failure(HM_LAUNCH_FAILED, std::string(call) + ": " + text.data(), code);
}

float widened(std::uint16_t half) { return std::bit_cast<float>(std::uint32_t{half} << 16); }

// To nearest, ties to even; NaN stays quiet.
std::uint16_t narrowed(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const std::uint32_t quiet = (bits >> 16) | 0x40u;
  return static_cast<std::uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded);
}

void add_bf16(void* in, void* in_out, int* length, MPI_Datatype*) {
  const auto* source = static_cast<const std::uint16_t*>(in);
  auto* target = static_cast<std::uint16_t*>(in_out);
  for (int i = 0; i < *length; ++i) target[i] = narrowed(widened(target[i]) + widened(source[i]));
}

// MPI counts are int: longer messages go in pieces.
template <typename Call>
void in_pieces(std::int64_t count, Call&& call) {
  constexpr std::int64_t piece = std::numeric_limits<int>::max();
  for (std::int64_t first = 0; first < count; first += piece) {
    call(first, static_cast<int>(std::min(piece, count - first)));
  }
}

}  // namespace

Comm::Runtime::~Runtime() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (owned && finalized == 0) MPI_Finalize();
}

Comm::Comm(std::uint32_t rank, std::uint32_t size) {
  if (rank >= size) invalid("rank " + std::to_string(rank) + " of " + std::to_string(size));
  if (size == 1) return;
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (finalized != 0) invalid("MPI has ended in this process; a group lives in fresh workers");
  if (initialized == 0) {
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
    runtime_.owned = true;
  }
  // The caller's world stays untouched, and errors come back as codes instead of ending the ranks.
  check(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), "MPI_Comm_dup");
  check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  if (static_cast<std::uint32_t>(rank_) != rank || static_cast<std::uint32_t>(size_) != size) {
    invalid("rank " + std::to_string(rank) + " of " + std::to_string(size) +
            " was asked for, but mpirun made this process rank " + std::to_string(rank_) + " of " +
            std::to_string(size_));
  }
  check(MPI_Type_contiguous(2, MPI_BYTE, &bf16_), "MPI_Type_contiguous");
  check(MPI_Type_commit(&bf16_), "MPI_Type_commit");
  check(MPI_Op_create(add_bf16, 1, &bf16_sum_), "MPI_Op_create");
}

Comm::~Comm() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized != 0) return;
  if (bf16_sum_ != MPI_OP_NULL) MPI_Op_free(&bf16_sum_);
  if (bf16_ != MPI_DATATYPE_NULL) MPI_Type_free(&bf16_);
  if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
}

std::string Comm::library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string_view version(text.data());
  return std::string(version.substr(0, version.find_first_of(",\n")));
}

void Comm::all_reduce(const void* source, void* target, std::int64_t count, Sum sum) const {
  if (size_ == 1) {
    std::memcpy(target, source, static_cast<std::size_t>(count) * (sum == Sum::bf16 ? 2 : 4));
    return;
  }
  const MPI_Datatype type = sum == Sum::f32 ? MPI_FLOAT : sum == Sum::s32 ? MPI_INT32_T : bf16_;
  const MPI_Op op = sum == Sum::bf16 ? bf16_sum_ : MPI_SUM;
  const std::int64_t width = sum == Sum::bf16 ? 2 : 4;
  in_pieces(count, [&](std::int64_t first, int length) {
    check(MPI_Allreduce(static_cast<const std::byte*>(source) + first * width,
                        static_cast<std::byte*>(target) + first * width, length, type, op, comm_),
          "MPI_Allreduce");
  });
}

void Comm::all_gather(const void* source, void* target, std::int64_t bytes) const {
  if (size_ == 1) {
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
    return;
  }
  if (bytes > std::numeric_limits<int>::max()) unsupported("all_gather of 2 GiB per rank or more");
  const int length = static_cast<int>(bytes);
  check(MPI_Allgather(source, length, MPI_BYTE, target, length, MPI_BYTE, comm_), "MPI_Allgather");
}

void Comm::shift(const void* source, void* target, std::int64_t bytes) const {
  if (size_ == 1) {
    std::memcpy(target, source, static_cast<std::size_t>(bytes));
    return;
  }
  const int next = (rank_ + 1) % size_, previous = (rank_ + size_ - 1) % size_;
  in_pieces(bytes, [&](std::int64_t first, int length) {
    check(MPI_Sendrecv(static_cast<const std::byte*>(source) + first, length, MPI_BYTE, next, 0,
                       static_cast<std::byte*>(target) + first, length, MPI_BYTE, previous, 0,
                       comm_, MPI_STATUS_IGNORE),
          "MPI_Sendrecv");
  });
}

std::unique_ptr<Comm> make_comm(std::string_view token, std::uint32_t rank, std::uint32_t size) {
  if (!token.empty()) invalid("the token of an MPI group is empty");
  return std::make_unique<Comm>(rank, size);
}

}  // namespace hm_cpu
