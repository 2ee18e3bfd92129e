// Named precisions: what a recipe's name means, once for every command and every source of times,
// and what a sweep or an option sets apart from it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/precision.hpp"
#include "core/device.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

// What a recipe depends on beside its name.
struct PrecisionFacts {
  // Whether what executes computes bf16; without it recipes of narrow linears keep f32 around them.
  bool has_bf16 = true;
  // Of a known device without bf16: f16 where it has that, else f32; what stands for bf16 then.
  std::optional<Dtype> in_place_of_bf16 = {};
  // Kinds of linears that the model's checkpoint stores in `weights`; nothing where it states none.
  std::optional<std::vector<KernelKind>> packed = {};
  Dtype weights = Dtype::f4_e2m1;
  PackedWeights format = PackedWeights::as_stated;
  bool quantizes_inputs = false;
  std::optional<Dtype> kv_cache = {};  // that the checkpoint states
  // That servers keep beside linears in narrow floats where neither name nor checkpoint states one.
  std::optional<Dtype> served_cache = {};
  // Of weights that are not quantised, where it is not 16-bit; and why what the checkpoint states
  // is not read, "" where it is.
  std::optional<Dtype> stored = {};
  std::string unread = {};
  bool has_experts = false;  // whether some layers route tokens to experts
  std::string named = {};    // the recipe that the checkpoint's name says
};

// Whether a device file states a peak for bf16; one without any peaks says nothing against it.
bool computes_bf16(const Device& device);
// Nothing of a device that computes bf16.
std::optional<Dtype> in_place_of_bf16(const Device& device);

// "f32", "bf16", ... in the order of help texts.
std::vector<std::string> precision_recipes();
// What stands for the recipe that a checkpoint states: bf16 where it states none, or what takes its
// place.
inline constexpr std::string_view checkpoint_recipe = "checkpoint";
// The same as one line of --help.
std::string precision_help();

// The precision of a name: a recipe, a spelling of its dtype ("fp8", "float32", "s8") or
// checkpoint_recipe, and what is set apart from it: "fp8+kv_cache=fp8+attention=fp8". Throws Error
// (exit 2) with the nearest names for others.
Precision precision_of(std::string_view name, const PrecisionFacts& facts);
// `dtypes` of a sweep: such names. Throws Error (exit 2) with file:line:column.
std::vector<std::string> read_precision_names(const TomlTable& table, std::string_view key);

// One kind in another type than the recipe has it.
struct PrecisionOverride {
  KernelKind kind = KernelKind::kv_cache;
  Dtype dtype = Dtype::f32;
};
// "kv_cache=f8_e4m3fn,head=bf16" or nothing. Throws Error (exit 2) for an unknown kind or dtype,
// and for a kind that is set twice.
std::vector<PrecisionOverride> parse_precision_overrides(std::string_view text);
// `base` with them. The name shows what differs: "bf16+kv_cache=f8_e4m3fn".
Precision overridden(Precision base, std::span<const PrecisionOverride> overrides);

// [precision] of a sweep: one or several dtypes of a kind. Every combination is a precision.
struct PrecisionChoice {
  KernelKind kind = KernelKind::kv_cache;
  std::vector<Dtype> dtypes;
};
// Throws Error (exit 2) with file:line:column. Nothing without [precision].
std::vector<PrecisionChoice> read_precision_choices(const TomlTable& root);

// Every recipe with every combination of the choices, unique, in the order in which they are
// written.
std::vector<Precision> precisions_of(std::span<const std::string> recipes,
                                     std::span<const PrecisionChoice> choices,
                                     const PrecisionFacts& facts);

}  // namespace halmark
