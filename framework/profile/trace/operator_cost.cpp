#include "profile/trace/operator_cost.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <map>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "kernels/contract.hpp"
#include "profile/trace/attention_cost.hpp"
#include "profile/trace/operator_class.hpp"

namespace halmark::trace {
namespace {

using Arguments = std::vector<Argument>;

std::vector<std::int64_t> sizes_of(const Json& json, const std::string& where) {
  std::vector<std::int64_t> out;
  for (const Json& size : json) {
    const bool is_size = size.is_number_integer() && size >= 0 && size <= (std::int64_t{1} << 40);
    if (!is_size) throw refused("Input Dims hold " + printable(dump_json(size)), where);
    out.push_back(size.get<std::int64_t>());
  }
  return out;
}

std::string text_of(const Json& json) {
  return json.is_string() ? json.get<std::string>() : json.is_null() ? "" : dump_json(json);
}

std::optional<Dtype> dtype_of(const std::string& type) {
  static const std::map<std::string, Dtype, std::less<>> names = {
      {"float", Dtype::f32},
      {"double", Dtype::f64},
      {"c10::Half", Dtype::f16},
      {"c10::BFloat16", Dtype::bf16},
      {"c10::Float8_e4m3fn", Dtype::f8_e4m3fn},
      {"c10::Float8_e5m2", Dtype::f8_e5m2},
      {"c10::Float8_e4m3fnuz", Dtype::f8_e4m3fnuz},
      {"c10::Float8_e5m2fnuz", Dtype::f8_e5m2fnuz},
      {"signed char", Dtype::s8},
      {"unsigned char", Dtype::u8},
      {"int", Dtype::s32},
  };
  const auto it = names.find(type);
  if (it == names.end()) return std::nullopt;
  return it->second;
}

bool is_tensor(const Arguments& a, std::size_t i, std::size_t rank) {
  return i < a.size() && a[i].dims.size() == rank;
}

// FLOPs do not depend on the type: f32 stands for all in the contract.
OperatorCost product(const MatmulShape& s) {
  constexpr auto f32 = static_cast<std::int64_t>(Dtype::f32);
  OperatorCost out{.matmul = s};
  if (s.m == 0 || s.n == 0 || s.k == 0 || s.batch == 0) {
    out.flops = 0;  // an empty batch is known to cost nothing
    return out;
  }
  const Problem problem = complete_problem({"gemm",
                                            {{"m", s.m},
                                             {"n", s.n},
                                             {"k", s.k},
                                             {"src_dtype", f32},
                                             {"wei_dtype", f32},
                                             {"dst_dtype", f32}}});
  out.flops =
      static_cast<double>(s.batch) * find_contract("gemm")->work(problem.params).matmul_flops;
  return out;
}

// Sizes that no device holds stay that large: the contract refuses them.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? INT64_MAX : out;
}

std::int64_t product_of(const std::vector<std::int64_t>& dims, std::size_t begin, std::size_t end) {
  std::int64_t out = 1;
  for (std::size_t i = begin; i < end; ++i) out = times(out, dims[i]);
  return out;
}

// a[m,k] with b[k,n] or b[n,k]: libraries differ, and one of the two always shares k.
OperatorCost pair_at(const Arguments& a, std::size_t i, std::size_t j) {
  if (!is_tensor(a, j, 2) || i >= a.size() || a[i].dims.empty()) {
    return unknown("two matrices are expected as arguments " + std::to_string(i) + " and " +
                   std::to_string(j));
  }
  const auto& x = a[i].dims;
  const auto& w = a[j].dims;
  const std::int64_t k = x.back();
  if (w[0] != k && w[1] != k) return unknown("the inner sizes of its matrices differ");
  return product({1, product_of(x, 0, x.size() - 1), w[0] == k ? w[1] : w[0], k});
}

// x[..., k] w[n,k].
OperatorCost linear_at(const Arguments& a, std::size_t i, std::size_t j) {
  if (!is_tensor(a, j, 2) || i >= a.size() || a[i].dims.empty() ||
      a[i].dims.back() != a[j].dims[1]) {
    return unknown("x[...,k] and weights [n,k] are expected");
  }
  const auto& x = a[i].dims;
  return product({1, product_of(x, 0, x.size() - 1), a[j].dims[0], a[j].dims[1]});
}

OperatorCost batched_at(const Arguments& a, std::size_t i, std::size_t j) {
  if (!is_tensor(a, i, 3) || !is_tensor(a, j, 3) || a[i].dims[2] != a[j].dims[1]) {
    return unknown("two batches of matrices are expected");
  }
  return product({a[i].dims[0], a[i].dims[1], a[j].dims[2], a[i].dims[2]});
}

OperatorCost vector_at(const Arguments& a, std::size_t i, std::size_t j) {
  if (!is_tensor(a, i, 2) || !is_tensor(a, j, 1)) return unknown("a matrix and a vector");
  return product({1, a[i].dims[0], 1, a[i].dims[1]});
}

OperatorCost inner_product(const Arguments& a) {
  if (!is_tensor(a, 0, 1) || !is_tensor(a, 1, 1)) return unknown("two vectors are expected");
  return product({1, 1, 1, a[0].dims[0]});
}

// torch.matmul: vectors become matrices, leading dimensions are broadcast.
OperatorCost broadcast_matmul(const Arguments& a) {
  if (a.size() < 2 || a[0].dims.empty() || a[1].dims.empty()) {
    return unknown("two tensors are expected");
  }
  auto x = a[0].dims, y = a[1].dims;
  if (x.size() == 1) x.insert(x.begin(), 1);
  if (y.size() == 1) y.push_back(1);
  const std::int64_t m = x[x.size() - 2], k = x.back(), n = y.back();
  std::int64_t batch = 1;
  for (std::size_t i = 2; i < std::max(x.size(), y.size()); ++i) {
    const std::int64_t left = i < x.size() ? x[x.size() - 1 - i] : 1;
    const std::int64_t right = i < y.size() ? y[y.size() - 1 - i] : 1;
    batch = times(batch, std::max(left, right));
  }
  return product({batch, m, n, k});
}

// rows[T,k] times the matrix of each row's group, [groups,k,n].
OperatorCost grouped(const Arguments& a) {
  if (!is_tensor(a, 0, 2) || !is_tensor(a, 1, 3)) return unknown("rows and groups are expected");
  const std::int64_t k = a[0].dims[1];
  const auto& w = a[1].dims;
  return product({1, a[0].dims[0], w[1] == k ? w[2] : w[1], k});
}

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> out;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), value);
    if (error == std::errc()) out.push_back(value);
    at = error == std::errc() ? end : at + 1;
  }
  return out;
}

