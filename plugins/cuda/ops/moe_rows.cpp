// moe_dispatch and moe_combine: rows to the experts of this rank and back. Where a row lies follows
// from expert_index alone and is found first, into the workspace.
#include "device/moe.hpp"
#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

struct RowsProblem {
  std::int64_t tokens, top_k, experts, hidden, rows, dtype;
  std::int64_t first_expert = 0, local_experts = 0;

  explicit RowsProblem(plug::Params p)
      : tokens(p.extent("tokens")),
        top_k(p.extent("top_k")),
        experts(p.extent("experts")),
        hidden(p.extent("hidden")),
        rows(p.extent("rows")),
        dtype(p.at("dtype")) {
    plug::reject_unknown(
        p, {"tokens", "top_k", "experts", "hidden", "dtype", "skew", "ep_size", "ep_rank", "rows"});
    if (combine_function(dtype, false) == nullptr) {
      unsupported("rows of experts are f32, bf16 or f16, not " +
                  std::string(plug::dtype_name(dtype)));
    }
    const std::int64_t ranks = std::max<std::int64_t>(1, p.value_or("ep_size", 1));
    if (experts % ranks != 0) unsupported("ep_size must divide experts");
    local_experts = experts / ranks;
    first_expert = p.value_or("ep_rank", 0) * local_experts;
    if (rows > INT32_MAX || experts > INT32_MAX || tokens > INT32_MAX / top_k) {
      unsupported("more than 2^31 - 1 rows, experts, or slots of tokens");
    }
  }

  std::int64_t slots() const { return tokens * top_k; }
  std::int64_t row_bytes() const { return hidden * plug::element_bytes(dtype); }
  Operand values(const char* name, std::int32_t role, std::int64_t count) const {
    return {name, role, dtype, {count, hidden}};
  }
  Operand routing() const { return {"expert_index", HM_ROLE_INPUT, HM_DTYPE_S32, {tokens, top_k}}; }
};

// The first of two launches.
class Places {
 public:
  explicit Places(const RowsProblem& p) {
    launch_.function = places_function();
    launch_.block = dim3(places_threads);
    launch_.grid = dim3(as_dim(p.local_experts));
    task_.slots = p.slots();
    task_.rows = p.rows;
    task_.top_k = static_cast<std::int32_t>(p.top_k);
    task_.first_expert = static_cast<std::int32_t>(p.first_expert);
    task_.local_experts = static_cast<std::int32_t>(p.local_experts);
    make_ready(launch_);
  }

  void find(cudaStream_t stream, const void* expert_index, std::int32_t* token_of_row,
            std::int32_t* row_of_slot) const {
    PlacesTask task = task_;
    task.expert_index = static_cast<const std::int32_t*>(expert_index);
    task.token_of_row = token_of_row;
    task.row_of_slot = row_of_slot;
    start(stream, launch_, task);
  }

 private:
  Launch launch_;
  PlacesTask task_{};
};

class PreparedDispatch : public Prepared {
 public:
  static constexpr std::int64_t bytes_per_thread = 16 * dispatch_units_per_thread;

  PreparedDispatch(const RowsProblem& p, const OpenedDevice& device, std::int64_t threads)
      : places_(p) {
    operands = {p.values("src", HM_ROLE_INPUT, p.tokens), p.routing(),
                p.values("dst", HM_ROLE_OUTPUT, p.rows)};
    task_.rows = p.rows;
    task_.row_bytes = p.row_bytes();
    const std::int64_t unit = p.row_bytes() % 16 == 0 ? 16 : p.row_bytes() % 4 == 0 ? 4 : 2;
    launch_.function = dispatch_function(unit);
    spread_rows(launch_, p.rows, blocks_of(p.row_bytes(), unit * dispatch_units_per_thread),
                threads, device.processors);
    launch_.overlaps_previous = device.capability >= 90;
    make_ready(launch_);
    implementation = "moe_dispatch_unit" + std::to_string(unit);
    workspace_bytes = static_cast<std::uint64_t>(p.rows) * sizeof(std::int32_t);
    launches = 2;
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) override {
    auto* token_of_row = static_cast<std::int32_t*>(workspace);
    places_.find(stream, address_of(buffers[1]), token_of_row, nullptr);
    DispatchTask task = task_;
    task.src = address_of(buffers[0]);
    task.dst = address_of(buffers[2]);
    task.token_of_row = token_of_row;
    start(stream, launch_, task);
  }

 private:
  Places places_;
  Launch launch_;
  DispatchTask task_{};
};

class PreparedCombine : public Prepared {
 public:
  static constexpr std::int64_t bytes_per_thread = 16;

  PreparedCombine(const RowsProblem& p, const OpenedDevice& device, std::int64_t threads)
      : places_(p) {
    operands = {p.values("src", HM_ROLE_INPUT, p.rows),
                p.routing(),
                {"weight", HM_ROLE_INPUT, HM_DTYPE_F32, {p.tokens, p.top_k}},
                p.values("dst", HM_ROLE_OUTPUT, p.tokens)};
    const std::int64_t width = 16 / plug::element_bytes(p.dtype);
    const bool is_vector = p.hidden % width == 0;
    task_.tokens = p.tokens;
    task_.hidden = p.hidden;
    task_.top_k = static_cast<std::int32_t>(p.top_k);
    launch_.function = combine_function(p.dtype, is_vector);
    spread_rows(launch_, p.tokens, is_vector ? p.hidden / width : p.hidden, threads,
                device.processors);
    launch_.overlaps_previous = device.capability >= 90;
    make_ready(launch_);
    implementation = is_vector ? "moe_combine_vector" : "moe_combine_scalar";
    workspace_bytes = static_cast<std::uint64_t>(p.slots()) * sizeof(std::int32_t);
    launches = 2;
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void* workspace) override {
    auto* row_of_slot = static_cast<std::int32_t*>(workspace);
    places_.find(stream, address_of(buffers[1]), nullptr, row_of_slot);
    CombineTask task = task_;
    task.src = address_of(buffers[0]);
    task.weight = static_cast<const float*>(address_of(buffers[2]));
    task.dst = address_of(buffers[3]);
    task.row_of_slot = row_of_slot;
    start(stream, launch_, task);
  }

 private:
  Places places_;
  Launch launch_;
  CombineTask task_{};
};

template <class PreparedRows>
class RowsKernel : public Kernel {
 public:
  explicit RowsKernel(std::string_view name) : name_(name) {}
  std::string_view name() const override { return name_; }
  std::string_view op() const override { return name_; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    static_cast<void>(RowsProblem(problem));
  }

  std::vector<plug::Domain> domains(OpenedDevice&, plug::Params problem) const override {
    return {plug::domain::ordered("threads", {32, 64, 128, 256, 512, 1024},
                                  default_threads(RowsProblem(problem)))};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const RowsProblem p(problem);
    return std::make_unique<PreparedRows>(p, device,
                                          plug::param_or(config, "threads", default_threads(p)));
  }

 private:
  static std::int64_t default_threads(const RowsProblem& p) {
    return spread_threads(blocks_of(p.row_bytes(), PreparedRows::bytes_per_thread));
  }
  std::string_view name_;
};

}  // namespace

const Kernel& moe_dispatch_kernel() {
  static const RowsKernel<PreparedDispatch> kernel("moe_dispatch");
  return kernel;
}

const Kernel& moe_combine_kernel() {
  static const RowsKernel<PreparedCombine> kernel("moe_combine");
  return kernel;
}

}  // namespace hm_cuda
