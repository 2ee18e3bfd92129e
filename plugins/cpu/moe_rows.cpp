// moe_dispatch and moe_combine: rows to the experts of this rank and back. Where a row lies follows
// from expert_index alone: grouped by expert, in the order of (token, slot) within one.
#include <algorithm>
#include <cstring>

#include "simd/simd.hpp"

namespace hm_cpu {
namespace {

struct Problem {
  std::int64_t tokens, top_k, experts, hidden, rows;
  std::int64_t first_expert = 0, local_experts = 0;
  std::int32_t dtype;

  explicit Problem(const Params& params)
      : tokens(params.extent("tokens")),
        top_k(params.extent("top_k")),
        experts(params.extent("experts")),
        hidden(params.extent("hidden")),
        rows(params.extent("rows")),
        dtype(params.dtype("dtype")) {
    reject_unknown(params, {"tokens", "top_k", "experts", "hidden", "dtype", "skew", "ep_size",
                            "ep_rank", "rows"});
    const std::int64_t ranks = std::max<std::int64_t>(1, params.value_or("ep_size", 1));
    if (experts % ranks != 0) unsupported("ep_size must divide experts");
    local_experts = experts / ranks;
    first_expert = params.value_or("ep_rank", 0) * local_experts;
    if (rows > INT32_MAX) unsupported("more than 2^31 - 1 rows");
  }

  std::int64_t row_bytes() const { return hidden * element_bytes(dtype); }
  std::int64_t slots() const { return tokens * top_k; }
  bool is_large() const { return rows * hidden > 16384; }
};

std::vector<Operand> moe_operands(const Problem& p, std::vector<Operand> inputs,
                                  std::int64_t dst_rows) {
  inputs.insert(inputs.begin() + 1,
                {"expert_index", HM_ROLE_INPUT, HM_DTYPE_S32, {p.tokens, p.top_k}, 0, ""});
  inputs.push_back({"dst", HM_ROLE_OUTPUT, p.dtype, {dst_rows, p.hidden}, 0, ""});
  return inputs;
}

// Hands out rows: an offset per local expert, behind the workspace's other part.
class RowPlaces {
 public:
  RowPlaces(const Problem& problem, std::int32_t* offsets) : problem_(problem), next_(offsets) {}

  static std::uint64_t bytes(const Problem& problem) {
    return static_cast<std::uint64_t>(problem.local_experts) * sizeof(std::int32_t);
  }

  // Calls visit(position, row) for each (token, slot) in order; row is negative where its expert is
  // not local. An index that fits no expert counts as not local, and so does a row too many.
  template <typename Visit>
  void visit(const std::int32_t* expert_index, Visit&& visit) const {
    std::fill_n(next_, problem_.local_experts, 0);
    const std::int64_t slots = problem_.slots();
    for (std::int64_t i = 0; i < slots; ++i) {
      const std::int64_t expert = expert_index[i] - problem_.first_expert;
      if (is_local(expert)) ++next_[expert];
    }
    std::int32_t row = 0;
    for (std::int64_t expert = 0; expert < problem_.local_experts; ++expert) {
      const std::int32_t count = next_[expert];
      next_[expert] = row;
      row += count;
    }
    for (std::int64_t i = 0; i < slots; ++i) {
      const std::int64_t expert = expert_index[i] - problem_.first_expert;
      const std::int32_t place = is_local(expert) ? next_[expert]++ : -1;
      visit(i, place < problem_.rows ? place : -1);
    }
  }

 private:
  bool is_local(std::int64_t expert) const {
    return expert >= 0 && expert < problem_.local_experts;
  }
  const Problem& problem_;
  std::int32_t* next_;
};

class Dispatch : public Prepared {
 public:
  explicit Dispatch(const Problem& problem) : problem_(problem) {
    operands = moe_operands(
        problem, {{"src", HM_ROLE_INPUT, problem.dtype, {problem.tokens, problem.hidden}, 0, ""}},
        problem.rows);
    info.implementation = "halmark:moe_dispatch";
    info.workspace_bytes =
        static_cast<std::uint64_t>(problem.rows) * sizeof(std::int32_t) + RowPlaces::bytes(problem);
  }

