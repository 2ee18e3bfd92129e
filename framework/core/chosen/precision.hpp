// Precision: a dtype per kernel kind. Values only; what a recipe's name means is in
// plan/precision.hpp, which combinations a graph can have in model/graph/checks.cpp.
#pragma once

#include <array>
#include <compare>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/dtype.hpp"

namespace halmark {

// What can have a type of its own.
enum class KernelKind { qkv, output, ffn, experts, head, attention, kv_cache, activation };

// Which packed weights a narrow linear asks for: those of the checkpoint whatever their format, one
// format, or any with activations that stay as they are.
enum class PackedWeights { as_stated, mxfp4, nvfp4, weights_only, awq, gptq };
std::string_view packed_weights_name(PackedWeights weights);
std::optional<PackedWeights> parse_packed_weights(std::string_view text);
template <>
inline constexpr ClosedSet<PackedWeights> closed_set<PackedWeights>{
    "a format of packed weights", packed_weights_name, parse_packed_weights};

// s8 linears are s8 x s8 -> s32 with a quantize in front and a dequantize behind them, f8 ones read
// what a block_quantize wrote: both are operators of the graph. Narrower ones, and those of
// weights_only, are packed: they meet 16-bit activations, or 4-bit ones where the checkpoint says
// so.
struct Precision {
  // For people, and in keys: the recipe, and what was set apart from it,
  // "bf16+kv_cache=f8_e4m3fn". No meaning is read from it.
  std::string name;
  Dtype qkv = Dtype::f32;         // linears into what mixes tokens: queries, keys, values, gates
  Dtype output = Dtype::f32;      // linears out of it
  Dtype ffn = Dtype::f32;         // linears of dense networks and shared experts
  Dtype experts = Dtype::f32;     // linears of routed experts
  Dtype head = Dtype::f32;        // LM head
  Dtype attention = Dtype::f32;   // queries, and the products with keys and values
  Dtype kv_cache = Dtype::f32;    // keys and values as they are kept
  Dtype activation = Dtype::f32;  // everything between
  PackedWeights packed = PackedWeights::as_stated;
  auto operator<=>(const Precision&) const = default;

  static Precision uniform(std::string name, Dtype dtype);  // one type for everything
  Dtype of(KernelKind kind) const;
  void set(KernelKind kind, Dtype dtype);
  void set_linears(Dtype dtype);  // qkv, output, ffn and experts
};

// One row per kind: what a sweep, an option and a report call it, and the field that it is.
struct KernelKindRow {
  KernelKind kind;
  std::string_view name;
  Dtype Precision::*field;
  bool is_linear;
};
inline constexpr std::array<KernelKindRow, 8> kernel_kinds = {
    {{KernelKind::qkv, "qkv", &Precision::qkv, true},
     {KernelKind::output, "output", &Precision::output, true},
     {KernelKind::ffn, "ffn", &Precision::ffn, true},
     {KernelKind::experts, "experts", &Precision::experts, true},
     {KernelKind::head, "head", &Precision::head, true},
     {KernelKind::attention, "attention", &Precision::attention, false},
     {KernelKind::kv_cache, "kv_cache", &Precision::kv_cache, false},
     {KernelKind::activation, "activation", &Precision::activation, false}}};
std::string_view kernel_kind_name(KernelKind kind);
std::optional<KernelKind> parse_kernel_kind(std::string_view text);
std::vector<std::string> kernel_kind_names();

}  // namespace halmark
