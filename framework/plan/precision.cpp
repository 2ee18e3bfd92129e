// One table of recipes. A recipe is a function of what the device computes and of what the
// checkpoint stores, so that its name means the same in a sweep, an option and a report; whether
// the model has the conversions between its types is asked of check_configuration, not here.
#include "plan/precision.hpp"

#include <algorithm>
#include <array>

#include "core/text/error.hpp"

namespace halmark {

namespace {

// The type of what lies between linears that are narrower.
Precision around(const PrecisionFacts& facts) {
  return Precision::uniform({}, facts.has_bf16 ? Dtype::bf16 : Dtype::f32);
}

// s8 linears and head, quantised row by row.
Precision int8(const PrecisionFacts& facts) {
  Precision out = around(facts);
  out.set_linears(Dtype::s8);
  out.head = Dtype::s8;
  return out;
}

// f8_e4m3fn linears, quantised block by block; the head is not.
Precision fp8(const PrecisionFacts& facts) {
  Precision out = around(facts);
  out.set_linears(Dtype::f8_e4m3fn);
  return out;
}

// 4-bit weights where the checkpoint has them. w4a16 leaves their inputs in 16 bits, mxfp4 and
// nvfp4 ask for one format. Without a statement of the checkpoint all linears ask for packed
// weights, and the checks of the graph say what is missing.
Precision packed(const PrecisionFacts& facts, PackedWeights weights) {
  Precision out = around(facts);
  out.packed = weights;
  if (!facts.packed) out.set_linears(Dtype::f4_e2m1);
  for (const KernelKind kind : facts.packed.value_or(std::vector<KernelKind>{})) {
    out.set(kind, Dtype::f4_e2m1);
  }
  return out;
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
     {"w4a16", [](const Facts& f) { return packed(f, PackedWeights::weights_only); }},
     {"mxfp4", [](const Facts& f) { return packed(f, PackedWeights::mxfp4); }},
     {"nvfp4", [](const Facts& f) { return packed(f, PackedWeights::nvfp4); }},
     {"f4_e2m1", [](const Facts& f) { return packed(f, PackedWeights::as_stated); }}});

// Recipes whose name is not that of the dtype which people type for them.
std::string_view recipe_of(Dtype dtype) {
  if (dtype == Dtype::s8) return "int8";
  return dtype == Dtype::f8_e4m3fn ? "fp8" : dtype_name(dtype);
}

const Recipe* find_recipe(std::string_view text) {
  const auto find = [](std::string_view name) -> const Recipe* {
    const auto it = std::ranges::find(recipes, name, &Recipe::name);
    return it == recipes.end() ? nullptr : &*it;
  };
  if (const Recipe* recipe = find(text)) return recipe;
  const auto dtype = parse_dtype(text);
  return dtype ? find(recipe_of(*dtype)) : nullptr;
}

std::vector<std::string> all_dtype_names() {
  std::vector<std::string> out;
  for (const Dtype d : all_dtypes()) out.emplace_back(dtype_name(d));
  return out;
}

PrecisionOverride parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto kind = parse_kernel_kind(name);
  if (!kind) {
    throw refused("--precision: unknown kind '" + printable(name) + "'", {},
                  suggestion(std::string(name), kernel_kind_names()));
  }
  const std::string_view value = equals == std::string_view::npos ? "" : text.substr(equals + 1);
  const auto dtype = parse_dtype(value);
  if (!dtype) {
    throw refused("--precision: unknown dtype '" + printable(value) + "' of " + std::string(name),
                  {}, suggestion(std::string(value), all_dtype_names()));
  }
  return {*kind, *dtype};
}

}  // namespace

bool computes_bf16(const Device& device) {
  return device.peaks.empty() ||
         std::ranges::find(device.peaks, Dtype::bf16, &Peak::dtype) != device.peaks.end();
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
  return out;
}

Precision precision_of(std::string_view name, const PrecisionFacts& facts) {
  const Recipe* recipe = find_recipe(name);
  if (recipe == nullptr) {
    throw refused("unknown dtype '" + printable(name) + "'", {},
                  suggestion(std::string(name), precision_recipes()));
  }
  Precision out = recipe->make(facts);
  out.name = std::string(recipe->name);
  return out;
}

std::vector<PrecisionOverride> parse_precision_overrides(std::string_view text) {
  std::vector<PrecisionOverride> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const PrecisionOverride one = parse_override(text.substr(0, comma));
    if (std::ranges::find(out, one.kind, &PrecisionOverride::kind) != out.end()) {
      throw refused("--precision sets " + std::string(kernel_kind_name(one.kind)) + " twice");
    }
    out.push_back(one);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  }
  return out;
}

Precision overridden(Precision base, std::span<const PrecisionOverride> overrides) {
  Precision out = base;
  for (const PrecisionOverride& one : overrides) out.set(one.kind, one.dtype);
  for (const KernelKindRow& row : kernel_kinds) {
    if (out.*row.field == base.*row.field) continue;
    out.name += '+' + std::string(row.name) + '=' + std::string(dtype_name(out.*row.field));
  }
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
      if (std::ranges::find(out, precision) == out.end()) out.push_back(std::move(precision));
    }
  }
  return out;
}

}  // namespace halmark
