// residual_add, activation, gated_activation, embedding, dequantize, rope: ops whose values need no
// others of their row, one line of a table each.
#include <algorithm>
#include <array>

#include "elements.hpp"
#include "elements_source.hpp"
#include "pointwise_source.hpp"
#include "vectors_source.hpp"

namespace hm_opencl {
namespace {

// What the ops read of their parameters; a field that an op does not have is 0.
struct PointProblem {
  std::int64_t rows, cols;
  std::int32_t src, dst;
  std::int64_t kind = 0, vocab = 0, heads = 0, rotary_dim = 0;
  // What a span counts in.
  std::int64_t spanned() const { return heads > 0 ? heads : cols; }
};

struct PointOp {
  std::string_view name;
  const char* option;
  std::string_view width = "cols";  // the parameter that is a row's, or a head's, width
  std::int64_t kinds = 0;           // 0: no parameter `kind`
  bool is_lookup = false, is_rope = false, is_dequantize = false;
  std::vector<Operand> (*operands)(const PointProblem&) = nullptr;
};

Operand values(const char* name, std::int32_t role, std::int32_t dtype,
               std::vector<std::int64_t> dims) {
  return {name, role, dtype, std::move(dims), 0, ""};
}
Operand src_of(const PointProblem& p, const char* name = "src") {
  return values(name, HM_ROLE_INPUT, p.src, {p.rows, p.cols});
}
Operand dst_of(const PointProblem& p) {
  return values("dst", HM_ROLE_OUTPUT, p.dst, {p.rows, p.cols});
}

using Operands = std::vector<Operand>;
Operands of_sum(const PointProblem& p) { return {src_of(p, "a"), src_of(p, "b"), dst_of(p)}; }
Operands of_activation(const PointProblem& p) { return {src_of(p), dst_of(p)}; }
Operands of_gated(const PointProblem& p) {
  return {values("src", HM_ROLE_INPUT, p.src, {p.rows, 2 * p.cols}), dst_of(p)};
}
Operands of_embedding(const PointProblem& p) {
  return {values("ids", HM_ROLE_INPUT, HM_DTYPE_S32, {p.rows}),
          values("table", HM_ROLE_CONSTANT, p.src, {p.vocab, p.cols}), dst_of(p)};
}
Operands of_dequantize(const PointProblem& p) {
  return {src_of(p), values("row_scale", HM_ROLE_INPUT, HM_DTYPE_F32, {p.rows}),
          values("col_scale", HM_ROLE_CONSTANT, HM_DTYPE_F32, {p.cols}), dst_of(p)};
}
Operands of_rope(const PointProblem& p) {
  const std::vector dims{p.rows, p.heads, p.cols};
  const std::vector angles{p.rows, p.rotary_dim / 2};
  return {values("src", HM_ROLE_INPUT, p.src, dims),
          values("cos", HM_ROLE_INPUT, HM_DTYPE_F32, angles),
          values("sin", HM_ROLE_INPUT, HM_DTYPE_F32, angles),
          values("dst", HM_ROLE_OUTPUT, p.dst, dims)};
}

constexpr std::array<PointOp, 6> ops{{
    {.name = "residual_add", .option = "-DOP_RESIDUAL_ADD ", .operands = of_sum},
    {.name = "activation", .option = "-DOP_ACTIVATION ", .kinds = 4, .operands = of_activation},
    {.name = "gated_activation",
     .option = "-DOP_GATED_ACTIVATION ",
     .kinds = 2,
     .operands = of_gated},
    {.name = "embedding",
     .option = "-DOP_EMBEDDING ",
     .width = "hidden",
     .is_lookup = true,
     .operands = of_embedding},
    {.name = "dequantize",
     .option = "-DOP_DEQUANTIZE ",
     .is_dequantize = true,
     .operands = of_dequantize},
    {.name = "rope",
     .option = "-DOP_ROPE ",
     .width = "head_dim",
     .is_rope = true,
     .operands = of_rope},
}};

void reject_foreign(const PointOp& op, plug::Params problem) {
  std::vector<std::string_view> known{"rows", op.width, "src_dtype", "dst_dtype"};
  if (op.kinds > 0) known.emplace_back("kind");
  if (op.is_lookup) known.emplace_back("vocab");
  if (op.is_rope) known.insert(known.end(), {"heads", "rotary_dim"});
  for (const hm_param& param : problem) {
    if (std::ranges::find(known, param.name) == known.end()) {
      unsupported("unknown parameter '" + std::string(param.name) + "'");
    }
  }
}

void read_own(const PointOp& op, plug::Params problem, PointProblem& p) {
  if (op.kinds > 0) {
    p.kind = problem.at("kind");
    if (p.kind < 0 || p.kind >= op.kinds) {
      unsupported("kind " + std::to_string(p.kind) + " of " + std::string(op.name));
    }
  }
  if (op.is_lookup) {
    p.vocab = problem.at("vocab");
    require_size("vocab", p.vocab);
  }
  if (op.is_rope) {
    p.heads = problem.at("heads");
    p.rotary_dim = problem.at("rotary_dim");
    require_size("heads", p.heads);
    if (p.rotary_dim < 2 || p.rotary_dim % 2 != 0 || p.rotary_dim > p.cols) {
      unsupported("rotary_dim must be even and at most head_dim");
    }
  }
}

PointProblem read(const PointOp& op, plug::Params problem) {
  reject_foreign(op, problem);
  PointProblem p{problem.at("rows"), problem.at(op.width),
                 op.is_dequantize
                     ? static_cast<std::int32_t>(problem.value_or("src_dtype", HM_DTYPE_S32))
                     : problem.dtype("src_dtype"),
                 problem.dtype("dst_dtype")};
  require_size("rows", p.rows);
  require_size(op.width, p.cols);
  if (op.is_dequantize && p.src != HM_DTYPE_S32) unsupported("dequantize takes s32 only");
  if (!op.is_dequantize) require_float(op.name, p.src);
  require_float(op.name, p.dst);
  read_own(op, problem, p);
  return p;
}

// Columns (heads of rope) of a work-item, work-items of a group, floats of a vector.
struct Spans {
  std::int64_t span, group, width;
};

class PointKernel : public Kernel {
 public:
  explicit PointKernel(const PointOp& of) : op_(of) {}
  std::string_view name() const override { return op_.name; }
  std::string_view op() const override { return op_.name; }

