// What a torch operator is, by its exact name: never by a keyword inside it.
#pragma once

#include <string_view>

namespace halmark::trace {

enum class OperatorClass {
  free,         // views, metadata, allocation: no work on any device
  matmul,       // one matrix product, or a batch of them
  attention,    // scores and weighted sum of values in one operator
  experts,      // fused mixture of experts
  lookup,       // rows of an embedding table
  elementwise,  // arithmetic, reductions, comparisons
  normalization,
  activation,
  rotary,
  routing,  // choosing experts and moving rows to them
  quantization,
  cache_store,  // appends to a KV cache
  movement,     // copies, concatenation, gathers
  creation,     // tensors from nothing: ranges, fills, masks
  communication,
  annotation,  // record_function: a scope, no operator
  unknown,
};

std::string_view operator_class_name(OperatorClass value);

// `name` as in the trace: "aten::mm", "vllm::unified_attention", "triton_poi_fused_add_0".
OperatorClass classify(std::string_view name);

// Its FLOPs follow from its shapes, so it stands for all that it calls.
inline bool has_formula(OperatorClass value) {
  return value == OperatorClass::matmul || value == OperatorClass::attention ||
         value == OperatorClass::experts;
}

}  // namespace halmark::trace