  void run(void* const* buffers, void* workspace) override {
    const char* src = static_cast<const char*>(buffers[0]);
    char* dst = static_cast<char*>(buffers[2]);
    auto* token_of = static_cast<std::int32_t*>(workspace);
    // A table with too few rows leaves the others as copies of the first token.
    std::fill_n(token_of, problem_.rows, 0);
    RowPlaces(problem_, token_of + problem_.rows)
        .visit(static_cast<const std::int32_t*>(buffers[1]),
               [&](std::int64_t position, std::int32_t row) {
                 if (row >= 0) token_of[row] = static_cast<std::int32_t>(position / problem_.top_k);
               });
    const std::int64_t bytes = problem_.row_bytes();
    const bool is_large = problem_.is_large();
#pragma omp parallel for num_threads(threads) if (is_large && threads > 1) schedule(static)
    for (std::int64_t row = 0; row < problem_.rows; ++row) {
      std::memcpy(dst + row * bytes, src + token_of[row] * bytes, static_cast<std::size_t>(bytes));
    }
  }

 private:
  Problem problem_;
};

class Combine : public Prepared {
 public:
  Combine(const Problem& problem, const SimdLoops& simd)
      : problem_(problem), combine_(simd.rows->combine[problem.dtype == HM_DTYPE_BF16]) {
    operands = moe_operands(
        problem,
        {{"src", HM_ROLE_INPUT, problem.dtype, {problem.rows, problem.hidden}, 0, ""},
         {"weight", HM_ROLE_INPUT, HM_DTYPE_F32, {problem.tokens, problem.top_k}, 0, ""}},
        problem.tokens);
    const std::string key(isa_key(simd.isa));
    info.implementation = "halmark:moe_combine:" + (key.empty() ? "generic" : key);
    info.isa = key;
    info.workspace_bytes = static_cast<std::uint64_t>(problem.slots()) * sizeof(std::int32_t) +
                           RowPlaces::bytes(problem);
  }

  void run(void* const* buffers, void* workspace) override {
    auto* row_of = static_cast<std::int32_t*>(workspace);
    RowPlaces(problem_, row_of + problem_.slots())
        .visit(static_cast<const std::int32_t*>(buffers[1]),
               [&](std::int64_t position, std::int32_t row) { row_of[position] = row; });
    const auto* weights = static_cast<const float*>(buffers[2]);
    const bool is_large = problem_.is_large();
#pragma omp parallel for num_threads(threads) if (is_large && threads > 1) schedule(static)
    for (std::int64_t token = 0; token < problem_.tokens; ++token) {
      CombineTask task;
      task.src = buffers[0];
      task.dst = static_cast<char*>(buffers[3]) + token * problem_.row_bytes();
      task.rows = row_of + token * problem_.top_k;
      task.weights = weights + token * problem_.top_k;
      task.slots = problem_.top_k;
      task.cols = problem_.hidden;
      combine_(task);
    }
  }

 private:
  Problem problem_;
  void (*combine_)(const CombineTask&);
};

class DispatchKernel : public Kernel {
 public:
  std::string_view name() const override { return "moe_dispatch"; }
  std::string_view op() const override { return "moe_dispatch"; }
  // Rows are copied as bytes, so every dtype will do.
  void require_support(const Device&, const Params& params, const Params&) const override {
    static_cast<void>(Problem(params).row_bytes());
  }
  std::unique_ptr<Prepared> prepare(const Device&, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<Dispatch>(Problem(params));
  }
};

class CombineKernel : public Kernel {
 public:
  std::string_view name() const override { return "moe_combine"; }
  std::string_view op() const override { return "moe_combine"; }
  void require_support(const Device&, const Params& params, const Params&) const override {
    const Problem problem(params);
    if (problem.dtype != HM_DTYPE_F32 && problem.dtype != HM_DTYPE_BF16) {
      unsupported("only f32 and bf16");
    }
  }
  std::unique_ptr<Prepared> prepare(const Device& device, const Params& params, const Params&,
                                    Comm*) const override {
    return std::make_unique<Combine>(Problem(params), simd_loops(device.isa));
  }
};

}  // namespace

const Kernel& moe_dispatch_kernel() {
  static const DispatchKernel kernel;
  return kernel;
}

const Kernel& moe_combine_kernel() {
  static const CombineKernel kernel;
  return kernel;
}

}  // namespace hm_cpu
