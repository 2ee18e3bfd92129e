// The mixture-of-experts ops, computed plainly: every row is looked for where it is needed.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tensor.hpp"

namespace fake {
namespace {

constexpr std::int32_t in = HM_ROLE_INPUT;
constexpr std::int32_t out = HM_ROLE_OUTPUT;
using Operands = std::vector<Operand>;
using Tensors = std::span<const Tensor>;

Operands route_operands(const Shape& s) {
  const std::int64_t tokens = need(s, "tokens"), top_k = need(s, "top_k");
  return {{"logits", in, need(s, "src_dtype"), {tokens, need(s, "experts")}},
          {"expert_index", out, HM_DTYPE_S32, {tokens, top_k}},
          {"weight", out, HM_DTYPE_F32, {tokens, top_k}}};
}
// The largest of what is left, top_k times.
void route(const Shape& s, Tensors t) {
  const std::int64_t experts = need(s, "experts"), top_k = need(s, "top_k");
  const bool is_sigmoid = need_or(s, "scoring", 0) == 1;
  for (std::int64_t token = 0; token < need(s, "tokens"); ++token) {
    std::vector<double> logits, score;
    for (std::int64_t e = 0; e < experts; ++e) logits.push_back(t[0].at(token * experts + e));
    for (const double x : logits)
      score.push_back(is_sigmoid ? 1 / (1 + std::exp(-x)) : std::exp(x));
    double sum = is_sigmoid ? 1 : std::accumulate(score.begin(), score.end(), 0.0);
    std::vector<std::ptrdiff_t> picked;
    double picked_sum = 0;
    for (std::int64_t i = 0; i < top_k; ++i) {
      const auto best = std::max_element(logits.begin(), logits.end()) - logits.begin();
      logits[static_cast<std::size_t>(best)] = -INFINITY;
      picked.push_back(best);
      picked_sum += score[static_cast<std::size_t>(best)];
    }
    if (need_or(s, "renormalize", 1) != 0) sum = picked_sum;
    for (std::int64_t i = 0; i < top_k; ++i) {
      const auto expert = picked[static_cast<std::size_t>(i)];
      t[1].set(token * top_k + i, static_cast<double>(expert));
      t[2].set(token * top_k + i, score[static_cast<std::size_t>(expert)] / sum);
    }
  }
}

std::int64_t local_count(const Shape& s) { return need(s, "experts") / need_or(s, "ep_size", 1); }

// Calls visit(row, slot of the table) for the rows of this rank.
template <class Visit>
void for_each_row(const Shape& s, const Tensor& table, Visit visit) {
  std::int64_t row = 0;
  const std::int64_t first = need_or(s, "ep_rank", 0) * local_count(s);
  for (std::int64_t expert = first; expert < first + local_count(s); ++expert) {
    for (std::int64_t i = 0; i < table.elements; ++i) {
      if (table.at(i) == static_cast<double>(expert)) visit(row++, i);
    }
  }
}

Operands dispatch_operands(const Shape& s) {
  const std::int64_t tokens = need(s, "tokens"), hidden = need(s, "hidden");
  return {{"src", in, need(s, "dtype"), {tokens, hidden}},
          {"expert_index", in, HM_DTYPE_S32, {tokens, need(s, "top_k")}},
          {"dst", out, need(s, "dtype"), {need(s, "rows"), hidden}}};
}
void dispatch(const Shape& s, Tensors t) {
  const std::int64_t hidden = need(s, "hidden"), top_k = need(s, "top_k");
  for_each_row(s, t[1], [&](std::int64_t row, std::int64_t slot) {
    for (std::int64_t c = 0; c < hidden; ++c) {
      t[2].set(row * hidden + c, t[0].at(slot / top_k * hidden + c));
    }
  });
}

Operands combine_operands(const Shape& s) {
  const std::int64_t tokens = need(s, "tokens"), hidden = need(s, "hidden");
  const std::int64_t top_k = need(s, "top_k");
  return {{"src", in, need(s, "dtype"), {need(s, "rows"), hidden}},
          {"expert_index", in, HM_DTYPE_S32, {tokens, top_k}},
          {"weight", in, HM_DTYPE_F32, {tokens, top_k}},
          {"dst", out, need(s, "dtype"), {tokens, hidden}}};
}
void combine(const Shape& s, Tensors t) {
  const std::int64_t hidden = need(s, "hidden"), top_k = need(s, "top_k");
  std::vector<double> sums(static_cast<std::size_t>(t[3].elements), 0);
  for_each_row(s, t[1], [&](std::int64_t row, std::int64_t slot) {
    for (std::int64_t c = 0; c < hidden; ++c) {
      sums[static_cast<std::size_t>(slot / top_k * hidden + c)] +=
          t[2].at(slot) * t[0].at(row * hidden + c);
    }
  });
  for (std::size_t i = 0; i < sums.size(); ++i) t[3].set(static_cast<std::int64_t>(i), sums[i]);
}

Operands grouped_gemm_operands(const Shape& s) {
  const std::int64_t rows = need(s, "rows"), n = need(s, "n"), k = need(s, "k");
  std::vector<std::int64_t> weights = {local_count(s), k, n};
  if (need_or(s, "wei_trans", 0) != 0) weights = {local_count(s), n, k};
  return {{"src", in, need(s, "src_dtype"), {rows, k}},
          {"wei", HM_ROLE_CONSTANT, need(s, "wei_dtype"), weights},
          {"expert_rows", in, HM_DTYPE_S32, {local_count(s)}},
          {"dst", out, need(s, "dst_dtype"), {rows, n}}};
}
void grouped_gemm(const Shape& s, Tensors t) {
  const std::int64_t n = need(s, "n"), k = need(s, "k");
  const bool transposed = need_or(s, "wei_trans", 0) != 0;
  std::int64_t expert = 0, last = static_cast<std::int64_t>(t[2].at(0));
  for (std::int64_t row = 0; row < need(s, "rows"); ++row) {
    while (row >= last) last += static_cast<std::int64_t>(t[2].at(++expert));
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t q = 0; q < k; ++q) {
        sum +=
            t[0].at(row * k + q) * t[1].at(expert * n * k + (transposed ? j * k + q : q * n + j));
      }
      t[3].set(row * n + j, sum);
    }
  }
}

}  // namespace

std::vector<Op> moe_ops() {
  const std::vector<std::string_view> routed = {"tokens", "top_k",   "experts", "hidden", "dtype",
                                                "skew",   "ep_size", "ep_rank", "rows"};
  return {{"moe_route",
           {"tokens", "experts", "top_k", "src_dtype", "scoring", "renormalize"},
           route_operands,
           route},
          {"moe_dispatch", routed, dispatch_operands, dispatch},
          {"moe_combine", routed, combine_operands, combine},
          {"grouped_gemm",
           {"tokens", "top_k", "experts", "skew", "ep_size", "ep_rank", "rows", "n", "k",
            "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"},
           grouped_gemm_operands,
           grouped_gemm}};
}

}  // namespace fake
