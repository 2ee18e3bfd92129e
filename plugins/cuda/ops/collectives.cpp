// The collectives between the ranks of a group: one table of NCCL calls, one kernel for each line.
#include <array>

#include "kernel.hpp"

namespace hm_cuda {
namespace {

// What one execution exchanges; counts are those of one block: the whole source, or one rank's
// part.
struct Message {
  const Comm& comm;
  cudaStream_t stream;
  const void* source;
  void* target;
  std::uint64_t count, bytes;
  std::int64_t dtype;
};

enum class Blocks { none, source, target, both };  // which side has one block per rank

struct Collective {
  std::string_view kernel, op, call;
  Blocks blocks;
  bool sums;
  void (*run)(const Message&);
  bool splits_source() const { return blocks == Blocks::source || blocks == Blocks::both; }
  bool splits_target() const { return blocks == Blocks::target || blocks == Blocks::both; }
};

constexpr std::array<Collective, 6> collectives{{
    {"nccl_all_reduce", "all_reduce", "ncclAllReduce", Blocks::none, true,
     [](const Message& m) { m.comm.all_reduce(m.stream, m.source, m.target, m.count, m.dtype); }},
    {"nccl_all_gather", "all_gather", "ncclAllGather", Blocks::target, false,
     [](const Message& m) { m.comm.all_gather(m.stream, m.source, m.target, m.bytes); }},
    {"nccl_reduce_scatter", "reduce_scatter", "ncclReduceScatter", Blocks::source, true,
     [](const Message& m) {
       m.comm.reduce_scatter(m.stream, m.source, m.target, m.count, m.dtype);
     }},
    {"nccl_all_to_all", "all_to_all", "ncclSend+ncclRecv", Blocks::both, false,
     [](const Message& m) { m.comm.all_to_all(m.stream, m.source, m.target, m.bytes); }},
    {"nccl_broadcast", "broadcast", "ncclBroadcast", Blocks::none, false,
     [](const Message& m) { m.comm.broadcast(m.stream, m.source, m.target, m.bytes); }},
    {"nccl_send_recv", "send_recv", "ncclSend+ncclRecv", Blocks::none, false,
     [](const Message& m) { m.comm.shift(m.stream, m.source, m.target, m.bytes); }},
}};

std::int64_t block_bytes(const Collective& collective, plug::Params problem) {
  return problem.extent("bytes") / (collective.splits_source() ? problem.extent("ranks") : 1);
}

class PreparedCollective : public Prepared {
 public:
  PreparedCollective(const Comm& comm, const Collective& collective, std::int64_t bytes,
                     std::int64_t dtype)
      : comm_(comm),
        collective_(collective),
        bytes_(static_cast<std::uint64_t>(bytes)),
        count_(bytes / plug::element_bytes(dtype)),
        dtype_(dtype) {
    operands = {{"src", HM_ROLE_INPUT, dtype, dims(collective.splits_source())},
                {"dst", HM_ROLE_OUTPUT, dtype, dims(collective.splits_target())}};
    if (!comm.has_library()) {  // of one rank
      implementation = "cudaMemcpyAsync";
      return;
    }
    implementation = collective.call;
    library = "NCCL";
    library_version = comm.library_version();
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    const void* source = address_of(buffers[0]);
    void* target = address_of(buffers[1]);
    if (!comm_.has_library()) {
      check(cudaMemcpyAsync(target, source, bytes_, cudaMemcpyDeviceToDevice, stream),
            "a collective of one rank");
      return;
    }
    collective_.run(
        {comm_, stream, source, target, static_cast<std::uint64_t>(count_), bytes_, dtype_});
  }

 private:
  std::vector<std::int64_t> dims(bool is_split) const {
    if (is_split) return {comm_.size(), count_};
    return {count_};
  }

  const Comm& comm_;
  const Collective& collective_;
  std::uint64_t bytes_;  // of one block
  std::int64_t count_, dtype_;
};

class CollectiveKernel : public Kernel {
 public:
  explicit CollectiveKernel(const Collective& collective) : collective_(collective) {}

  std::string_view name() const override { return collective_.kernel; }
  std::string_view op() const override { return collective_.op; }
  bool is_collective() const override { return true; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    plug::reject_unknown(problem, {"bytes", "ranks", "dtype"});
    const std::int64_t dtype = problem.at("dtype"), ranks = problem.extent("ranks");
    const std::int64_t width = plug::element_bytes(dtype);
    const std::int64_t blocks = collective_.splits_source() ? ranks : 1;
    if (problem.extent("bytes") % (blocks * width) != 0) {
      unsupported("bytes must be a multiple of the element width" +
                  std::string(blocks > 1 ? " times the ranks" : ""));
    }
    if (collective_.sums && nccl_dtype(dtype) < 0) {
      unsupported(std::string(op()) + " sums f32, s32, bf16 and f16, not " +
                  std::string(plug::dtype_name(dtype)));
    }
  }

  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params) const override { return {}; }

  std::unique_ptr<Prepared> prepare(OpenedDevice&, plug::Params, plug::Params) const override {
    plug::invalid("a collective needs a communicator");
  }

  std::unique_ptr<Prepared> prepare_in(OpenedDevice&, plug::Params problem,
                                       const Comm& comm) const override {
    if (problem.at("ranks") != comm.size()) {
      plug::invalid("the problem has " + std::to_string(problem.at("ranks")) +
                    " ranks, the group " + std::to_string(comm.size()));
    }
    if (!comm.absence().empty()) unsupported(comm.absence());
    return std::make_unique<PreparedCollective>(
        comm, collective_, block_bytes(collective_, problem), problem.at("dtype"));
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

}  // namespace hm_cuda
