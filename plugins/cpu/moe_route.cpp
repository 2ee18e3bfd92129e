// moe_route: the largest logits of each token and their weights. One pass per token keeps the best
// so far in order: of tens or hundreds of logits, few pass the last of them.
#include <omp.h>

#include <cmath>

#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

enum Scoring : std::int64_t { softmax_scoring = 0, sigmoid_scoring = 1 };

struct Problem {
  std::int64_t tokens, experts, top_k, scoring, renormalize;
  std::int32_t src;

  explicit Problem(const Params& params)
      : tokens(params.extent("tokens")),
        experts(params.extent("experts")),
        top_k(params.extent("top_k")),
        scoring(params.value_or("scoring", softmax_scoring)),
        renormalize(params.value_or("renormalize", 1)),
        src(params.dtype("src_dtype")) {
    reject_unknown(params, {"tokens", "experts", "top_k", "src_dtype", "scoring", "renormalize"});
    if (src != HM_DTYPE_F32 && src != HM_DTYPE_BF16) unsupported("only f32 and bf16");
    if (top_k > experts) unsupported("top_k must not exceed experts");
    if (scoring != softmax_scoring && scoring != sigmoid_scoring) {
      unsupported("scoring is 0 (softmax) or 1 (sigmoid)");
    }
    if (renormalize != 0 && renormalize != 1) unsupported("renormalize is 0 or 1");
  }
};

// The top_k largest in descending order into index and value, the lower index first among equals.
void select(const float* logits, std::int64_t experts, std::int64_t top_k, std::int32_t* index,
            float* value) {
  std::int64_t kept = 0;
  for (std::int64_t e = 0; e < experts; ++e) {
    const float x = logits[e];
    if (kept == top_k && !(x > value[top_k - 1])) continue;
    std::int64_t place = kept < top_k ? kept++ : top_k - 1;
    for (; place > 0 && x > value[place - 1]; --place) {
      value[place] = value[place - 1];
      index[place] = index[place - 1];
    }
    value[place] = x;
    index[place] = static_cast<std::int32_t>(e);
  }
}

class Route : public Prepared {
 public:
  Route(const Problem& problem, const SimdLoops& simd)
      : problem_(problem),
        widen_(simd.rows->convert[problem.src == HM_DTYPE_BF16][0]),
        softmax_(simd.rows->softmax[problem.src == HM_DTYPE_BF16][0]) {
    operands = {
        {"logits", HM_ROLE_INPUT, problem.src, {problem.tokens, problem.experts}, 0, ""},
        {"expert_index", HM_ROLE_OUTPUT, HM_DTYPE_S32, {problem.tokens, problem.top_k}, 0, ""},
        {"weight", HM_ROLE_OUTPUT, HM_DTYPE_F32, {problem.tokens, problem.top_k}, 0, ""}};
    const std::string key(isa_key(simd.isa));
    info.implementation = "halmark:moe_route:" + (key.empty() ? "generic" : key);
    info.isa = key;
  }

  // `team` rows of scratch: the host may give fewer threads than the device has, never more.
  void reserve_scratch(int team) {
    info.workspace_bytes = static_cast<std::uint64_t>(team * scratch_floats()) * sizeof(float);
  }

  void run(void* const* buffers, void* workspace) override {
    const bool is_large = problem_.tokens * problem_.experts > 16384;
#pragma omp parallel for num_threads(threads) if (is_large && threads > 1) schedule(static)
    for (std::int64_t token = 0; token < problem_.tokens; ++token) {
      route(buffers, token,
            static_cast<float*>(workspace) + omp_get_thread_num() * scratch_floats());
    }
  }

 private:
  // A line of its own per thread.
  std::int64_t scratch_floats() const { return (problem_.experts + 15) / 16 * 16; }

  void route(void* const* buffers, std::int64_t token, float* logits) const {
    const std::int64_t row_bytes = problem_.experts * element_bytes(problem_.src);
    std::int32_t* index = static_cast<std::int32_t*>(buffers[1]) + token * problem_.top_k;
    float* weight = static_cast<float*>(buffers[2]) + token * problem_.top_k;
    RowTask task;
    task.src = static_cast<const char*>(buffers[0]) + token * row_bytes;
    task.dst = logits;
    task.rows = 1;
    task.cols = problem_.experts;
    widen_(task);
    select(logits, problem_.experts, problem_.top_k, index, weight);
    if (problem_.scoring == sigmoid_scoring) {
      for (std::int64_t i = 0; i < problem_.top_k; ++i) weight[i] = 1 / (1 + std::exp(-weight[i]));
    } else if (problem_.renormalize == 1) {
      // The sum over all experts cancels.
      const float top = weight[0];
      for (std::int64_t i = 0; i < problem_.top_k; ++i) weight[i] = std::exp(weight[i] - top);
    } else {
      softmax_(task);
      for (std::int64_t i = 0; i < problem_.top_k; ++i) weight[i] = logits[index[i]];
    }
    if (problem_.renormalize == 1) divide_by_sum(weight);
  }

  void divide_by_sum(float* weight) const {
    float sum = 0;
    for (std::int64_t i = 0; i < problem_.top_k; ++i) sum += weight[i];
    for (std::int64_t i = 0; i < problem_.top_k; ++i) weight[i] /= sum;
  }

  Problem problem_;
  void (*widen_)(const RowTask&);
  void (*softmax_)(const RowTask&);
};

class RouteKernel : public Kernel {
 public:
  std::string_view name() const override { return "moe_route"; }
  std::string_view op() const override { return "moe_route"; }
  void require_support(const Device&, const Params& params, const Params&) const override {
    static_cast<void>(Problem(params));
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    auto prepared = std::make_unique<Route>(Problem(params), simd_loops(device.isa));
    prepared->reserve_scratch(device.threads);
    return prepared;
  }
};

}  // namespace

const Kernel& moe_route_kernel() {
  static const RouteKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
