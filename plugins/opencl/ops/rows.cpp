// rmsnorm, layernorm, softmax, quantize: ops that need a whole row before its first result.
#include <array>

#include "elements.hpp"
#include "elements_source.hpp"
#include "rows_source.hpp"
#include "vectors_source.hpp"

namespace hm_opencl {
namespace {

struct RowProblem {
  std::int64_t rows, cols;
  std::int32_t src, dst;
  double epsilon;
};

// Work-items that share a row, rows of a work-group, floats of a vector.
struct Sharing {
  std::int64_t items, rows, width;
};

class RowKernel : public Kernel {
 public:
  RowKernel(std::string_view name, const char* option) : name_(name), option_(option) {}
  std::string_view name() const override { return name_; }
  std::string_view op() const override { return name_; }

  std::vector<plug::Domain> domains(const Limits& limits, plug::Params) const override {
    const Sharing d = default_sharing(limits);
    return {plug::domain::ordered("items_per_row", {1, 16, 64, 256}, d.items),
            plug::domain::ordered("rows_per_group", {1, 4, 16}, d.rows),
            plug::domain::ordered("vector_width", {4, 8, 16}, d.width)};
  }

  void require_support(const Limits& limits, plug::Params problem,
                       plug::Params config) const override {
    static_cast<void>(read(problem));
    const Sharing s = sharing_of(limits, config);
    const auto items = static_cast<std::size_t>(s.items * s.rows);
    if (items > limits.work_group_items) {
      unsupported("work-groups of " + std::to_string(items) + " items; this device has " +
                  std::to_string(limits.work_group_items));
    }
    if (s.items > 1 && items * sizeof(float) > limits.local_bytes) {
      unsupported("sums of " + std::to_string(items) + " items exceed the local memory of " +
                  std::to_string(limits.local_bytes) + " bytes");
    }
  }

  std::unique_ptr<Prepared> prepare(OpenedDevice& device, plug::Params problem,
                                    plug::Params config) const override {
    const RowProblem p = read(problem);
    const Sharing s = sharing_of(device.limits, config);
    const auto items = static_cast<std::size_t>(s.items), rows = static_cast<std::size_t>(s.rows);
    Plan plan{.source = std::string(elements_source) + vectors_source + rows_source,
              .options = kinds(p.src, p.dst) + option_ + define("ITEMS", s.items) +
                         define("ROWS", s.rows) + define("WIDTH", s.width) +
                         define("EPSILON", p.epsilon) + "-cl-std=CL1.2",
              .entry = "run",
              .sizes = {p.rows, p.cols},
              .global = cl::NDRange(
                  items * (round_up(static_cast<std::size_t>(p.rows), rows) / rows), rows),
              .local = cl::NDRange(items, rows)};
    auto made = std::make_unique<Launched>(device, plan, operands(p));
    made->implementation = std::string(name_) + ' ' + plan.options;
    return made;
  }

 protected:
  virtual RowProblem read(plug::Params problem) const {
    plug::reject_unknown(problem, {"rows", "cols", "src_dtype", "dst_dtype"});
    return floats(problem);
  }
  virtual std::vector<Operand> operands(const RowProblem& p) const = 0;

  RowProblem floats(plug::Params problem) const {
    const RowProblem p{problem.at("rows"), problem.at("cols"), problem.dtype("src_dtype"),
                       problem.dtype("dst_dtype"),
                       static_cast<double>(problem.value_or("epsilon_e12", 1'000'000)) * 1e-12};
    require_size("rows", p.rows);
    require_size("cols", p.cols);
    require_float(name_, p.src);
    require_float(name_, p.dst);
    return p;
  }

 private:
  // A core takes a row alone; lanes that run side by side share it.
  static Sharing default_sharing(const Limits& limits) {
    if (limits.is_cpu || limits.work_group_items < 64) return {1, 1, 16};
    return {64, 1, 4};
  }
  static Sharing sharing_of(const Limits& limits, plug::Params config) {
    const Sharing d = default_sharing(limits);
    return {config.value_or("items_per_row", d.items), config.value_or("rows_per_group", d.rows),
            config.value_or("vector_width", d.width)};
  }

  std::string_view name_;
  const char* option_;
};

Operand src_of(const RowProblem& p) {
  return {"src", HM_ROLE_INPUT, p.src, {p.rows, p.cols}, 0, ""};
}
Operand dst_of(const RowProblem& p) {
  return {"dst", HM_ROLE_OUTPUT, p.dst, {p.rows, p.cols}, 0, ""};
}
Operand constant(const char* name, const RowProblem& p) {
  return {name, HM_ROLE_CONSTANT, HM_DTYPE_F32, {p.cols}, 0, ""};
}

class Norm : public RowKernel {
 public:
  Norm(std::string_view name, const char* option, bool has_shift)
      : RowKernel(name, option), has_shift_(has_shift) {}

 protected:
  RowProblem read(plug::Params problem) const override {
    plug::reject_unknown(problem, {"rows", "cols", "src_dtype", "dst_dtype", "epsilon_e12"});
    return floats(problem);
  }
  std::vector<Operand> operands(const RowProblem& p) const override {
    if (!has_shift_) return {src_of(p), constant("gain", p), dst_of(p)};
    return {src_of(p), constant("gain", p), constant("shift", p), dst_of(p)};
  }

 private:
  bool has_shift_;
};

class Softmax : public RowKernel {
 public:
  Softmax() : RowKernel("softmax", "-DOP_SOFTMAX ") {}

 protected:
  std::vector<Operand> operands(const RowProblem& p) const override {
    return {src_of(p), dst_of(p)};
  }
};

class Quantize : public RowKernel {
 public:
  Quantize() : RowKernel("quantize", "-DOP_QUANTIZE ") {}

 protected:
  RowProblem read(plug::Params problem) const override {
    plug::reject_unknown(problem, {"rows", "cols", "src_dtype", "dst_dtype"});
    const RowProblem p{problem.at("rows"), problem.at("cols"), problem.dtype("src_dtype"),
                       static_cast<std::int32_t>(problem.value_or("dst_dtype", HM_DTYPE_S8)), 0};
    require_size("rows", p.rows);
    require_size("cols", p.cols);
    require_float("quantize", p.src);
    if (p.dst != HM_DTYPE_S8) unsupported("quantize gives s8 only");
    return p;
  }
  std::vector<Operand> operands(const RowProblem& p) const override {
    return {src_of(p), dst_of(p), {"scale", HM_ROLE_OUTPUT, HM_DTYPE_F32, {p.rows}, 0, ""}};
  }
};

}  // namespace

std::span<const Kernel* const> row_kernels() {
  static const Norm rmsnorm("rmsnorm", "-DOP_RMSNORM ", false);
  static const Norm layernorm("layernorm", "-DOP_LAYERNORM ", true);
  static const Softmax softmax;
  static const Quantize quantize;
  static const std::array<const Kernel*, 4> kernels{&rmsnorm, &layernorm, &softmax, &quantize};
  return kernels;
}

}  // namespace hm_opencl
