// rope: rotates pairs (j, j + rotary_dim / 2) of every head of a row by the row's angles.
#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

struct Problem {
  std::int64_t rows, heads, head_dim, rotary_dim;
  std::int32_t src, dst;

  explicit Problem(const Params& params)
      : rows(params.extent("rows")),
        heads(params.extent("heads")),
        head_dim(params.extent("head_dim")),
        rotary_dim(params.extent("rotary_dim")),
        src(params.dtype("src_dtype")),
        dst(params.dtype("dst_dtype")) {
    reject_unknown(params, {"rows", "heads", "head_dim", "rotary_dim", "src_dtype", "dst_dtype"});
    if (rotary_dim % 2 != 0 || rotary_dim > head_dim) {
      unsupported("rotary_dim must be even and at most head_dim");
    }
    for (const std::int32_t dtype : {src, dst}) {
      if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16) unsupported("only f32 and bf16");
    }
  }
};

class Rope : public Prepared {
 public:
  Rope(const Problem& problem, const SimdLoops& simd)
      : problem_(problem),
        loop_(simd.rows->rope[problem.src == HM_DTYPE_BF16][problem.dst == HM_DTYPE_BF16]) {
    const std::vector<std::int64_t> dims{problem.rows, problem.heads, problem.head_dim};
    const std::vector<std::int64_t> angles{problem.rows, problem.rotary_dim / 2};
    operands = {{"src", HM_ROLE_INPUT, problem.src, dims, 0, ""},
                {"cos", HM_ROLE_INPUT, HM_DTYPE_F32, angles, 0, ""},
                {"sin", HM_ROLE_INPUT, HM_DTYPE_F32, angles, 0, ""},
                {"dst", HM_ROLE_OUTPUT, problem.dst, dims, 0, ""}};
    const std::string key(isa_key(simd.isa));
    info.implementation = "halmark:rope:" + (key.empty() ? "generic" : key);
    info.isa = key;
  }

  void run(void* const* buffers, void*) override {
    const std::int64_t row_elements = problem_.heads * problem_.head_dim;
    const bool is_large = problem_.rows * row_elements > 16384;
#pragma omp parallel for num_threads(threads) if (is_large && threads > 1) schedule(static)
    for (std::int64_t row = 0; row < problem_.rows; ++row) {
      RopeTask task;
      task.src =
          static_cast<const char*>(buffers[0]) + row * row_elements * element_bytes(problem_.src);
      task.dst = static_cast<char*>(buffers[3]) + row * row_elements * element_bytes(problem_.dst);
      task.cos = static_cast<const float*>(buffers[1]) + row * problem_.rotary_dim / 2;
      task.sin = static_cast<const float*>(buffers[2]) + row * problem_.rotary_dim / 2;
      task.heads = problem_.heads;
      task.head_dim = problem_.head_dim;
      task.rotary_dim = problem_.rotary_dim;
      loop_(task);
    }
  }

 private:
  Problem problem_;
  void (*loop_)(const RopeTask&);
};

class RopeKernel : public Kernel {
 public:
  std::string_view name() const override { return "rope"; }
  std::string_view op() const override { return "rope"; }
  void require_support(const Device&, const Params& params, const Params&) const override {
    static_cast<void>(Problem(params));
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<Rope>(Problem(params), simd_loops(device.isa));
  }
};

}  // namespace

const Kernel& rope_kernel() {
  static const RopeKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
