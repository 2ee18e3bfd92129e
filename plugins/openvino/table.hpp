// The functions that table.cpp makes kernels of.
#pragma once

#include "kernel.hpp"

namespace hm_openvino {

using Operands = std::vector<plug::Operand>;

Operands gemm_operands(const plug::Params& problem);
void build_gemm(const plug::Params& problem, Graph& graph);
std::int32_t gemm_precision(const plug::Params& problem);
Operands rmsnorm_operands(const plug::Params& problem);
void build_rmsnorm(const plug::Params& problem, Graph& graph);
Operands layernorm_operands(const plug::Params& problem);
void build_layernorm(const plug::Params& problem, Graph& graph);
Operands rope_operands(const plug::Params& problem);
void build_rope(const plug::Params& problem, Graph& graph);
Operands gated_activation_operands(const plug::Params& problem);
void build_gated_activation(const plug::Params& problem, Graph& graph);
Operands activation_operands(const plug::Params& problem);
void build_activation(const plug::Params& problem, Graph& graph);
Operands softmax_operands(const plug::Params& problem);
void build_softmax(const plug::Params& problem, Graph& graph);
Operands embedding_operands(const plug::Params& problem);
void build_embedding(const plug::Params& problem, Graph& graph);
Operands residual_add_operands(const plug::Params& problem);
void build_residual_add(const plug::Params& problem, Graph& graph);
Operands attention_operands(const plug::Params& problem);
void build_attention(const plug::Params& problem, Graph& graph);
std::int32_t attention_precision(const plug::Params& problem);
Operands decoder_layer_operands(const plug::Params& problem);
void build_decoder_layer(const plug::Params& problem, Graph& graph);
std::int32_t decoder_layer_precision(const plug::Params& problem);

}  // namespace hm_openvino
