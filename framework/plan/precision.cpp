// One table of recipes. A recipe is a function of what the device computes and of what the
// checkpoint stores, so that its name means the same in a sweep, an option and a report; whether
// the model has the conversions between its types is asked of check_configuration, not here.
#include "plan/precision.hpp"

#include <algorithm>

#include "core/ranges.hpp"
#include "core/text/error.hpp"

namespace halmark {

namespace {

// The type of what lies between linears that are narrower.
Precision around(const PrecisionFacts& facts) {
  return Precision::uniform(
      {}, facts.in_place_of_bf16.value_or(facts.has_bf16 ? Dtype::bf16 : Dtype::f32));
}

// Whether the checkpoint stores weights of `dtype` and inputs of the same type, or of 16 bits.
bool stores(const PrecisionFacts& facts, Dtype dtype, bool with_inputs) {
  return facts.packed && facts.weights == dtype && facts.quantizes_inputs == with_inputs;
}

void set_stored(const PrecisionFacts& facts, Precision& out) {
  for (const KernelKind kind : *facts.packed) out.set(kind, facts.weights);
}

// A checkpoint's own cache stands beside narrow linears of any kind.
Precision with_cache(const PrecisionFacts& facts, Precision out) {
  out.kv_cache = facts.kv_cache.value_or(out.kv_cache);
  return out;
}

// s8 linears and head, quantised row by row; the checkpoint's where it stores such.
Precision int8(const PrecisionFacts& facts) {
  Precision out = around(facts);
  if (stores(facts, Dtype::s8, true)) {
    set_stored(facts, out);
  } else {
    out.set_linears(Dtype::s8);
    out.head = Dtype::s8;
  }
  return with_cache(facts, std::move(out));
}

// f8_e4m3fn linears, quantised block by block; the head is not. Likewise.
Precision fp8(const PrecisionFacts& facts) {
  Precision out = around(facts);
  if (stores(facts, Dtype::f8_e4m3fn, true)) {
    set_stored(facts, out);
  } else {
    out.set_linears(Dtype::f8_e4m3fn);
  }
  return with_cache(facts, std::move(out));
}

// Packed weights as the checkpoint has them, where it has the format that is asked for; else of all
// linears. Of models with experts 4-bit floats are those of the networks alone: so are the
// checkpoints of DeepSeek, GLM, Kimi, MiniMax and Qwen3.5 that ModelOpt and Quark write. ModelOpt's
// nvfp4 has keys and values of 8 bits beside it.
Precision packed(const PrecisionFacts& facts, PackedWeights weights) {
  Precision out = around(facts);
  out.packed = weights;
  const bool is_named =
      weights != PackedWeights::as_stated && weights != PackedWeights::weights_only;
  const bool is_integer = weights == PackedWeights::weights_only || weights == PackedWeights::awq ||
                          weights == PackedWeights::gptq;
  if (facts.packed && dtype_bits(facts.weights) < 8 && (!is_named || facts.format == weights)) {
    set_stored(facts, out);
    return with_cache(facts, std::move(out));
  }
  if (facts.has_experts && !is_integer) {
    out.ffn = out.experts = Dtype::f4_e2m1;
  } else {
    out.set_linears(is_integer ? Dtype::s4 : Dtype::f4_e2m1);
  }
  if (weights == PackedWeights::nvfp4) out.kv_cache = Dtype::f8_e4m3fn;
  return with_cache(facts, std::move(out));
}

// Weights of 8 bits that meet wider inputs: the checkpoint's, or s8 with a scale per row.
Precision w8a16(const PrecisionFacts& facts) {
  Precision out = around(facts);
  out.packed = PackedWeights::weights_only;
  if (facts.packed && dtype_bits(facts.weights) == 8) {
    set_stored(facts, out);
  } else {
    out.set_linears(Dtype::s8);
  }
  return with_cache(facts, std::move(out));
}

struct Recipe {
  std::string_view name;
  Precision (*make)(const PrecisionFacts&);
};

using Facts = PrecisionFacts;
constexpr auto recipes = std::to_array<Recipe>(
    {{"f32", [](const Facts&) { return Precision::uniform({}, Dtype::f32); }},
     {"bf16", [](const Facts&) { return Precision::uniform({}, Dtype::bf16); }},
     {"f16", [](const Facts&) { return Precision::uniform({}, Dtype::f16); }},
     {"int8", int8},
     {"fp8", fp8},
     {"w8a16", w8a16},
     {"w4a16", [](const Facts& f) { return packed(f, PackedWeights::weights_only); }},
     {"awq", [](const Facts& f) { return packed(f, PackedWeights::awq); }},
     {"gptq", [](const Facts& f) { return packed(f, PackedWeights::gptq); }},
     {"mxfp4", [](const Facts& f) { return packed(f, PackedWeights::mxfp4); }},
     {"nvfp4", [](const Facts& f) { return packed(f, PackedWeights::nvfp4); }},
     {"f4_e2m1", [](const Facts& f) { return packed(f, PackedWeights::as_stated); }}});

// Recipes whose name is not that of the dtype which people type for them.
std::string_view recipe_of(Dtype dtype) {
  if (dtype == Dtype::s8) return "int8";
  if (dtype == Dtype::s4) return "w4a16";
  return dtype == Dtype::f8_e4m3fn ? "fp8" : dtype_name(dtype);
}

const Recipe* find_recipe(std::string_view text) {
  const auto find = [](std::string_view name) -> const Recipe* {
    return find_or_null(recipes, name, &Recipe::name);
  };
  if (const Recipe* recipe = find(text)) return recipe;
  const auto dtype = parse_dtype(text);
  return dtype ? find(recipe_of(*dtype)) : nullptr;
}

// Of what the checkpoint states. 8 bits by what their inputs are, fewer by their format.
std::string_view stated_recipe(const PrecisionFacts& facts) {
  if (!facts.named.empty()) return facts.named;
  if (!facts.unread.empty()) {
    throw refused(facts.unread, {},
                  "name what is to be priced: --dtype fp8, int8, w4a16, bf16, ...");
  }
  if (!facts.packed) {
    return dtype_name(facts.stored.value_or(facts.in_place_of_bf16.value_or(Dtype::bf16)));
  }
  if (dtype_bits(facts.weights) == 8) {
    if (!facts.quantizes_inputs) return "w8a16";
    return facts.weights == Dtype::s8 ? "int8" : "fp8";
  }
  return facts.format == PackedWeights::as_stated ? "w4a16" : packed_weights_name(facts.format);
}

// Whether some linears are floats of 8 bits or fewer, around activations of 16, and no others
// narrow.
bool has_narrow_floats(const Precision& p) {
  const auto is_wide = [](Dtype dtype) { return dtype_bits(dtype) > 8; };
  const auto of_linears = [&](auto is_one) {
    return [&p, is_one](const KernelKindRow& row) { return row.is_linear && is_one(p.*row.field); };
  };
  const auto is_float = [&](Dtype d) { return d == Dtype::f8_e4m3fn || d == Dtype::f4_e2m1; };
  return is_wide(p.activation) && std::ranges::any_of(kernel_kinds, of_linears(is_float)) &&
         std::ranges::none_of(kernel_kinds,
                              of_linears([&](Dtype d) { return !is_wide(d) && !is_float(d); }));
}

std::vector<std::string> all_dtype_names() {
  std::vector<std::string> out;
  for (const Dtype d : all_dtypes()) out.emplace_back(dtype_name(d));
  return out;
}

PrecisionOverride parse_override(std::string_view text, const std::string& where) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto kind = parse_kernel_kind(name);
  if (!kind) {
    throw refused("unknown kind '" + printable(name) + "' of a precision", where,
                  suggestion(std::string(name), kernel_kind_names()));
  }
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const auto dtype = parse_dtype(value);
  if (!dtype) {
    throw refused("unknown dtype '" + printable(value) + "' of " + std::string(name), where,
                  suggestion(std::string(value), all_dtype_names()));
  }
  return {*kind, *dtype};
}

std::vector<PrecisionOverride> parse_overrides(std::string_view text, char separator,
                                               const std::string& where) {
  std::vector<PrecisionOverride> out;
  while (!text.empty()) {
    const std::size_t end = text.find(separator);
    const PrecisionOverride one = parse_override(text.substr(0, end), where);
    if (contains(out, one.kind, &PrecisionOverride::kind)) {
      throw refused("a precision sets " + std::string(kernel_kind_name(one.kind)) + " twice",
                    where);
    }
    out.push_back(one);
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return out;
}

// "fp8" and "kv_cache=fp8+attention=fp8" of a name.
struct NameParts {
  std::string_view recipe, overrides;
};
NameParts parts_of(std::string_view name) {
  const std::size_t plus = name.find('+');
  if (plus == std::string_view::npos) return {name, {}};
  return {name.substr(0, plus), name.substr(plus + 1)};
}

const Recipe& known_recipe(std::string_view text) {
  if (const Recipe* recipe = find_recipe(text)) return *recipe;
  std::vector<std::string> known = precision_recipes();
  known.emplace_back(checkpoint_recipe);
  throw refused("unknown dtype '" + printable(text) + "'", {},
                suggestion(std::string(text), known));
}

}  // namespace

bool computes_bf16(const Device& device) {
  return device.peaks.empty() || contains(device.peaks, Dtype::bf16, &Peak::dtype);
}

std::optional<Dtype> in_place_of_bf16(const Device& device) {
  if (computes_bf16(device)) return std::nullopt;
  const bool has_f16 = contains(device.peaks, Dtype::f16, &Peak::dtype);
  return has_f16 ? Dtype::f16 : Dtype::f32;
}

std::vector<std::string> precision_recipes() {
  std::vector<std::string> out;
  for (const Recipe& recipe : recipes) out.emplace_back(recipe.name);
  return out;
}

std::string precision_help() {
  std::string out = "A type per kernel kind, by name:";
  for (const Recipe& recipe : recipes) {
    out += (out.back() == ':' ? " " : ", ") + std::string(recipe.name);
  }
  return out + ", " + std::string(checkpoint_recipe) +
         " (what the configuration of the model states, else bf16)";
}

Precision precision_of(std::string_view name, const PrecisionFacts& facts) {
  const NameParts parts = parts_of(name);
  const bool is_stated = parts.recipe == checkpoint_recipe;
  const Recipe& recipe = known_recipe(is_stated ? stated_recipe(facts) : parts.recipe);
  Precision out = recipe.make(facts);
  out.name = std::string(recipe.name);
  std::vector<PrecisionOverride> overrides = parse_overrides(parts.overrides, '+', {});
  const bool sets_cache = contains(overrides, KernelKind::kv_cache, &PrecisionOverride::kind);
  // A cache that is stated beside wide weights is set apart from the recipe of one type.
  if (is_stated && facts.kv_cache && !sets_cache) {
    overrides.push_back({KernelKind::kv_cache, *facts.kv_cache});
  }
  const bool is_unstated = !sets_cache && !facts.kv_cache && out.kv_cache == out.activation;
  if (facts.served_cache && is_unstated && has_narrow_floats(out)) {
    overrides.push_back({KernelKind::kv_cache, *facts.served_cache});
  }
  return overridden(std::move(out), overrides);
}

std::vector<std::string> read_precision_names(const TomlTable& table, std::string_view key) {
  std::vector<std::string> names = table.strings(key);
  std::vector<std::string> known = precision_recipes();
  known.emplace_back(checkpoint_recipe);
  for (std::string& name : names) {
    const NameParts parts = parts_of(name);
    const Recipe* recipe = find_recipe(parts.recipe);
    if (recipe == nullptr && parts.recipe != checkpoint_recipe) {
      throw refused("key '" + std::string(key) + "': '" + printable(parts.recipe) + "' is unknown",
                    table.where(key), suggestion(std::string(parts.recipe), known));
    }
    (void)parse_overrides(parts.overrides, '+', table.where(key));
    // One name of several spellings: "int4" is w4a16.
    if (recipe != nullptr) name.replace(0, parts.recipe.size(), recipe->name);
  }
  return names;
}

std::vector<PrecisionOverride> parse_precision_overrides(std::string_view text) {
  return parse_overrides(text, ',', "--precision");
}

Precision overridden(Precision base, std::span<const PrecisionOverride> overrides) {
  Precision out = base;
  for (const PrecisionOverride& one : overrides) out.set(one.kind, one.dtype);
  // What the name sets apart already stays, unless it is set again.
  const NameParts parts = parts_of(base.name);
  const std::vector<PrecisionOverride> apart = parse_overrides(parts.overrides, '+', {});
  std::string name(parts.recipe);
  for (const KernelKindRow& row : kernel_kinds) {
    const bool is_apart = contains(apart, row.kind, &PrecisionOverride::kind);
    if (!is_apart && out.*row.field == base.*row.field) continue;
    name += '+' + std::string(row.name) + '=' + std::string(dtype_name(out.*row.field));
  }
  out.name = std::move(name);
  return out;
}

std::vector<PrecisionChoice> read_precision_choices(const TomlTable& root) {
  std::vector<PrecisionChoice> out;
  const auto table = root.table("precision");
  if (!table) return out;
  for (const KernelKindRow& row : kernel_kinds) {
    if (!table->has(row.name)) continue;
    PrecisionChoice choice{.kind = row.kind, .dtypes = {}};
    for (const std::string& text : table->strings(row.name)) {
      const auto dtype = parse_dtype(text);
      if (!dtype) {
        throw refused("unknown dtype '" + printable(text) + "' of " + std::string(row.name),
                      table->where(row.name), suggestion(text, all_dtype_names()));
      }
      choice.dtypes.push_back(*dtype);
    }
    out.push_back(std::move(choice));
  }
  return out;
}

std::vector<Precision> precisions_of(std::span<const std::string> names,
                                     std::span<const PrecisionChoice> choices,
                                     const PrecisionFacts& facts) {
  std::vector<std::vector<PrecisionOverride>> combinations = {{}};
  for (const PrecisionChoice& choice : choices) {
    std::vector<std::vector<PrecisionOverride>> longer;
    for (const auto& one : combinations) {
      for (const Dtype dtype : choice.dtypes) {
        longer.push_back(one);
        longer.back().push_back({choice.kind, dtype});
      }
    }
    combinations = std::move(longer);
  }
  std::vector<Precision> out;
  for (const std::string& name : names) {
    for (const auto& one : combinations) {
      Precision precision = overridden(precision_of(name, facts), one);
      if (!contains(out, precision)) out.push_back(std::move(precision));
    }
  }
  return out;
}

}  // namespace halmark
