// rope: pairs (j, j + rotary_dim/2) of each head, rotated by the angle of the row.
#include "table.hpp"

namespace hm_openvino {

Operands rope_operands(const plug::Params& problem) {
  plug::reject_unknown(problem,
                       {"rows", "heads", "head_dim", "rotary_dim", "src_dtype", "dst_dtype"});
  require_float_pair(problem);
  const std::int64_t rows = problem.extent("rows"), head_dim = problem.extent("head_dim");
  const std::int64_t rotary = problem.extent("rotary_dim");
  if (rotary % 2 != 0 || rotary > head_dim) {
    plug::unsupported("rotary_dim must be even and at most head_dim");
  }
  const Dims dims{rows, problem.extent("heads"), head_dim};
  return {{"src", HM_ROLE_INPUT, problem.dtype("src_dtype"), dims, 0, ""},
          {"cos", HM_ROLE_INPUT, HM_DTYPE_F32, {rows, rotary / 2}, 0, ""},
          {"sin", HM_ROLE_INPUT, HM_DTYPE_F32, {rows, rotary / 2}, 0, ""},
          {"dst", HM_ROLE_OUTPUT, problem.dtype("dst_dtype"), dims, 0, ""}};
}

void build_rope(const plug::Params& problem, Graph& graph) {
  const Operands operands = rope_operands(problem);
  const Dims& dims = operands[0].dims;
  const std::int64_t rows = dims[0], width = dims[2], half = operands[1].dims[1];
  const Value x = graph.convert(graph.parameter("src", operands[0].dtype, dims), HM_DTYPE_F32);
  const Value cosine =
      graph.reshape(graph.parameter("cos", HM_DTYPE_F32, {rows, half}), {rows, 1, half});
  const Value sine =
      graph.reshape(graph.parameter("sin", HM_DTYPE_F32, {rows, half}), {rows, 1, half});
  const Value first = graph.slice(x, 0, half, 2), second = graph.slice(x, half, 2 * half, 2);
  const auto times = [&](const Value& a, const Value& b) { return graph.binary("Multiply", a, b); };
  std::vector<Value> parts{graph.binary("Subtract", times(first, cosine), times(second, sine)),
                           graph.binary("Add", times(second, cosine), times(first, sine))};
  if (2 * half < width) parts.push_back(graph.slice(x, 2 * half, width, 2));
  const Value rotated = graph.node("Concat", "opset1", {{"axis", "2"}}, parts, HM_DTYPE_F32, dims);
  graph.result(graph.convert(rotated, operands[3].dtype));
}

}  // namespace hm_openvino
