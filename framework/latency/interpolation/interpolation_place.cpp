#include "latency/interpolation/interpolation_place.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "kernels/contract.hpp"

namespace halmark {

namespace {

// Collects coordinates; lengths were tried on the tables of the benchmark; others
// have to confirm them.
class Places {
 public:
  explicit Places(const Problem& problem) : problem_(problem) { out_.group = problem.op; }

  double size(std::string_view name) const {
    return static_cast<double>(problem_.params.value_or(name, 0));
  }
  void size_axis(std::string_view name, double octaves) {
    axis(std::string(name), std::log2(std::max(1.0, size(name))), octaves);
  }
  void axis(std::string name, double value, double length) {
    out_.at.push_back(value / length);
    out_.names.push_back(std::move(name));
    out_.lengths.push_back(length);
    out_.range_lengths.push_back(length);
  }
  void kind_axis(std::string name, bool is_second) {
    axis(std::move(name), is_second ? 1 : 0, 1);
    out_.range_lengths.back() = 0;
  }
  void group(std::string_view name) { append(out_.group, name); }
  void shape(std::string_view name) { append(out_.shape, name); }
  void free(std::string_view name) { out_.free = size(name); }
  void line(std::string_view name) { append(out_.line, name); }
  void line(std::string_view name, double value) {
    out_.line += ' ' + std::string(name) + '=' + std::to_string(std::llround(value));
  }
  // Half as many bits: twice as fast in what is moved and computed, else alike.
  void dtype_axis(std::string_view name, double octaves) {
    axis(std::string(name), std::log2(dtype_bits(problem_.params.dtype(name))), octaves);
  }
  InterpolationPlace finish() { return std::move(out_); }

 private:
  void append(std::string& to, std::string_view name) const {
    to += ' ' + std::string(name) + '=' + std::to_string(problem_.params.value_or(name, 0));
  }
  const Problem& problem_;
  InterpolationPlace out_;
};

// Rows that do not fill the tiles of a matmul take another kernel or a last tile for little work.
constexpr std::int64_t row_tile = 16;

InterpolationPlace gemm_place(const Problem& problem) {
  Places p(problem);
  for (const char* name : {"src_dtype", "wei_dtype", "dst_dtype", "wei_trans"}) p.group(name);
  p.size_axis("m", 1);
  p.size_axis("n", 2);
  p.size_axis("k", 2);
  p.kind_axis("partial tile", problem.params.at("m") % row_tile != 0);
  for (const char* name : {"n", "k"}) p.shape(name);
  p.free("m");
  for (const char* name : {"n", "k"}) p.line(name);
  return p.finish();
}

// How far a window cuts the keys of a query, in octaves; 0 where it holds them all.
double window_cut(const Places& p) {
  const double window = p.size("window"), context = p.size("context");
  return window > 0 && window < context ? 1 + std::log2(context / window) : 0;
}

constexpr std::array attention_line = {"batch",  "heads",   "kv_heads", "head_dim",
                                       "window", "q_dtype", "kv_dtype"};

InterpolationPlace prefill_place(const Problem& problem) {
  Places p(problem);
  p.group("causal");
  p.size_axis("new_tokens", 2);
  p.axis("batch x heads", std::log2(p.size("batch") * p.size("heads")), 2);
  p.axis("heads / kv_heads", std::log2(p.size("heads") / p.size("kv_heads")), 4);
  p.size_axis("heads", 16);
  p.size_axis("head_dim", 2);
  p.axis("cached", std::log2(p.size("context") / p.size("new_tokens")), 2);
  p.axis("window", window_cut(p), 2);
  p.axis("has window", p.size("window") > 0 ? 1 : 0, 2);
  p.dtype_axis("q_dtype", 4);
  p.dtype_axis("kv_dtype", 4);
  for (const char* name : {"heads", "kv_heads", "head_dim"}) p.shape(name);
  p.free("new_tokens");
  for (const char* name : attention_line) p.line(name);
  p.line("cached", p.size("context") - p.size("new_tokens"));
  return p.finish();
}

InterpolationPlace decode_place(const Problem& problem) {
  Places p(problem);
  p.group("causal");
  p.size_axis("context", 3);
  p.axis("batch x kv_heads", std::log2(p.size("batch") * p.size("kv_heads")), 2);
  p.axis("heads / kv_heads", std::log2(p.size("heads") / p.size("kv_heads")), 1.5);
  p.size_axis("kv_heads", 16);
  p.size_axis("head_dim", 1);
  p.axis("window", window_cut(p), 2);
  p.axis("has window", p.size("window") > 0 ? 1 : 0, 4);
  p.dtype_axis("kv_dtype", 2);
  p.dtype_axis("q_dtype", 2);
  for (const char* name : {"heads", "kv_heads", "head_dim"}) p.shape(name);
  p.free("context");
  for (const char* name : attention_line) p.line(name);
  return p.finish();
}

InterpolationPlace grouped_place(const Problem& problem) {
  Places p(problem);
  for (const char* name : {"src_dtype", "wei_dtype", "dst_dtype", "wei_trans"}) p.group(name);
  p.size_axis("tokens", 2);
  p.size_axis("n", 4);
  p.size_axis("k", 4);
  p.size_axis("top_k", 4);
  p.size_axis("experts", 4);
  p.size_axis("ep_size", 4);
  p.axis("skew", p.size("skew") / 100, 2);
  for (const char* name : {"n", "k", "experts"}) p.shape(name);
  p.free("tokens");
  for (const char* name : {"n", "k", "top_k", "experts", "ep_size", "skew"}) p.line(name);
  return p.finish();
}

// Element-wise ops, copies, collectives: every size is an axis, everything else the group.
std::optional<InterpolationPlace> plain_place(const Problem& problem) {
  const OpContract* contract = find_contract(problem.op);
  if (contract == nullptr) return std::nullopt;
  Places p(problem);
  bool has_size = false;
  for (const ParamSpec& spec : contract->params()) {
    if (spec.derived) continue;
    const bool is_size = spec.kind == ParamKind::size;
    if (is_size) {
      p.size_axis(spec.name, 2);
      if (has_size) {
        p.line(spec.name);
      } else {
        p.free(spec.name);
      }
    } else {
      p.group(spec.name);
    }
    has_size |= is_size;
  }
  if (!has_size) return std::nullopt;
  InterpolationPlace out = p.finish();
  out.shape = std::to_string(out.at.back());
  return out;
}

}  // namespace

std::optional<InterpolationPlace> interpolation_place(const Problem& problem) {
  if (problem.op == "gemm" || problem.op == "packed_gemm") return gemm_place(problem);
  if (problem.op == "grouped_gemm" || problem.op == "packed_grouped_gemm") {
    return grouped_place(problem);
  }
  if (problem.op == "attention") {
    const bool is_decode = problem.params.at("new_tokens") == 1;
    auto out = is_decode ? decode_place(problem) : prefill_place(problem);
    out.group += is_decode ? " decode" : " prefill";
    return out;
  }
  return plain_place(problem);
}

}  // namespace halmark