// input[N,C,...], weight[O,C/groups,...]; transposed: weight[C,O/groups,...]. The output's sizes
// need stride, padding and dilation, which are values and not shapes.
OperatorCost convolution(const Arguments& a, bool is_general) {
  if (a.size() < 7 || a[0].dims.size() < 3 || a[1].dims.size() != a[0].dims.size()) {
    return unknown("input and weights of a convolution are expected");
  }
  const std::size_t axes = a[0].dims.size() - 2;
  const auto stride = numbers_of(a[3].value), padding = numbers_of(a[4].value);
  const auto dilation = numbers_of(a[5].value);
  const auto& x = a[0].dims;
  const auto& w = a[1].dims;
  const bool is_transposed = is_general && (a[6].value == "True" || a[6].value == "true");
  const std::int64_t window = product_of(w, 2, w.size());
  if (is_transposed)
    return product({1, times(x[0], product_of(x, 2, x.size())), times(w[1], window), w[0]});
  if (stride.empty() || padding.empty() || dilation.empty()) {
    return unknown("stride, padding and dilation are not in the trace");
  }
  const auto at = [](const std::vector<std::int64_t>& v, std::size_t i) {
    return i < v.size() ? v[i] : v.back();
  };
  std::int64_t pixels = x[0];
  for (std::size_t i = 0; i < axes; ++i) {
    constexpr std::int64_t step_max = 1 << 20;
    for (const auto& steps : {stride, padding, dilation}) {
      if (at(steps, i) < 0 || at(steps, i) > step_max) return unknown("no output has this size");
    }
    const std::int64_t reach = at(dilation, i) * (w[i + 2] - 1) + 1;
    const std::int64_t span = x[i + 2] + 2 * at(padding, i) - reach;
    if (at(stride, i) < 1 || span < 0) return unknown("no output has this size");
    pixels = times(pixels, span / at(stride, i) + 1);
  }
  return product({1, pixels, w[0], times(w[1], window)});
}

// hidden[T,H], w1[E,2I,H], w2[E,H,I], weights[T,K]: every token meets K experts.
OperatorCost fused_experts(const Arguments& a) {
  if (!is_tensor(a, 0, 2) || !is_tensor(a, 1, 3) || !is_tensor(a, 2, 3) || !is_tensor(a, 3, 2) ||
      a[1].dims[2] != a[0].dims[1] || a[2].dims[1] != a[0].dims[1]) {
    return unknown("hidden states, both weights and the chosen experts are expected as arguments");
  }
  const std::int64_t rows = times(a[0].dims[0], a[3].dims[1]), hidden = a[0].dims[1];
  OperatorCost out = product({1, rows, a[1].dims[1], hidden});
  out.flops = *out.flops + *product({1, rows, hidden, a[2].dims[2]}).flops;
  return out;
}

using Formula = std::function<OperatorCost(const Arguments&)>;

template <OperatorCost (*pair)(const Arguments&, std::size_t, std::size_t)>
Formula at(std::size_t i, std::size_t j) {
  return [i, j](const Arguments& a) { return pair(a, i, j); };
}

