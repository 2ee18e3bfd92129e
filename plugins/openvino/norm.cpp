// rmsnorm and layernorm, in the forms that the runtime knows as one operation.
#include <charconv>
#include <iterator>
#include <string>

#include "table.hpp"

namespace hm_openvino {
namespace {

struct Norm {
  Dims dims;
  std::int32_t src, dst;
  double epsilon;
};

Norm norm_of(const plug::Params& p) {
  plug::reject_unknown(p, {"rows", "cols", "src_dtype", "dst_dtype", "epsilon_e12"});
  require_float_pair(p);
  return {{p.extent("rows"), p.extent("cols")},
          p.dtype("src_dtype"),
          p.dtype("dst_dtype"),
          static_cast<double>(p.value_or("epsilon_e12", 1'000'000)) * 1e-12};
}

// The shortest text that reads back the same, whatever the locale is.
std::string number_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(std::begin(text), std::end(text), value);
  return error == std::errc() ? std::string(text, end) : "0";
}

}  // namespace

Operands rmsnorm_operands(const plug::Params& problem) {
  const Norm n = norm_of(problem);
  return {{"src", HM_ROLE_INPUT, n.src, n.dims, 0, ""},
          {"gain", HM_ROLE_CONSTANT, HM_DTYPE_F32, {n.dims[1]}, 0, ""},
          {"dst", HM_ROLE_OUTPUT, n.dst, n.dims, 0, ""}};
}

Operands layernorm_operands(const plug::Params& problem) {
  const Norm n = norm_of(problem);
  return {{"src", HM_ROLE_INPUT, n.src, n.dims, 0, ""},
          {"gain", HM_ROLE_CONSTANT, HM_DTYPE_F32, {n.dims[1]}, 0, ""},
          {"shift", HM_ROLE_CONSTANT, HM_DTYPE_F32, {n.dims[1]}, 0, ""},
          {"dst", HM_ROLE_OUTPUT, n.dst, n.dims, 0, ""}};
}

// x * (1 / sqrt(mean(x^2) + eps)) * gain: the order that the runtime fuses into one RMS.
void build_rmsnorm(const plug::Params& problem, Graph& graph) {
  const Norm n = norm_of(problem);
  const Value x = graph.convert(graph.parameter("src", n.src, n.dims), HM_DTYPE_F32);
  const Value gain = graph.weights("gain", 1, HM_DTYPE_F32, {n.dims[1]});
  const Value squares = graph.binary("Power", x, graph.constant(2));
  const Value mean = graph.node("ReduceMean", "opset1", {{"keep_dims", "true"}},
                                {squares, graph.integers({-1})}, HM_DTYPE_F32, {n.dims[0], 1});
  const Value padded = graph.binary("Add", mean, graph.constant(static_cast<float>(n.epsilon)));
  const Value inverse = graph.binary("Divide", graph.constant(1), graph.unary("Sqrt", padded));
  const Value scaled = graph.binary("Multiply", x, inverse);
  graph.result(graph.convert(graph.binary("Multiply", scaled, gain), n.dst));
}

void build_layernorm(const plug::Params& problem, Graph& graph) {
  const Norm n = norm_of(problem);
  const Value x = graph.convert(graph.parameter("src", n.src, n.dims), HM_DTYPE_F32);
  const Value gain = graph.weights("gain", 1, HM_DTYPE_F32, {n.dims[1]});
  const Value shift = graph.weights("shift", 2, HM_DTYPE_F32, {n.dims[1]});
  const Value normal = graph.node("MVN", "opset6",
                                  {{"eps", number_text(n.epsilon)},
                                   {"eps_mode", "inside_sqrt"},
                                   {"normalize_variance", "true"}},
                                  {x, graph.integers({-1})}, HM_DTYPE_F32, n.dims);
  const Value scaled = graph.binary("Multiply", normal, gain);
  graph.result(graph.convert(graph.binary("Add", scaled, shift), n.dst));
}

}  // namespace hm_openvino
