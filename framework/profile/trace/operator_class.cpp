#include "profile/trace/operator_class.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

#include "core/ranges.hpp"
#include "core/text/enum_names.hpp"

namespace halmark::trace {
namespace {

struct Row {
  OperatorClass of;
  std::string_view names;  // separated by spaces, "aten::" left out
};

// Names after a comment line come from the operator libraries named there.
constexpr std::array rows = {
    Row{OperatorClass::free,
        "t transpose t_ transpose_ squeeze_ unsqueeze_ permute view reshape _reshape_alias "
        "as_strided as_strided_ expand expand_as "
        "slice select "
        "unsqueeze squeeze narrow chunk split split_with_sizes unbind flatten unflatten "
        "_unsafe_view detach detach_ alias empty empty_like empty_strided new_empty resize_ "
        "resolve_conj resolve_neg result_type is_nonzero _has_compatible_shallow_copy_type set_ "
        "lift_fresh numpy_T mT swapaxes swapdims movedim view_as unsafe_split pin_memory is_pinned "
        "_efficientzerotensor broadcast_tensors _local_scalar_dense item unfold diagonal "
        "contiguous to type_as values indices is_contiguous record_stream "
        "can_cast _assert_async"},
    Row{OperatorClass::matmul,
        "mm addmm bmm baddbmm addbmm mv addmv dot vdot inner linear matmul _scaled_mm "
        "_scaled_mm_v2 _int_mm _grouped_mm _scaled_grouped_mm _addmm_activation convolution "
        "convolution_overrideable conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
        "conv_transpose3d _convolution _C::cutlass_scaled_mm _C::cutlass_scaled_mm_azp "
        "sgl_kernel::fp8_scaled_mm sgl_kernel::fp8_blockwise_scaled_mm sgl_kernel::int8_scaled_mm "
        "sglang::deep_gemm_fp8_fp8_bf16_nt vllm::w8a8_block_fp8_matmul torchao::scaled_mm "
        "mkldnn::_linear_pointwise mkl::_mkl_linear mkldnn_linear quantized::linear"},
    Row{OperatorClass::attention,
        "scaled_dot_product_attention _scaled_dot_product_flash_attention "
        "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
        "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable "
        "_scaled_dot_product_attention_math _flash_attention_forward _efficient_attention_forward "
        "_cudnn_attention_forward flash_attn::_flash_attn_forward "
        "flash_attn::_flash_attn_varlen_forward flash_attn_3::fwd vllm::unified_attention "
        "vllm::unified_attention_with_output vllm::unified_mla_attention "
        "vllm::unified_mla_attention_with_output sgl_kernel::fwd sgl_kernel::flash_mla "
        "_C::paged_attention_v1 _C::paged_attention_v2 vllm_flash_attn_c::fwd "
        "_vllm_fa2_C::varlen_fwd _vllm_fa3_C::fwd flex_attention xformers::efficient_attention_"
        "forward_cutlass sglang::unified_attention_with_output "
        "sgl_kernel::cutlass_mla_decode _flashmla_C::fwd_kvcache_mla"},
    Row{OperatorClass::experts,
        "vllm::fused_experts vllm::inplace_fused_experts vllm::outplace_fused_experts "
        "sglang::inplace_fused_experts sglang::outplace_fused_experts vllm::moe_forward "
        "vllm::moe_forward_shared vllm::flashinfer_fused_moe_bf16 vllm::flashinfer_fused_moe_"
        "blockscale_fp8 _moe_C::moe_wna16_gemm vllm::fused_marlin_moe"},
    Row{OperatorClass::lookup, "embedding embedding_bag vllm::vocab_parallel_embedding"},
    Row{OperatorClass::elementwise,
        "add add_ sub sub_ rsub mul mul_ div div_ neg neg_ pow pow_ sqrt sqrt_ rsqrt rsqrt_ exp "
        "exp_ exp2 log log1p log2 abs sin cos tan reciprocal clamp clamp_ clamp_min clamp_max "
        "minimum maximum eq ne lt le gt ge eq_ lt_ le_ logical_and logical_and_ logical_or "
        "logical_not logical_xor bitwise_and bitwise_or bitwise_not bitwise_and_ bitwise_or_ "
        "__and__ "
        "__or__ where sum mean max min amax amin prod any all argmax argmin cumsum cumsum_ norm "
        "linalg_vector_norm var var_mean std isnan isinf isfinite isneginf isposinf isin erf floor "
        "ceil round trunc floor_divide remainder fmod addcmul addcmul_ addcdiv addcdiv_ lerp lerp_ "
        "square masked_fill masked_fill_ softmax _softmax log_softmax _log_softmax _safe_softmax "
        "dropout dropout_ native_dropout bernoulli_ multinomial exponential_ equal allclose "
        "cross_entropy_loss nll_loss nll_loss_forward nll_loss_nd triu_ tril_ outer trapezoid "
        "_fused_adamw_ _foreach_add_ _foreach_mul_ _foreach_addcdiv_ _foreach_addcmul_ "
        "_foreach_sqrt _foreach_div_ _foreach_norm logsumexp count_nonzero sign true_divide"},
    Row{OperatorClass::normalization,
        "layer_norm native_layer_norm rms_norm _fused_rms_norm group_norm native_group_norm "
        "batch_norm native_batch_norm cudnn_batch_norm _C::rms_norm _C::fused_add_rms_norm "
        "sgl_kernel::rmsnorm sgl_kernel::fused_add_rmsnorm sgl_kernel::gemma_rmsnorm "
        "sgl_kernel::gemma_fused_add_rmsnorm vllm::rocm_aiter_rms_norm"},
    Row{OperatorClass::activation,
        "silu silu_ gelu gelu_ relu relu_ sigmoid sigmoid_ tanh tanh_ glu hardswish softplus mish "
        "_C::silu_and_mul _C::gelu_and_mul _C::gelu_tanh_and_mul _C::gelu_new _C::gelu_fast "
        "_C::swigluoai_and_mul sgl_kernel::silu_and_mul sgl_kernel::gelu_and_mul "
        "sgl_kernel::gelu_tanh_and_mul"},
    Row{OperatorClass::rotary,
        "_C::rotary_embedding _C::batched_rotary_embedding sgl_kernel::apply_rope_pos_ids_cos_sin_"
        "cache vllm::rotary_embedding vllm_flash_attn::rotary"},
    Row{OperatorClass::routing,
        "topk sort argsort bincount histc one_hot scatter_add scatter_add_ index_add index_add_ "
        "_moe_C::topk_softmax _moe_C::topk_sigmoid _moe_C::moe_align_block_size _moe_C::moe_sum "
        "_moe_C::grouped_topk _moe_C::moe_permute _moe_C::moe_unpermute sgl_kernel::topk_softmax "
        "sgl_kernel::moe_align_block_size sgl_kernel::moe_fused_gate sgl_kernel::moe_sum_reduce "
        "nonzero nonzero_numpy searchsorted bucketize"},
    Row{OperatorClass::quantization,
        "_C::static_scaled_fp8_quant _C::dynamic_scaled_fp8_quant "
        "_C::dynamic_per_token_scaled_fp8_quant _C::per_token_group_fp8_quant "
        "_C::static_scaled_int8_quant _C::dynamic_scaled_int8_quant _C::scaled_fp4_quant "
        "sgl_kernel::sgl_per_token_group_quant_8bit sgl_kernel::sgl_per_token_group_quant_fp8 "
        "sgl_kernel::sgl_per_token_quant_fp8 quantize_per_tensor dequantize "
        "quantize_per_tensor_dynamic fake_quantize_per_tensor_affine"},
    Row{OperatorClass::cache_store,
        "_C_cache_ops::reshape_and_cache _C_cache_ops::reshape_and_cache_flash "
        "_C_cache_ops::concat_and_cache_mla sgl_kernel::store_cache"},
    Row{OperatorClass::movement,
        "cat concat concatenate stack copy_ clone _to_copy index index_select index_copy "
        "index_copy_ index_put index_put_ _index_put_impl_ gather scatter scatter_ masked_select "
        "masked_scatter masked_scatter_ roll flip repeat repeat_interleave tile pad "
        "constant_pad_nd "
        "take take_along_dim _copy_from slice_scatter select_scatter hstack vstack "
        "split_with_sizes_copy narrow_copy"},
    Row{OperatorClass::creation,
        "arange range linspace zeros zeros_like ones ones_like full full_like fill_ zero_ "
        "new_zeros new_ones new_full scalar_tensor eye tril triu randint rand randn uniform_ "
        "normal_ random_ tensor new_tensor rand_like randn_like meshgrid tril_indices"},
};

const std::unordered_map<std::string, OperatorClass>& table() {
  static const auto out = [] {
    std::unordered_map<std::string, OperatorClass> map;
    for (const Row& row : rows) {
      for (std::size_t begin = 0; begin < row.names.size();) {
        const std::size_t end = std::min(row.names.find(' ', begin), row.names.size());
        const std::string_view name = row.names.substr(begin, end - begin);
        const bool is_torch = name.find("::") == std::string_view::npos;
        map.emplace((is_torch ? "aten::" : "") + std::string(name), row.of);
        begin = end + 1;
      }
    }
    return map;
  }();
  return out;
}

constexpr std::array<std::string_view, 8> communication_libraries = {
    "c10d::",
    "c10d_functional::",
    "_c10d_functional::",
    "_c10d_functional_autograd::",
    "nccl:",
    "gloo:",
    "mpi:",
    "record_param_comms",
};
constexpr std::array<std::string_view, 6> communication_names = {
    "vllm::all_reduce",         "vllm::all_gather",           "vllm::reduce_scatter",
    "_C_custom_ar::all_reduce", "sglang::inplace_all_reduce", "sglang::outplace_all_reduce",
};

bool starts_with_any(std::string_view name, auto prefixes) {
  return std::ranges::any_of(prefixes, [&](std::string_view p) { return name.starts_with(p); });
}

}  // namespace

std::string_view operator_class_name(OperatorClass value) {
  static constexpr auto names = enum_names<OperatorClass>(
      "free", "matmul", "attention", "experts", "lookup", "elementwise", "normalization",
      "activation", "rotary", "routing", "quantization", "cache_store", "movement", "creation",
      "communication", "annotation", "unknown");
  return names.of(value);
}

OperatorClass classify(std::string_view name) {
  const auto it = table().find(std::string(name));
  if (it != table().end()) return it->second;
  if (name == "detach_") return OperatorClass::free;  // torch names this one twice, once bare
  if (starts_with_any(name, communication_libraries)) return OperatorClass::communication;
  if (contains(communication_names, name)) {
    return OperatorClass::communication;
  }
  // An operator has a library in its name; what compilers generate is called triton_*.
  const bool is_operator = name.find("::") != std::string_view::npos || name.starts_with("triton_");
  const bool is_node = name.starts_with("autograd::engine::");
  return is_operator && !is_node ? OperatorClass::unknown : OperatorClass::annotation;
}

}  // namespace halmark::trace
