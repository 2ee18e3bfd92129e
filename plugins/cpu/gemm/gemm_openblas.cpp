// gemm of f32 by OpenBLAS, where the system has it: the library most users of NumPy compute with.
#include <algorithm>
#include <limits>

#include "gemm.hpp"
#include "isa.hpp"
#include "openblas.hpp"

namespace hm_cpu {
namespace {

class OpenBlasGemm : public Prepared {
 public:
  explicit OpenBlasGemm(const GemmProblem& problem)
      : m_(static_cast<int>(problem.m)),
        n_(static_cast<int>(problem.n)),
        k_(static_cast<int>(problem.k)),
        is_transposed_(problem.wei_trans) {
    operands = gemm_operands(problem);
    info.implementation = (m_ == 1 ? "sgemv:" : "sgemm:") + openblas().core_name;
    info.isa = openblas().isa();
    info.library = "OpenBLAS";
    info.library_version = openblas().version;
  }

  void run(void* const* buffers, void*) override {
    const OpenBlas& library = openblas();
    const auto* src = static_cast<const float*>(buffers[0]);
    const auto* weights = static_cast<const float*>(buffers[1]);
    auto* dst = static_cast<float*>(buffers[2]);
    library.set_threads(threads);
    const int stored_rows = is_transposed_ ? n_ : k_, stored_columns = is_transposed_ ? k_ : n_;
    // One row of A is a vector, as NumPy has it too.
    if (m_ == 1) {
      library.sgemv(OpenBlas::row_major, is_transposed_ ? OpenBlas::plain : OpenBlas::transposed,
                    stored_rows, stored_columns, 1, weights, stored_columns, src, 1, 0, dst, 1);
    } else {
      library.sgemm(OpenBlas::row_major, OpenBlas::plain,
                    is_transposed_ ? OpenBlas::transposed : OpenBlas::plain, m_, n_, k_, 1, src, k_,
                    weights, stored_columns, 0, dst, n_);
    }
  }

 private:
  int m_, n_, k_;
  bool is_transposed_;
};

class OpenBlasGemmKernel : public Kernel {
 public:
  std::string_view name() const override { return "gemm_openblas"; }
  std::string_view op() const override { return "gemm"; }

  void require_support(const Device& device, const Params& params, const Params&) const override {
    const GemmProblem problem = gemm_problem(params);
    constexpr std::int64_t most = std::numeric_limits<int>::max();
    if (problem.src_dtype != HM_DTYPE_F32) unsupported("OpenBLAS multiplies f32 here");
    if (std::max({problem.m, problem.n, problem.k}) > most) {
      unsupported("OpenBLAS counts rows and columns in 32 bits");
    }
    if (device.isa < detect_isa()) {
      unsupported("OpenBLAS chooses its instructions itself, above the ceiling of this device");
    }
    openblas();
  }

  std::unique_ptr<Prepared> prepare(const Device&, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<OpenBlasGemm>(gemm_problem(params));
  }
};

}  // namespace

const Kernel& gemm_openblas_kernel() {
  static const OpenBlasGemmKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
