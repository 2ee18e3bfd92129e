// gemm as MatMul with the weights as a constant, which the runtime packs when it compiles.
#include "table.hpp"

namespace hm_openvino {
namespace {

struct Gemm {
  std::int64_t m, n, k;
  std::int32_t src, wei, dst;
  bool wei_trans;
};

Gemm gemm_of(const plug::Params& p) {
  plug::reject_unknown(p, {"m", "n", "k", "src_dtype", "wei_dtype", "dst_dtype", "wei_trans"});
  return {p.extent("m"),
          p.extent("n"),
          p.extent("k"),
          p.dtype("src_dtype"),
          p.dtype("wei_dtype"),
          p.dtype("dst_dtype"),
          p.value_or("wei_trans", 0) != 0};
}

}  // namespace

std::vector<plug::Operand> gemm_operands(const plug::Params& problem) {
  const Gemm g = gemm_of(problem);
  if (g.src == HM_DTYPE_S8) {
    plug::unsupported(
        "gemm of s8: the runtime multiplies 8-bit integers only between FakeQuantize "
        "operations, whose results are floats and not the exact s32 sums");
  }
  const bool is_float = g.src == HM_DTYPE_F32 || g.src == HM_DTYPE_BF16 || g.src == HM_DTYPE_F16;
  if (!is_float || g.wei != g.src || (g.dst != g.src && g.dst != HM_DTYPE_F32)) {
    plug::unsupported("gemm of " + std::string(plug::dtype_name(g.src)) + " x " +
                      std::string(plug::dtype_name(g.wei)) + " to " +
                      std::string(plug::dtype_name(g.dst)));
  }
  const Dims wei = g.wei_trans ? Dims{g.n, g.k} : Dims{g.k, g.n};
  return {{"src", HM_ROLE_INPUT, g.src, {g.m, g.k}, 0, ""},
          {"wei", HM_ROLE_CONSTANT, g.wei, wei, 0, ""},
          {"dst", HM_ROLE_OUTPUT, g.dst, {g.m, g.n}, 0, ""}};
}

void build_gemm(const plug::Params& problem, Graph& graph) {
  const Gemm g = gemm_of(problem);
  const Dims wei_dims = g.wei_trans ? Dims{g.n, g.k} : Dims{g.k, g.n};
  Value src = graph.parameter("src", g.src, {g.m, g.k});
  Value wei = graph.weights("wei", 1, g.wei, wei_dims);
  // With a wider result the product itself is f32 in the graph, so that nothing rounds it; the
  // precision hint lets the device multiply in the narrow type.
  const std::int32_t type = g.dst;
  const Value product =
      graph.matmul(graph.convert(src, type), graph.convert(wei, type), g.wei_trans);
  graph.result(graph.convert(product, g.dst));
}

// f16 hints make the CPU device round the results to f16 as well: with wider ones it is asked for
// f32. bf16 ones leave them as they were summed.
std::int32_t gemm_precision(const plug::Params& problem) {
  const std::int32_t src = problem.dtype("src_dtype");
  const bool rounds = src == HM_DTYPE_F16 && problem.dtype("dst_dtype") != src;
  return rounds ? HM_DTYPE_F32 : src;
}

}  // namespace hm_openvino
