// embedding: gathers rows of the table.
#include <algorithm>
#include <cstring>

#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

struct Problem {
  std::int64_t rows, vocab, hidden;
  std::int32_t src, dst;

  explicit Problem(const Params& params)
      : rows(params.extent("rows")),
        vocab(params.extent("vocab")),
        hidden(params.extent("hidden")),
        src(params.dtype("src_dtype")),
        dst(params.dtype("dst_dtype")) {
    reject_unknown(params, {"rows", "vocab", "hidden", "src_dtype", "dst_dtype"});
    for (const std::int32_t dtype : {src, dst}) {
      if (dtype != HM_DTYPE_F32 && dtype != HM_DTYPE_BF16) unsupported("only f32 and bf16");
    }
  }
};

class Embedding : public Prepared {
 public:
  Embedding(const Problem& problem, const SimdLoops& simd)
      : problem_(problem),
        convert_(simd.rows->convert[problem.src == HM_DTYPE_BF16][problem.dst == HM_DTYPE_BF16]) {
    operands = {{"ids", HM_ROLE_INPUT, HM_DTYPE_S32, {problem.rows}, 0, ""},
                {"table", HM_ROLE_CONSTANT, problem.src, {problem.vocab, problem.hidden}, 0, ""},
                {"dst", HM_ROLE_OUTPUT, problem.dst, {problem.rows, problem.hidden}, 0, ""}};
    const std::string key(isa_key(simd.isa));
    info.implementation = "halmark:embedding:" + (key.empty() ? "generic" : key);
    info.isa = key;
  }

  void run(void* const* buffers, void*) override {
    const auto* ids = static_cast<const std::int32_t*>(buffers[0]);
    const char* table = static_cast<const char*>(buffers[1]);
    char* dst = static_cast<char*>(buffers[2]);
    const std::int64_t src_row = problem_.hidden * element_bytes(problem_.src);
    const std::int64_t dst_row = problem_.hidden * element_bytes(problem_.dst);
    const bool is_large = problem_.rows * problem_.hidden > 16384;
#pragma omp parallel for num_threads(threads) if (is_large && threads > 1) schedule(static)
    for (std::int64_t row = 0; row < problem_.rows; ++row) {
      // An id outside the table would read foreign memory: it gives zeros.
      if (ids[row] < 0 || ids[row] >= problem_.vocab) {
        std::memset(dst + row * dst_row, 0, static_cast<std::size_t>(dst_row));
      } else if (problem_.src == problem_.dst) {
        std::memcpy(dst + row * dst_row, table + ids[row] * src_row,
                    static_cast<std::size_t>(src_row));
      } else {
        RowTask task;
        task.src = table + ids[row] * src_row;
        task.dst = dst + row * dst_row;
        task.rows = 1;
        task.cols = problem_.hidden;
        convert_(task);
      }
    }
  }

 private:
  Problem problem_;
  void (*convert_)(const RowTask&);
};

class EmbeddingKernel : public Kernel {
 public:
  std::string_view name() const override { return "embedding"; }
  std::string_view op() const override { return "embedding"; }
  void require_support(const Device&, const Params& params, const Params&) const override {
    static_cast<void>(Problem(params));
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<Embedding>(Problem(params), simd_loops(device.isa));
  }
};

}  // namespace

const Kernel& embedding_kernel() {
  static const EmbeddingKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
