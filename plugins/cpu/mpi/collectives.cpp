// The collectives between the ranks of a group: one table of MPI calls, one kernel for each line.
#include <array>

#include "comm.hpp"
#include "kernel.hpp"

namespace hm_cpu {
namespace {

// What one execution of a problem exchanges.
struct Message {
  const Comm& comm;
  const void* source;
  void* target;
  std::int64_t count, bytes;  // of one block: the whole source, or one rank's part of it
  std::int32_t dtype;
};

enum class Blocks { none, source, target, both };  // which side has one block per rank

struct Collective {
  std::string_view kernel, op, call;
  Blocks blocks;
  bool sums;
  bool goes_in_pieces;
  void (*run)(const Message&);
  bool splits_source() const { return blocks == Blocks::source || blocks == Blocks::both; }
  bool splits_target() const { return blocks == Blocks::target || blocks == Blocks::both; }
};

constexpr std::array<Collective, 6> collectives{{
    {"mpi_all_reduce", "all_reduce", "MPI_Allreduce", Blocks::none, true, true,
     [](const Message& m) { m.comm.all_reduce(m.source, m.target, m.count, m.dtype); }},
    {"mpi_all_gather", "all_gather", "MPI_Allgather", Blocks::target, false, false,
     [](const Message& m) { m.comm.all_gather(m.source, m.target, m.bytes); }},
    {"mpi_reduce_scatter", "reduce_scatter", "MPI_Reduce_scatter_block", Blocks::source, true,
     false, [](const Message& m) { m.comm.reduce_scatter(m.source, m.target, m.count, m.dtype); }},
    {"mpi_all_to_all", "all_to_all", "MPI_Alltoall", Blocks::both, false, false,
     [](const Message& m) { m.comm.all_to_all(m.source, m.target, m.bytes); }},
    {"mpi_broadcast", "broadcast", "MPI_Bcast", Blocks::none, false, true,
     [](const Message& m) { m.comm.broadcast(m.source, m.target, m.bytes); }},
    {"mpi_send_recv", "send_recv", "MPI_Sendrecv", Blocks::none, false, true,
     [](const Message& m) { m.comm.shift(m.source, m.target, m.bytes); }},
}};

bool can_sum(std::int32_t dtype) {
  return dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_S32 || dtype == HM_DTYPE_BF16 ||
         dtype == HM_DTYPE_F16;
}

std::int64_t block_bytes(const Collective& collective, const Params& problem) {
  return problem.extent("bytes") / (collective.splits_source() ? problem.extent("ranks") : 1);
}

class CollectivePrepared : public Prepared {
 public:
  CollectivePrepared(const Comm& comm, const Collective& collective, std::int64_t bytes,
                     std::int32_t dtype)
      : comm_(comm),
        collective_(collective),
        bytes_(bytes),
        count_(bytes / element_bytes(dtype)),
        dtype_(dtype) {
    operands = {
        {.name = "src",
         .role = HM_ROLE_INPUT,
         .dtype = dtype,
         .dims = dims(collective.splits_source())},
        {.name = "dst",
         .role = HM_ROLE_OUTPUT,
         .dtype = dtype,
         .dims = dims(collective.splits_target())},
    };
    if (comm.size() == 1) {
      info.implementation = "halmark:copy";
      return;
    }
    info.implementation = collective.call;
    info.library = "MPI";
    info.library_version = comm.library_version();
  }

  void run(void* const* buffers, void*) override {
    collective_.run({comm_, buffers[0], buffers[1], count_, bytes_, dtype_});
  }

 private:
  std::vector<std::int64_t> dims(bool is_split) const {
    if (is_split) return {comm_.size(), count_};
    return {count_};
  }

  const Comm& comm_;
  const Collective& collective_;
  const std::int64_t bytes_, count_;  // of one block
  const std::int32_t dtype_;
};

class CollectiveKernel : public Kernel {
 public:
  explicit CollectiveKernel(const Collective& collective) : collective_(collective) {}

  std::string_view name() const override { return collective_.kernel; }
  std::string_view op() const override { return collective_.op; }
  bool is_collective() const override { return true; }

  void require_support(const Device&, const Params& problem, const Params& config) const override {
    reject_unknown(problem, {"bytes", "ranks", "dtype"});
    reject_unknown(config, {});
    const std::int32_t dtype = problem.dtype("dtype");
    const std::int64_t width = element_bytes(dtype);
    const std::int64_t blocks = collective_.splits_source() ? problem.extent("ranks") : 1;
    problem.extent("ranks");
    if (problem.extent("bytes") % (blocks * width) != 0) {
      unsupported("bytes must be a multiple of the element width" +
                  std::string(blocks > 1 ? " times the ranks" : ""));
    }
    if (collective_.sums && !can_sum(dtype)) {
      unsupported(std::string(op()) + " sums f32, s32, bf16 and f16, not " +
                  std::string(dtype_name(dtype)));
    }
    const std::int64_t count = block_bytes(collective_, problem) / (collective_.sums ? width : 1);
    if (!collective_.goes_in_pieces && count > Comm::largest_count) {
      unsupported(std::string(collective_.call) + " counts in int: a block of " +
                  std::to_string(count) + (collective_.sums ? " elements" : " bytes") +
                  " is too long");
    }
  }

  std::unique_ptr<Prepared> prepare(const Device&, const Params& problem, const Params&,
                                    Comm* comm) const override {
    if (problem.at("ranks") != comm->size()) {
      invalid("the problem has " + std::to_string(problem.at("ranks")) + " ranks, the group " +
              std::to_string(comm->size()));
    }
    return std::make_unique<CollectivePrepared>(
        *comm, collective_, block_bytes(collective_, problem), problem.dtype("dtype"));
  }

 private:
  const Collective& collective_;
};

template <std::size_t index>
const Kernel& kernel() {
  static const CollectiveKernel instance(collectives[index]);
  return instance;
}

}  // namespace

const Kernel& all_reduce_kernel() { return kernel<0>(); }
const Kernel& all_gather_kernel() { return kernel<1>(); }
const Kernel& reduce_scatter_kernel() { return kernel<2>(); }
const Kernel& all_to_all_kernel() { return kernel<3>(); }
const Kernel& broadcast_kernel() { return kernel<4>(); }
const Kernel& send_recv_kernel() { return kernel<5>(); }

}  // namespace hm_cpu
