// What a module is by its class or its name, and which attribute names the modules inside it have.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace halmark::trace {

enum class ModuleKind {
  other,
  layer,
  attention,
  mlp,
  moe,
  experts,
  router,
  linear,
  norm,
  rotary,
  embedding,
  activation,
  recurrence,  // gated DeltaNet, Mamba-2, and the short convolution inside
  indexer,     // of sparse attention
  compressor,  // of cached keys and values
  hyper_connection,
};

using Names = std::span<const char* const>;

// "Qwen3Attention_3" -> attention.
ModuleKind kind_of_class(std::string_view class_name);
// "q_proj" -> linear.
ModuleKind kind_of_leaf(std::string_view leaf);

// Linear layers whose class says which they are: the fused ones of the serving libraries. nullptr =
// it does not.
const char* name_of_class(std::string_view of, ModuleKind parent);
// Names of all `count` linear layers (norms) of a module, in the order of its forward function;
// empty where they are not known.
Names linear_names(ModuleKind parent, std::size_t count, std::string_view parent_class,
                   std::string_view of, bool has_router);
Names norm_names(ModuleKind parent, std::size_t count, std::string_view parent_class);
Names shared_experts_name();
Names hyper_connection_names();
std::string default_name(ModuleKind kind, ModuleKind parent);

}  // namespace halmark::trace
