// Ops on rows[rows, cols]: one table, a line per op.
#include "device/rowwise.hpp"

#include <array>

#include "kernel.hpp"
#include "row_geometry.hpp"

namespace hm_cuda {
namespace {

enum class Shape { reduced, spread, flat };

struct RowProblem {
  std::int64_t rows, cols, src, dst;
  std::int64_t kind = 0, epsilon_e12 = 0;
  int width;  // of a vector

  bool is_vector() const { return cols % width == 0; }
  std::int64_t vectors() const { return is_vector() ? cols / width : cols; }
};

struct RowOp {
  std::string_view name;
  Shape shape;
  bool has_epsilon = false;
  std::int64_t kinds = 0;  // 0 = the op has no parameter `kind`
  std::int64_t src_fallback = 0, dst_fallback = 0;
  std::vector<Operand> (*operands)(const RowProblem&) = nullptr;
  DeviceFunction (*function)(const RowProblem&) = nullptr;
};

Operand rows_operand(const char* name, std::int32_t role, std::int64_t dtype, std::int64_t rows,
                     std::int64_t cols) {
  return {name, role, dtype, {rows, cols}};
}
Operand src_rows(const RowProblem& p, const char* name = "src") {
  return rows_operand(name, HM_ROLE_INPUT, p.src, p.rows, p.cols);
}
Operand dst_rows(const RowProblem& p) {
  return rows_operand("dst", HM_ROLE_OUTPUT, p.dst, p.rows, p.cols);
}
Operand per_column(const char* name, const RowProblem& p) {
  return {name, HM_ROLE_CONSTANT, HM_DTYPE_F32, {p.cols}};
}

using Operands = std::vector<Operand>;

constexpr std::array<RowOp, 8> row_ops{{
    {.name = "rmsnorm",
     .shape = Shape::reduced,
     .has_epsilon = true,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p), per_column("gain", p), dst_rows(p)};
         },
     .function = [](const RowProblem& p) { return rmsnorm_function(p.src, p.dst, p.is_vector()); }},
    {.name = "layernorm",
     .shape = Shape::reduced,
     .has_epsilon = true,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p), per_column("gain", p), per_column("shift", p), dst_rows(p)};
         },
     .function =
         [](const RowProblem& p) { return layernorm_function(p.src, p.dst, p.is_vector()); }},
    {.name = "softmax",
     .shape = Shape::reduced,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p), dst_rows(p)};
         },
     .function = [](const RowProblem& p) { return softmax_function(p.src, p.dst, p.is_vector()); }},
    {.name = "quantize",
     .shape = Shape::reduced,
     .dst_fallback = HM_DTYPE_S8,
     .operands =
         [](const RowProblem& p) {
           return Operands{
               src_rows(p), dst_rows(p), {"scale", HM_ROLE_OUTPUT, HM_DTYPE_F32, {p.rows}}};
         },
     .function = [](const RowProblem& p) { return quantize_function(p.src, p.is_vector()); }},
    {.name = "activation",
     .shape = Shape::flat,
     .kinds = 4,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p), dst_rows(p)};
         },
     .function = [](const RowProblem& p) { return activation_function(p.src, p.dst); }},
    {.name = "residual_add",
     .shape = Shape::flat,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p, "a"), src_rows(p, "b"), dst_rows(p)};
         },
     .function = [](const RowProblem& p) { return residual_add_function(p.src, p.dst); }},
    {.name = "gated_activation",
     .shape = Shape::spread,
     .kinds = 2,
     .operands =
         [](const RowProblem& p) {
           return Operands{rows_operand("src", HM_ROLE_INPUT, p.src, p.rows, 2 * p.cols),
                           dst_rows(p)};
         },
     .function =
         [](const RowProblem& p) {
           return gated_activation_function(p.src, p.dst, p.is_vector());
         }},
    {.name = "dequantize",
     .shape = Shape::spread,
     .src_fallback = HM_DTYPE_S32,
     .operands =
         [](const RowProblem& p) {
           return Operands{src_rows(p),
                           {"row_scale", HM_ROLE_INPUT, HM_DTYPE_F32, {p.rows}},
                           per_column("col_scale", p),
                           dst_rows(p)};
         },
     .function = [](const RowProblem& p) { return dequantize_function(p.dst, p.is_vector()); }},
}};

void require_float(std::string_view op, std::int64_t dtype) {
  if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16 && dtype != HM_DTYPE_F16) {
    unsupported(std::string(op) + " takes f32, bf16 and f16, not " +
                std::string(plug::dtype_name(dtype)));
  }
}

