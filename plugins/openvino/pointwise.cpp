// Ops of values and rows: activation, gated_activation, residual_add, softmax, embedding. All
// compute in f32 whatever the operands are.
#include "table.hpp"

namespace hm_openvino {
namespace {

struct Rows {
  std::int64_t rows, cols;
  std::int32_t src, dst;
  std::int64_t kind;
  Dims dims() const { return {rows, cols}; }
};

Rows rows_of(const plug::Params& p, std::int64_t kinds) {
  if (kinds > 0) {
    plug::reject_unknown(p, {"rows", "cols", "src_dtype", "dst_dtype", "kind"});
  } else {
    plug::reject_unknown(p, {"rows", "cols", "src_dtype", "dst_dtype"});
  }
  require_float_pair(p);
  const std::int64_t kind = kinds > 0 ? p.at("kind") : 0;
  if (kinds > 0 && (kind < 0 || kind >= kinds)) {
    plug::unsupported("kind " + std::to_string(kind) + ", there are " + std::to_string(kinds));
  }
  return {p.extent("rows"), p.extent("cols"), p.dtype("src_dtype"), p.dtype("dst_dtype"), kind};
}

Value silu(Graph& graph, const Value& x) { return graph.unary("Swish", x, "opset4"); }

Value gelu_tanh(Graph& graph, const Value& x) {
  return graph.node("Gelu", "opset7", {{"approximation_mode", "TANH"}}, {x}, x.dtype, x.dims);
}

Value in_f32(Graph& graph, const char* name, std::int32_t dtype, const Dims& dims) {
  return graph.convert(graph.parameter(name, dtype, dims), HM_DTYPE_F32);
}

Operands source_and_result(const Rows& r, const Dims& source) {
  return {{"src", HM_ROLE_INPUT, r.src, source, 0, ""},
          {"dst", HM_ROLE_OUTPUT, r.dst, r.dims(), 0, ""}};
}

}  // namespace

Operands activation_operands(const plug::Params& problem) {
  const Rows r = rows_of(problem, 4);
  return source_and_result(r, r.dims());
}

// kind: 0 relu, 1 gelu_tanh, 2 silu, 3 relu squared.
void build_activation(const plug::Params& problem, Graph& graph) {
  const Rows r = rows_of(problem, 4);
  const Value x = in_f32(graph, "src", r.src, r.dims());
  Value y;
  if (r.kind == 1) {
    y = gelu_tanh(graph, x);
  } else if (r.kind == 2) {
    y = silu(graph, x);
  } else {
    y = graph.unary("ReLU", x);
    if (r.kind == 3) y = graph.binary("Multiply", y, y);
  }
  graph.result(graph.convert(y, r.dst));
}

Operands gated_activation_operands(const plug::Params& problem) {
  const Rows r = rows_of(problem, 2);
  return source_and_result(r, {r.rows, 2 * r.cols});
}

// kind: 0 silu, 1 gelu_tanh; src is gate then up.
void build_gated_activation(const plug::Params& problem, Graph& graph) {
  const Rows r = rows_of(problem, 2);
  const Value both = in_f32(graph, "src", r.src, {r.rows, 2 * r.cols});
  const Value gate = graph.slice(both, 0, r.cols, 1);
  const Value up = graph.slice(both, r.cols, 2 * r.cols, 1);
  const Value act = r.kind == 0 ? silu(graph, gate) : gelu_tanh(graph, gate);
  graph.result(graph.convert(graph.binary("Multiply", act, up), r.dst));
}

Operands residual_add_operands(const plug::Params& problem) {
  const Rows r = rows_of(problem, 0);
  return {{"a", HM_ROLE_INPUT, r.src, r.dims(), 0, ""},
          {"b", HM_ROLE_INPUT, r.src, r.dims(), 0, ""},
          {"dst", HM_ROLE_OUTPUT, r.dst, r.dims(), 0, ""}};
}

void build_residual_add(const plug::Params& problem, Graph& graph) {
  const Rows r = rows_of(problem, 0);
  const Value a = in_f32(graph, "a", r.src, r.dims());
  const Value b = in_f32(graph, "b", r.src, r.dims());
  graph.result(graph.convert(graph.binary("Add", a, b), r.dst));
}

Operands softmax_operands(const plug::Params& problem) {
  const Rows r = rows_of(problem, 0);
  return source_and_result(r, r.dims());
}

void build_softmax(const plug::Params& problem, Graph& graph) {
  const Rows r = rows_of(problem, 0);
  const Value x = in_f32(graph, "src", r.src, r.dims());
  graph.result(graph.convert(graph.softmax(x), r.dst));
}

Operands embedding_operands(const plug::Params& problem) {
  plug::reject_unknown(problem, {"rows", "vocab", "hidden", "src_dtype", "dst_dtype"});
  require_float_pair(problem);
  const std::int64_t rows = problem.extent("rows"), hidden = problem.extent("hidden");
  return {{"ids", HM_ROLE_INPUT, HM_DTYPE_S32, {rows}, 0, ""},
          {"table",
           HM_ROLE_CONSTANT,
           problem.dtype("src_dtype"),
           {problem.extent("vocab"), hidden},
           0,
           ""},
          {"dst", HM_ROLE_OUTPUT, problem.dtype("dst_dtype"), {rows, hidden}, 0, ""}};
}

// The rows are converted after they were gathered, not the table before.
void build_embedding(const plug::Params& problem, Graph& graph) {
  const Operands operands = embedding_operands(problem);
  const Value ids = graph.parameter("ids", HM_DTYPE_S32, operands[0].dims);
  const Value table = graph.weights("table", 1, operands[1].dtype, operands[1].dims);
  const Value rows = graph.node("Gather", "opset8", {{"batch_dims", "0"}},
                                {table, ids, graph.integers({0})}, table.dtype, operands[2].dims);
  graph.result(graph.convert(rows, operands[2].dtype));
}

}  // namespace hm_openvino