const std::map<std::string, Formula, std::less<>>& formulas() {
  static const std::map<std::string, Formula, std::less<>> table = [] {
    std::map<std::string, Formula, std::less<>> out = {
        {"aten::mm", at<pair_at>(0, 1)},
        {"aten::_int_mm", at<pair_at>(0, 1)},
        {"aten::_scaled_mm", at<pair_at>(0, 1)},
        {"aten::_scaled_mm_v2", at<pair_at>(0, 1)},
        {"torchao::scaled_mm", at<pair_at>(0, 1)},
        {"aten::addmm", at<pair_at>(1, 2)},
        {"aten::_addmm_activation", at<pair_at>(1, 2)},
        {"aten::bmm", at<batched_at>(0, 1)},
        {"aten::baddbmm", at<batched_at>(1, 2)},
        {"aten::addbmm", at<batched_at>(1, 2)},
        {"aten::mv", at<vector_at>(0, 1)},
        {"aten::addmv", at<vector_at>(1, 2)},
        {"aten::dot", inner_product},
        {"aten::vdot", inner_product},
        {"aten::inner", at<linear_at>(0, 1)},
        {"aten::linear", at<linear_at>(0, 1)},
        {"aten::mkldnn_linear", at<linear_at>(0, 1)},
        {"mkldnn::_linear_pointwise", at<linear_at>(0, 1)},
        {"mkl::_mkl_linear", at<linear_at>(0, 2)},
        {"aten::matmul", broadcast_matmul},
        {"aten::_grouped_mm", grouped},
        {"aten::_scaled_grouped_mm", grouped},
        {"_C::cutlass_scaled_mm", at<pair_at>(1, 2)},
        {"_C::cutlass_scaled_mm_azp", at<pair_at>(1, 2)},
        {"sgl_kernel::fp8_scaled_mm", at<pair_at>(0, 1)},
        {"sgl_kernel::int8_scaled_mm", at<pair_at>(0, 1)},
        {"sgl_kernel::fp8_blockwise_scaled_mm", at<pair_at>(0, 1)},
        {"sglang::deep_gemm_fp8_fp8_bf16_nt", at<linear_at>(0, 2)},
        {"vllm::w8a8_block_fp8_matmul", at<linear_at>(0, 1)},
        {"aten::convolution", [](const Arguments& a) { return convolution(a, true); }},
        {"aten::_convolution", [](const Arguments& a) { return convolution(a, true); }},
        {"vllm::fused_experts", fused_experts},
    };
    for (const char* name : {"aten::conv1d", "aten::conv2d", "aten::conv3d"}) {
      out.emplace(name, [](const Arguments& a) { return convolution(a, false); });
    }
    for (const char* name : {"vllm::inplace_fused_experts", "vllm::outplace_fused_experts",
                             "sglang::inplace_fused_experts", "sglang::outplace_fused_experts"}) {
      out.emplace(name, fused_experts);
    }
    return out;
  }();
  return table;
}

std::optional<Dtype> first_dtype(std::string_view name, const Arguments& arguments) {
  const bool adds = name == "aten::addmm" || name == "aten::baddbmm" || name == "aten::addmv" ||
                    name == "aten::addbmm" || name == "aten::_addmm_activation" ||
                    name.starts_with("_C::cutlass_scaled_mm");
  const std::size_t at = adds ? 1 : 0;
  return at < arguments.size() ? dtype_of(arguments[at].type) : std::nullopt;
}

}  // namespace

std::vector<Argument> parse_arguments(std::string_view text, const std::string& where) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    const std::size_t end = std::min(text.find('\x1e'), text.size());
    line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::vector<Argument> out;
  const auto array = [&](std::string_view line) {
    return line.empty() ? Json::array() : parse_json(line, where);
  };
  const Json dims = array(lines[0]), types = array(lines[1]), values = array(lines[2]);
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Argument argument;
    if (!dims[i].is_array()) throw refused("Input Dims hold something that is no list", where);
    if (!dims[i].empty() && dims[i][0].is_array()) {
      for (const Json& tensor : dims[i]) argument.list.push_back(sizes_of(tensor, where));
    } else {
      argument.dims = sizes_of(dims[i], where);
    }
    if (i < types.size()) argument.type = text_of(types[i]);
    if (i < values.size()) argument.value = text_of(values[i]);
    out.push_back(std::move(argument));
  }
  return out;
}

OperatorCost operator_cost(std::string_view name, const std::vector<Argument>& arguments) {
  if (arguments.empty()) return unknown("shapes were not recorded (record_shapes=True)");
  try {
    const auto it = formulas().find(name);
    OperatorCost out = it != formulas().end() ? it->second(arguments)
                       : classify(name) == OperatorClass::attention
                           ? attention_cost(name, arguments)
                           : unknown("no formula for this operator");
    out.dtype = first_dtype(name, arguments);
    return out;
  } catch (const Error& error) {
    // A contract refuses the sizes: too large for any device.
    return unknown(error.what());
  }
}

}  // namespace halmark::trace