RowProblem row_problem(const RowOp& op, plug::Params params) {
  plug::reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype", "kind", "epsilon_e12"});
  RowProblem p{};
  p.rows = params.extent("rows");
  p.cols = params.extent("cols");
  p.src =
      op.src_fallback != 0 ? params.value_or("src_dtype", op.src_fallback) : params.at("src_dtype");
  p.dst =
      op.dst_fallback != 0 ? params.value_or("dst_dtype", op.dst_fallback) : params.at("dst_dtype");
  if (op.src_fallback == 0) require_float(op.name, p.src);
  if (op.dst_fallback == 0) require_float(op.name, p.dst);
  if (op.src_fallback != 0 && p.src != op.src_fallback) unsupported("src_dtype must be s32");
  if (op.dst_fallback != 0 && p.dst != op.dst_fallback) unsupported("dst_dtype must be s8");
  p.width = row_vector_width(plug::element_bytes(p.src),
                             plug::element_bytes(op.dst_fallback != 0 ? p.src : p.dst));
  if (op.kinds == 0 && params.find("kind") != nullptr) unsupported("unknown parameter 'kind'");
  if (op.kinds != 0) p.kind = params.at("kind");
  if (op.kinds != 0 && (p.kind < 0 || p.kind >= op.kinds)) {
    unsupported("kind " + std::to_string(p.kind) + " of " + std::string(op.name));
  }
  if (!op.has_epsilon && params.find("epsilon_e12") != nullptr) {
    unsupported("unknown parameter 'epsilon_e12'");
  }
  if (op.has_epsilon) p.epsilon_e12 = params.value_or("epsilon_e12", 1'000'000);
  return p;
}

std::int64_t default_threads(const RowOp& op, const RowProblem& p, const OpenedDevice& device) {
  switch (op.shape) {
    case Shape::reduced:
      return reducing_threads(p.rows, p.vectors(), device.processors);
    case Shape::spread:
      return spread_threads(p.vectors());
    default:
      return 256;
  }
}

class PreparedRows : public Prepared {
 public:
  PreparedRows(const RowOp& op, const RowProblem& p, const OpenedDevice& device,
               std::int64_t threads)
      : name_(op.name) {
    operands = op.operands(p);
    launch_.function = op.function(p);
    switch (op.shape) {
      case Shape::reduced:
        reduced_rows(launch_, p.rows, threads);
        break;
      case Shape::spread:
        spread_rows(launch_, p.rows, p.vectors(), threads, device.processors);
        break;
      case Shape::flat:
        flat(launch_, p.rows * p.cols / p.width, threads, device.processors);
        break;
    }
    const bool is_vector = op.shape == Shape::flat || p.is_vector();
    implementation = std::string(op.name) + (is_vector ? "_vector" : "_scalar") + "_threads" +
                     std::to_string(threads);
    task_.rows = p.rows;
    task_.cols = p.cols;
    task_.kind = static_cast<std::int32_t>(p.kind);
    task_.epsilon = static_cast<float>(static_cast<double>(p.epsilon_e12) * 1e-12);
    make_ready(launch_);
  }

  void enqueue(cudaStream_t stream, Buffers buffers, void*) override {
    RowTask task = task_;
    for (std::size_t i = 0; i < operands.size(); ++i) place(task, i, address_of(buffers[i]));
    start(stream, launch_, task);
  }

 private:
  void place(RowTask& task, std::size_t index, void* address) const {
    const std::string_view operand = operands[index].name;
    if (operand == "src" || operand == "a") task.src = address;
    if (operand == "b" || operand == "shift" || operand == "row_scale") task.second = address;
    if (operand == "gain" || operand == "col_scale") task.gain = address;
    if (operand == "dst") task.dst = address;
    if (operand == "scale") task.scale = address;
  }

  std::string_view name_;
  Launch launch_;
  RowTask task_;
};

class RowKernel : public Kernel {
 public:
  explicit RowKernel(const RowOp& op) : op_(op) {}
  std::string_view name() const override { return op_.name; }
  std::string_view op() const override { return op_.name; }

  void require_support(OpenedDevice&, plug::Params problem) const override {
    static_cast<void>(row_problem(op_, problem));
  }

  std::vector<plug::Domain> domains(OpenedDevice& device, plug::Params problem) const override {
    std::vector<std::int64_t> counts{32, 64, 128, 256, 512, 1024};
    if (op_.shape == Shape::reduced) counts.insert(counts.begin(), {8, 16});
    const RowProblem p = row_problem(op_, problem);
    return {plug::domain::ordered("threads", counts, default_threads(op_, p, device))};
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const RowProblem p = row_problem(op_, problem);
    return std::make_unique<PreparedRows>(
        op_, p, device, plug::param_or(config, "threads", default_threads(op_, p, device)));
  }

 private:
  const RowOp& op_;
};

template <std::size_t index>
const Kernel& row_kernel() {
  static const RowKernel kernel(row_ops[index]);
  return kernel;
}

}  // namespace

const Kernel& rmsnorm_kernel() { return row_kernel<0>(); }
const Kernel& layernorm_kernel() { return row_kernel<1>(); }
const Kernel& softmax_kernel() { return row_kernel<2>(); }
const Kernel& quantize_kernel() { return row_kernel<3>(); }
const Kernel& activation_kernel() { return row_kernel<4>(); }
const Kernel& residual_add_kernel() { return row_kernel<5>(); }
const Kernel& gated_activation_kernel() { return row_kernel<6>(); }
const Kernel& dequantize_kernel() { return row_kernel<7>(); }

}  // namespace hm_cuda
