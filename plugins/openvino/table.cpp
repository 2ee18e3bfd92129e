#include "table.hpp"

#include <algorithm>
#include <array>

namespace hm_openvino {

std::span<const Kernel> kernel_table() {
  static constexpr Kernel table[] = {
      {"gemm_matmul", "gemm", &gemm_operands, &build_gemm, &gemm_precision},
      {"attention_products", "attention", &attention_operands, &build_attention,
       &attention_precision},
      {"decoder_layer_graph", "decoder_layer", &decoder_layer_operands, &build_decoder_layer,
       &decoder_layer_precision},
      {"rmsnorm_rms", "rmsnorm", &rmsnorm_operands, &build_rmsnorm, &in_f32},
      {"layernorm_mvn", "layernorm", &layernorm_operands, &build_layernorm, &in_f32},
      {"rope_pairs", "rope", &rope_operands, &build_rope, &in_f32},
      {"gated_activation_graph", "gated_activation", &gated_activation_operands,
       &build_gated_activation, &in_f32},
      {"activation_graph", "activation", &activation_operands, &build_activation, &in_f32},
      {"softmax_graph", "softmax", &softmax_operands, &build_softmax, &in_f32},
      {"embedding_gather", "embedding", &embedding_operands, &build_embedding, &in_f32},
      {"residual_add_graph", "residual_add", &residual_add_operands, &build_residual_add, &in_f32},
  };
  return table;
}

void require_float_pair(const plug::Params& problem) {
  const std::int32_t src = problem.dtype("src_dtype"), dst = problem.dtype("dst_dtype");
  const auto is_float = [](std::int32_t dtype) {
    constexpr std::array floats{HM_DTYPE_F32, HM_DTYPE_BF16, HM_DTYPE_F16};
    return std::ranges::find(floats, dtype) != floats.end();
  };
  if (is_float(src) && is_float(dst) &&
      (src == dst || src == HM_DTYPE_F32 || dst == HM_DTYPE_F32)) {
    return;
  }
  plug::unsupported(std::string(plug::dtype_name(src)) + " to " +
                    std::string(plug::dtype_name(dst)) +
                    ": offered are f32, bf16 and f16, the same on both sides or f32 on one");
}

}  // namespace hm_openvino
