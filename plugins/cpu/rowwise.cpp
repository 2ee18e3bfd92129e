// The ops that treat every row alike: norms, softmax, activations, residual add, (de)quantize.
// Loops are in simd_rows.hpp; here is what each op needs and how rows are split over the team.
#include <algorithm>

#include "isa.hpp"
#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

// Waking a team costs some microseconds: below this, one thread is done earlier.
constexpr std::int64_t serial_elements_max = 16384;

bool is_float(std::int32_t dtype) { return dtype == HM_DTYPE_F32 || dtype == HM_DTYPE_BF16; }

void require_float(std::int32_t dtype) {
  if (!is_float(dtype)) unsupported("only f32 and bf16; got " + std::string(dtype_name(dtype)));
}

struct Shape {
  std::int64_t rows, cols;
  std::int32_t src, dst;
};

// How a loop walks: whole rows only, or any run of elements (one row may then be split).
enum class Split { rows, elements };

class Rowwise : public Prepared {
 public:
  using Bind = RowTask (*)(void* const* operands);
  using Loop = void (*)(const RowTask&);

  // Bytes that a task's pointers advance per row (rows) or per element (elements).
  struct Steps {
    std::int64_t src = 0, other = 0, dst = 0, scale = 0;
  };

  Rowwise(Loop loop, Bind bind, const RowTask& constants, Steps steps, Split split)
      : loop_(loop), bind_(bind), constants_(constants), steps_(steps) {
    units_ = split == Split::rows ? constants.rows : constants.rows * constants.cols;
    unit_is_row_ = split == Split::rows;
    elements_ = constants.rows * constants.cols;
  }

  void run(void* const* buffers, void*) override {
    RowTask whole = bind_(buffers);
    whole.rows = constants_.rows;
    whole.cols = constants_.cols;
    whole.epsilon = constants_.epsilon;
    whole.kind = constants_.kind;
    const std::int64_t parts = std::min<std::int64_t>(threads, units_);
    if (elements_ <= serial_elements_max || parts <= 1) return loop_(whole);
#pragma omp parallel for num_threads(static_cast <int>(parts)) schedule(static)
    for (std::int64_t part = 0; part < parts; ++part) {
      loop_(slice(whole, units_ * part / parts, units_ * (part + 1) / parts));
    }
  }

 private:
  RowTask slice(RowTask task, std::int64_t begin, std::int64_t end) const {
    const auto advanced = [&](const void* base, std::int64_t step) {
      return base == nullptr ? nullptr : static_cast<const char*>(base) + begin * step;
    };
    task.src = advanced(task.src, steps_.src);
    task.other = advanced(task.other, steps_.other);
    task.dst = static_cast<char*>(task.dst) + begin * steps_.dst;
    if (task.scale != nullptr) task.scale += begin * steps_.scale;
    task.rows = unit_is_row_ ? end - begin : 1;
    if (!unit_is_row_) task.cols = end - begin;
    return task;
  }

  Loop loop_;
  Bind bind_;
  RowTask constants_;
  Steps steps_;
  std::int64_t units_, elements_;
  bool unit_is_row_;
};

// One op: which loop, which operands, which parameters.
class RowwiseKernel : public Kernel {
 public:
  explicit RowwiseKernel(std::string_view op) : op_(op) {}
  std::string_view name() const override { return op_; }
  std::string_view op() const override { return op_; }

  void require_support(const Device&, const Params& params, const Params&) const override {
    read(params);
  }

  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    const SimdLoops& simd = simd_loops(device.isa);
    std::unique_ptr<Prepared> prepared = make(*simd.rows, params, read(params));
    const std::string key(isa_key(simd.isa));
    prepared->info.implementation =
        "halmark:" + std::string(op_) + ':' + (key.empty() ? "generic" : key);
    prepared->info.isa = key;
    return prepared;
  }

 protected:
  virtual Shape read(const Params& params) const = 0;  // checks everything
  virtual std::unique_ptr<Prepared> make(const RowLoops& loops, const Params& params,
                                         const Shape& shape) const = 0;

  static Shape shape_of(const Params& params) {
    return {params.extent("rows"), params.extent("cols"), params.dtype("src_dtype"),
            params.dtype("dst_dtype")};
  }
  static Shape float_shape(const Params& params) {
    const Shape shape = shape_of(params);
    require_float(shape.src);
    require_float(shape.dst);
    return shape;
  }
  static RowTask task_of(const Shape& shape) {
    RowTask task;
    task.rows = shape.rows;
    task.cols = shape.cols;
    return task;
  }
  static Rowwise::Loop pick(const ByDtype<RowTask>& loops, const Shape& shape) {
    return loops[shape.src == HM_DTYPE_BF16][shape.dst == HM_DTYPE_BF16];
  }

 private:
  std::string_view op_;
};

