#include "profile/kernels/kernel_category.hpp"

#include <array>

#include "core/ranges.hpp"

namespace halmark {
namespace {

bool mentions(const Operator& op, std::string_view word) {
  return op.name.find(word) != std::string::npos;
}

bool is_product(const Operator& op) {
  return op.kind == OperatorKind::linear || op.kind == OperatorKind::head;
}
bool is_attention(const Operator& op) {
  return op.kind == OperatorKind::attention && !mentions(op, "index") && op.local.op != "copy";
}
bool is_index_score(const Operator& op) { return op.local.op == "index_score"; }
bool is_index_projection(const Operator& op) { return mentions(op, "index") && is_product(op); }
bool is_index_store(const Operator& op) { return mentions(op, "index") && op.local.op == "copy"; }
bool is_expert(const Operator& op) {
  return op.kind == OperatorKind::experts ||
         (mentions(op, "expert") && !mentions(op, "shared") &&
          op.kind != OperatorKind::collective && op.kind != OperatorKind::quantize);
}
bool is_router(const Operator& op) { return is_product(op) && op.name == "router"; }
bool is_top_k(const Operator& op) { return op.local.op == "moe_route"; }
bool is_permutation(const Operator& op) {
  return op.kind == OperatorKind::routing && op.local.op != "moe_route";
}
bool is_activation(const Operator& op) {
  return (op.local.op == "gated_activation" || op.local.op == "activation") && !is_expert(op);
}
bool is_norm(const Operator& op) { return op.kind == OperatorKind::norm; }
bool is_rope(const Operator& op) { return op.local.op == "rope"; }
bool is_hadamard(const Operator& op) { return mentions(op, "hadamard"); }
bool is_quantize(const Operator& op) { return op.kind == OperatorKind::quantize; }
bool is_cache_store(const Operator& op) {
  return op.local.op == "copy" && op.kind != OperatorKind::routing && !mentions(op, "index");
}
// Layers without attention: the recurrence of gated DeltaNet or Mamba-2, and the short convolution
// before it.
bool is_delta_rule(const Operator& op) { return op.local.op == "delta_rule"; }
bool is_state_scan(const Operator& op) {
  return op.local.op == "state_scan" || op.local.op == "selective_scan";
}
bool is_recurrence(const Operator& op) { return is_delta_rule(op) || is_state_scan(op); }
bool is_convolution(const Operator& op) { return op.local.op == "short_convolution"; }
bool is_nothing(const Operator&) { return false; }
// Hyper-connections: the product that mixes the streams, and what is around it.
bool is_mixing_product(const Operator& op) { return is_product(op) && op.name.ends_with("_mix"); }
bool is_mixing(const Operator& op) {
  return op.local.op == "hyper_connection" || is_mixing_product(op);
}
bool is_mixing_pre(const Operator& op) {
  return op.local.op == "hyper_connection" && op.name.ends_with("_pre");
}
bool is_mixing_post(const Operator& op) {
  return op.local.op == "hyper_connection" && op.name.ends_with("_post");
}
bool is_residual(const Operator& op) { return op.local.op == "residual_add"; }
bool is_all_reduce(const Operator& op) { return op.local.op == "all_reduce"; }
bool is_all_to_all(const Operator& op) { return op.local.op == "all_to_all"; }
bool is_all_gather(const Operator& op) { return op.local.op == "all_gather"; }
bool is_reduce_scatter(const Operator& op) { return op.local.op == "reduce_scatter"; }
bool is_send_recv(const Operator& op) { return op.local.op == "send_recv"; }

using enum KernelCategory::Kind;

// The categories of the public table format, then ours.
constexpr std::array categories = {
    KernelCategory{"gemm_fp8", product, Dtype::f8_e4m3fn, is_product},
    KernelCategory{"gemm_bf16", product, Dtype::bf16, is_product},
    KernelCategory{"gemm_f32", product, Dtype::f32, is_product},
    KernelCategory{"mla", whole, std::nullopt, is_attention},
    KernelCategory{"c4_prefill", whole, std::nullopt, is_attention},
    KernelCategory{"c128_prefill", whole, std::nullopt, is_attention},
    KernelCategory{"paged_mqa", whole, std::nullopt, is_index_score},
    KernelCategory{"indexer", whole, std::nullopt, is_index_projection},
    KernelCategory{"indexer_store", bookkeeping, std::nullopt, is_index_store},
    KernelCategory{"moe", whole, std::nullopt, is_expert},
    KernelCategory{"moe_gate", single, std::nullopt, is_router},
    KernelCategory{"topk", bookkeeping, std::nullopt, is_top_k},
    KernelCategory{"moe_align", bookkeeping, std::nullopt, is_permutation},
    KernelCategory{"moe_sort", bookkeeping, std::nullopt, is_permutation},
    KernelCategory{"radixsort", bookkeeping, std::nullopt, is_permutation},
    KernelCategory{"activation", bookkeeping, std::nullopt, is_activation},
    KernelCategory{"rmsnorm", bookkeeping, std::nullopt, is_norm},
    KernelCategory{"rope", bookkeeping, std::nullopt, is_rope},
    KernelCategory{"hadamard", bookkeeping, std::nullopt, is_hadamard},
    KernelCategory{"quant", bookkeeping, std::nullopt, is_quantize},
    KernelCategory{"mla_cache_store", bookkeeping, std::nullopt, is_cache_store},
    KernelCategory{"mla_metadata", bookkeeping, std::nullopt, is_nothing},
    KernelCategory{"mhc", whole, std::nullopt, is_mixing},
    KernelCategory{"mhc_pre_gemm", single, std::nullopt, is_mixing_product},
    KernelCategory{"mhc_pre_fuse", bookkeeping, std::nullopt, is_mixing_pre},
    KernelCategory{"mhc_post", bookkeeping, std::nullopt, is_mixing_post},
    KernelCategory{"allreduce", single, std::nullopt, is_all_reduce},
    KernelCategory{"alltoall", single, std::nullopt, is_all_to_all},
    KernelCategory{"other", overhead, std::nullopt, is_nothing},
    KernelCategory{"gemm", product, std::nullopt, is_product},
    KernelCategory{"gemm_fp16", product, Dtype::f16, is_product},
    KernelCategory{"gemm_int8", product, Dtype::s8, is_product},
    KernelCategory{"gemm_fp4", product, Dtype::f4_e2m1, is_product},
    KernelCategory{"attention", whole, std::nullopt, is_attention},
    KernelCategory{"linear_attention", whole, std::nullopt, is_recurrence},
    KernelCategory{"gated_delta_rule", whole, std::nullopt, is_delta_rule},
    KernelCategory{"mamba", whole, std::nullopt, is_state_scan},
    KernelCategory{"conv1d", bookkeeping, std::nullopt, is_convolution},
    KernelCategory{"residual", bookkeeping, std::nullopt, is_residual},
    KernelCategory{"allgather", single, std::nullopt, is_all_gather},
    KernelCategory{"reducescatter", single, std::nullopt, is_reduce_scatter},
    KernelCategory{"sendrecv", single, std::nullopt, is_send_recv},
};

Dtype class_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f8_e5m2:
    case Dtype::f8_e4m3fnuz:
    case Dtype::f8_e5m2fnuz:
      return Dtype::f8_e4m3fn;
    case Dtype::tf32:
      return Dtype::f32;
    default:
      return dtype;
  }
}

}  // namespace

const KernelCategory* find_kernel_category(std::string_view name) {
  return find_or_null(categories, name, &KernelCategory::name);
}

std::span<const KernelCategory> all_kernel_categories() { return categories; }

bool is_same_class(Dtype a, Dtype b) { return class_of(a) == class_of(b); }

}  // namespace halmark
