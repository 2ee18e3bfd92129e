// all_reduce, all_gather and send_recv between the ranks of a group.
#include "comm.hpp"
#include "kernel.hpp"

namespace hm_cpu {
namespace {

enum class Collective { all_reduce, all_gather, send_recv };

Sum sum_of(std::int32_t dtype) {
  switch (dtype) {
    case HM_DTYPE_F32:
      return Sum::f32;
    case HM_DTYPE_S32:
      return Sum::s32;
    case HM_DTYPE_BF16:
      return Sum::bf16;
    default:
      unsupported("all_reduce sums f32, bf16 and s32, not " + std::string(dtype_name(dtype)));
  }
}

class CollectivePrepared : public Prepared {
 public:
  CollectivePrepared(const Comm& comm, Collective kind, std::int64_t bytes, std::int32_t dtype)
      : comm_(comm), kind_(kind), bytes_(bytes), count_(bytes / width_bytes(dtype)), dtype_(dtype) {
    std::vector<std::int64_t> received{count_};
    if (kind == Collective::all_gather) received.insert(received.begin(), comm.size());
    operands = {
        {.name = "src", .role = HM_ROLE_INPUT, .dtype = dtype, .dims = {count_}},
        {.name = "dst", .role = HM_ROLE_OUTPUT, .dtype = dtype, .dims = received},
    };
    if (comm.size() == 1) {
      info.implementation = "halmark:copy";
      return;
    }
    constexpr std::string_view calls[] = {"MPI_Allreduce", "MPI_Allgather", "MPI_Sendrecv"};
    info.implementation = calls[static_cast<std::size_t>(kind)];
    info.library = "MPI";
    info.library_version = Comm::library_version();
  }

  void run(void* const* buffers, void*) override {
    switch (kind_) {
      case Collective::all_reduce:
        return comm_.all_reduce(buffers[0], buffers[1], count_, sum_of(dtype_));
      case Collective::all_gather:
        return comm_.all_gather(buffers[0], buffers[1], bytes_);
      case Collective::send_recv:
        return comm_.shift(buffers[0], buffers[1], bytes_);
    }
  }

 private:
  const Comm& comm_;
  const Collective kind_;
  const std::int64_t bytes_;  // of one rank's source
  const std::int64_t count_;
  const std::int32_t dtype_;
};

class CollectiveKernel : public Kernel {
 public:
  CollectiveKernel(Collective kind, std::string_view name, std::string_view op)
      : kind_(kind), name_(name), op_(op) {}

  std::string_view name() const override { return name_; }
  std::string_view op() const override { return op_; }
  bool is_collective() const override { return true; }

  void require_support(const Device&, const Params& problem, const Params& config) const override {
    problem.reject_unknown({"bytes", "ranks", "dtype"});
    config.reject_unknown({});
    const std::int32_t dtype = problem.dtype("dtype");
    problem.size("ranks");
    if (problem.size("bytes") % width_bytes(dtype) != 0) {
      unsupported("bytes must be a multiple of the element width");
    }
    if (kind_ == Collective::all_reduce) sum_of(dtype);
  }

  std::unique_ptr<Prepared> prepare(const Device&, const Params& problem, const Params&,
                                    Comm* comm) const override {
    if (problem.at("ranks") != comm->size()) {
      invalid("the problem has " + std::to_string(problem.at("ranks")) + " ranks, the group " +
              std::to_string(comm->size()));
    }
    return std::make_unique<CollectivePrepared>(*comm, kind_, problem.size("bytes"),
                                                problem.dtype("dtype"));
  }

 private:
  const Collective kind_;
  const std::string_view name_, op_;
};

}  // namespace

const Kernel& all_reduce_kernel() {
  static const CollectiveKernel kernel(Collective::all_reduce, "mpi_all_reduce", "all_reduce");
  return kernel;
}

const Kernel& all_gather_kernel() {
  static const CollectiveKernel kernel(Collective::all_gather, "mpi_all_gather", "all_gather");
  return kernel;
}

const Kernel& send_recv_kernel() {
  static const CollectiveKernel kernel(Collective::send_recv, "mpi_send_recv", "send_recv");
  return kernel;
}

}  // namespace hm_cpu