Operand input(std::string name, std::int32_t dtype, std::vector<std::int64_t> dims) {
  return {std::move(name), HM_ROLE_INPUT, dtype, std::move(dims), 0, ""};
}
Operand output(std::string name, std::int32_t dtype, std::vector<std::int64_t> dims) {
  return {std::move(name), HM_ROLE_OUTPUT, dtype, std::move(dims), 0, ""};
}
Operand constant(std::string name, std::vector<std::int64_t> dims) {
  return {std::move(name), HM_ROLE_CONSTANT, HM_DTYPE_F32, std::move(dims), 0, ""};
}

class Norm : public RowwiseKernel {
 public:
  Norm(std::string_view op, bool has_shift) : RowwiseKernel(op), has_shift_(has_shift) {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype", "epsilon_e12"});
    return float_shape(params);
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params& params,
                                 const Shape& s) const override {
    RowTask task = task_of(s);
    task.epsilon =
        static_cast<float>(static_cast<double>(params.value_or("epsilon_e12", 1000000)) * 1e-12);
    const auto bind_rms = [](void* const* p) {
      RowTask bound;
      bound.src = p[0];
      bound.gain = static_cast<const float*>(p[1]);
      bound.dst = p[2];
      return bound;
    };
    const auto bind_layer = [](void* const* p) {
      RowTask bound;
      bound.src = p[0];
      bound.gain = static_cast<const float*>(p[1]);
      bound.shift = static_cast<const float*>(p[2]);
      bound.dst = p[3];
      return bound;
    };
    const Rowwise::Steps steps{s.cols * element_bytes(s.src), 0, s.cols * element_bytes(s.dst), 0};
    auto prepared = std::make_unique<Rowwise>(
        pick(has_shift_ ? loops.layernorm : loops.rmsnorm, s),
        has_shift_ ? Rowwise::Bind(bind_layer) : Rowwise::Bind(bind_rms), task, steps, Split::rows);
    prepared->operands = {input("src", s.src, {s.rows, s.cols}), constant("gain", {s.cols})};
    if (has_shift_) prepared->operands.push_back(constant("shift", {s.cols}));
    prepared->operands.push_back(output("dst", s.dst, {s.rows, s.cols}));
    return prepared;
  }

 private:
  bool has_shift_;
};

RowTask bind_src_dst(void* const* p) {
  RowTask bound;
  bound.src = p[0];
  bound.dst = p[1];
  return bound;
}

class Softmax : public RowwiseKernel {
 public:
  Softmax() : RowwiseKernel("softmax") {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype"});
    return float_shape(params);
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params&,
                                 const Shape& s) const override {
    const Rowwise::Steps steps{s.cols * element_bytes(s.src), 0, s.cols * element_bytes(s.dst), 0};
    auto prepared = std::make_unique<Rowwise>(pick(loops.softmax, s), bind_src_dst, task_of(s),
                                              steps, Split::rows);
    prepared->operands = {input("src", s.src, {s.rows, s.cols}),
                          output("dst", s.dst, {s.rows, s.cols})};
    return prepared;
  }
};

class Activation : public RowwiseKernel {
 public:
  Activation(std::string_view op, bool is_gated) : RowwiseKernel(op), is_gated_(is_gated) {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "kind", "src_dtype", "dst_dtype"});
    const std::int64_t kind = params.at("kind");
    if (kind < 0 || kind > (is_gated_ ? 1 : 3)) unsupported("kind " + std::to_string(kind));
    return float_shape(params);
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params& params,
                                 const Shape& s) const override {
    RowTask task = task_of(s);
    task.kind = static_cast<int>(params.at("kind"));
    const std::int64_t src = element_bytes(s.src), dst = element_bytes(s.dst);
    // A gated row holds gate and up apart, so it cannot be cut into runs of elements.
    auto prepared =
        is_gated_ ? std::make_unique<Rowwise>(pick(loops.gated_activation, s), bind_src_dst, task,
                                              Rowwise::Steps{2 * s.cols * src, 0, s.cols * dst, 0},
                                              Split::rows)
                  : std::make_unique<Rowwise>(pick(loops.activation, s), bind_src_dst, task,
                                              Rowwise::Steps{src, 0, dst, 0}, Split::elements);
    prepared->operands = {input("src", s.src, {s.rows, is_gated_ ? 2 * s.cols : s.cols}),
                          output("dst", s.dst, {s.rows, s.cols})};
    return prepared;
  }

 private:
  bool is_gated_;
};