  std::vector<plug::Domain> domains(const Limits& limits, plug::Params problem) const override {
    const Spans d = default_spans(limits, read(op_, problem));
    const std::vector<std::int64_t> spans = op_.is_rope ? std::vector<std::int64_t>{1, 4, 16, 64}
                                                        : std::vector<std::int64_t>{16, 256, 4096};
    return {
        plug::domain::ordered(op_.is_rope ? "heads_per_item" : "columns_per_item", spans, d.span),
        plug::domain::ordered("items_per_group", {1, 16, 64}, d.group),
        plug::domain::ordered("vector_width", {4, 8, 16}, d.width)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    const PointProblem p = read(op_, problem);
    const auto items = static_cast<std::size_t>(spans_of(limits, p, config).group);
    if (items > limits.work_group_items) {
      unsupported("work-groups of " + std::to_string(items) + " items; this device has " +
                  std::to_string(limits.work_group_items));
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const PointProblem p = read(op_, problem);
    const Spans s = spans_of(device.limits, p, config);
    const auto group = static_cast<std::size_t>(s.group);
    const auto items = static_cast<std::size_t>((p.spanned() + s.span - 1) / s.span);
    Plan plan{.source = std::string(elements_source) + vectors_source + pointwise_source,
              .options = kinds(p.src, p.dst) + op_.option + define("SPAN", s.span) +
                         define("GROUP", s.group) + define("WIDTH", s.width) +
                         (op_.kinds > 0 ? define("KIND", p.kind) : "") + "-cl-std=CL1.2",
              .entry = "run",
              .sizes = {p.rows, p.cols},
              .global = cl::NDRange(round_up(items, group), static_cast<std::size_t>(p.rows)),
              .local = cl::NDRange(group, 1)};
    if (op_.is_lookup) plan.sizes.push_back(p.vocab);
    if (op_.is_rope) plan.sizes.insert(plan.sizes.end(), {p.heads, p.rotary_dim});
    auto made = std::make_unique<Launched>(device, plan, op_.operands(p));
    made->implementation = std::string(op_.name) + ' ' + plan.options;
    return made;
  }

 private:
  // A core walks along a row; lanes that run side by side take neighbouring vectors.
  Spans default_spans(const Limits& limits, const PointProblem& p) const {
    if (!limits.is_cpu && limits.work_group_items >= 64) return {op_.is_rope ? 1 : 16, 64, 4};
    if (op_.is_rope) return {16, 1, 16};
    return {p.cols <= 256 ? 256 : 4096, 1, 16};
  }
  Spans spans_of(const Limits& limits, const PointProblem& p, plug::Params config) const {
    const Spans d = default_spans(limits, p);
    return {config.value_or(op_.is_rope ? "heads_per_item" : "columns_per_item", d.span),
            config.value_or("items_per_group", d.group), config.value_or("vector_width", d.width)};
  }

  const PointOp& op_;
};

}  // namespace

std::span<const Kernel* const> pointwise_kernels() {
  static const std::array<PointKernel, ops.size()> kernels{
      PointKernel(ops[0]), PointKernel(ops[1]), PointKernel(ops[2]),
      PointKernel(ops[3]), PointKernel(ops[4]), PointKernel(ops[5])};
  static const auto table = [] {
    std::array<const Kernel*, ops.size()> all{};
    std::ranges::transform(kernels, all.begin(), [](const PointKernel& k) { return &k; });
    return all;
  }();
  return table;
}

}  // namespace hm_opencl