class ResidualAdd : public RowwiseKernel {
 public:
  ResidualAdd() : RowwiseKernel("residual_add") {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype"});
    return float_shape(params);
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params&,
                                 const Shape& s) const override {
    const auto bind = [](void* const* p) {
      RowTask bound;
      bound.src = p[0];
      bound.other = p[1];
      bound.dst = p[2];
      return bound;
    };
    const std::int64_t src = element_bytes(s.src);
    auto prepared = std::make_unique<Rowwise>(pick(loops.residual_add, s), bind, task_of(s),
                                              Rowwise::Steps{src, src, element_bytes(s.dst), 0},
                                              Split::elements);
    prepared->operands = {input("a", s.src, {s.rows, s.cols}), input("b", s.src, {s.rows, s.cols}),
                          output("dst", s.dst, {s.rows, s.cols})};
    return prepared;
  }
};

class Quantize : public RowwiseKernel {
 public:
  Quantize() : RowwiseKernel("quantize") {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype"});
    const Shape shape{params.extent("rows"), params.extent("cols"), params.dtype("src_dtype"),
                      static_cast<std::int32_t>(params.value_or("dst_dtype", HM_DTYPE_S8))};
    require_float(shape.src);
    if (shape.dst != HM_DTYPE_S8) unsupported("quantize gives s8 only");
    return shape;
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params&,
                                 const Shape& s) const override {
    const auto bind = [](void* const* p) {
      RowTask bound;
      bound.src = p[0];
      bound.dst = p[1];
      bound.scale = static_cast<float*>(p[2]);
      return bound;
    };
    auto prepared = std::make_unique<Rowwise>(
        loops.quantize[s.src == HM_DTYPE_BF16], bind, task_of(s),
        Rowwise::Steps{s.cols * element_bytes(s.src), 0, s.cols, 1}, Split::rows);
    prepared->operands = {input("src", s.src, {s.rows, s.cols}),
                          output("dst", HM_DTYPE_S8, {s.rows, s.cols}),
                          output("scale", HM_DTYPE_F32, {s.rows})};
    return prepared;
  }
};

class Dequantize : public RowwiseKernel {
 public:
  Dequantize() : RowwiseKernel("dequantize") {}

 protected:
  Shape read(const Params& params) const override {
    reject_unknown(params, {"rows", "cols", "src_dtype", "dst_dtype"});
    const Shape shape{params.extent("rows"), params.extent("cols"),
                      static_cast<std::int32_t>(params.value_or("src_dtype", HM_DTYPE_S32)),
                      params.dtype("dst_dtype")};
    if (shape.src != HM_DTYPE_S32) unsupported("dequantize takes s32 only");
    require_float(shape.dst);
    return shape;
  }
  std::unique_ptr<Prepared> make(const RowLoops& loops, const Params&,
                                 const Shape& s) const override {
    const auto bind = [](void* const* p) {
      RowTask bound;
      bound.src = p[0];
      bound.other = p[1];
      bound.gain = static_cast<const float*>(p[2]);
      bound.dst = p[3];
      return bound;
    };
    auto prepared = std::make_unique<Rowwise>(
        loops.dequantize[s.dst == HM_DTYPE_BF16], bind, task_of(s),
        Rowwise::Steps{s.cols * 4, 4, s.cols * element_bytes(s.dst), 0}, Split::rows);
    prepared->operands = {input("src", HM_DTYPE_S32, {s.rows, s.cols}),
                          input("row_scale", HM_DTYPE_F32, {s.rows}),
                          constant("col_scale", {s.cols}), output("dst", s.dst, {s.rows, s.cols})};
    return prepared;
  }
};

}  // namespace

const Kernel& rmsnorm_kernel() {
  static const Norm kernel("rmsnorm", false);
  return kernel;
}
const Kernel& layernorm_kernel() {
  static const Norm kernel("layernorm", true);
  return kernel;
}
const Kernel& softmax_kernel() {
  static const Softmax kernel;
  return kernel;
}
const Kernel& activation_kernel() {
  static const Activation kernel("activation", false);
  return kernel;
}
const Kernel& gated_activation_kernel() {
  static const Activation kernel("gated_activation", true);
  return kernel;
}
const Kernel& residual_add_kernel() {
  static const ResidualAdd kernel;
  return kernel;
}
const Kernel& quantize_kernel() {
  static const Quantize kernel;
  return kernel;
}
const Kernel& dequantize_kernel() {
  static const Dequantize kernel;
  return kernel;
}

}  // namespace hm_cpu
