// From what a method states to the linears of one model, and the cache that stands beside it.
#include "model/spec/quantization.hpp"

#include <algorithm>
#include <iterator>
#include <regex>
#include <string_view>
#include <utility>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "model/spec/kept_modules.hpp"
#include "model/spec/model_spec.hpp"
#include "model/spec/quantization_methods.hpp"

namespace halmark {

namespace {

using quantization::field;
using quantization::Method;
using quantization::Stated;
using Names = std::vector<std::string>;

// Libraries call the list differently.
Names kept_modules(const ConfigReader& config) {
  Names out;
  for (const char* name : {"modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules",
                           "exclude", "llm_int8_skip_modules", "quantization.exclude_modules",
                           "quantization.ignore", "skip_modules", "quant_config.skip_modules"}) {
    if (!config.is_set(field(name))) continue;  // none, in one way or another
    const Names list = config.is_letters(field(name)) ? Names{*config.text(field(name))}
                                                      : *config.texts(field(name));
    out.insert(out.end(), list.begin(), list.end());
  }
  return out;
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// quant_method, with what a library appends to it ("modelopt_fp4", "gptq_marlin").
const Method* method_of(const ConfigReader& config) {
  std::string name = lower(config.text(field("quant_method")).value_or(""));
  if (name.starts_with("intel/")) name.erase(0, std::string_view("intel/").size());
  if (name.empty() && config.has(field("quant_algo"))) name = "modelopt";
  const bool has_width = config.has(field("bits")) || config.has(field("mode"));
  if (name.empty() && config.has(field("group_size")) && has_width) name = "mlx";
  const Method* found = nullptr;
  std::string known;
  for (const Method& method : quantization::methods()) {
    append_item(known, ", ", method.name);
    if (name.starts_with(method.name)) found = &method;
  }
  if (found == nullptr) {
    quantization::refuse_value(config, field("quant_method"), name, known);
  }
  return found;
}

Dtype cache_type(const ConfigReader& config, const std::string& where, const std::string& name) {
  const std::string text = lower(name);
  if (text == "fp8" || text.starts_with("fp8_e4m3") || text == "static") return Dtype::f8_e4m3fn;
  if (text == "int8") return Dtype::s8;
  quantization::refuse_value(config, where, name, "FP8 (e4m3) and INT8 caches");
}

// {"num_bits": 8, "type": "float"} of compressed-tensors and ModelOpt, "static" of AutoFP8.
std::optional<Dtype> scheme_type(const ConfigReader& config) {
  const std::string where = field("kv_cache_scheme");
  if (!config.has(where)) return std::nullopt;
  if (config.keys(where).empty()) return cache_type(config, where, *config.text(where));
  const bool is_float = config.text(where + ".type").value_or("float") == "float";
  const std::int64_t bits = config.size(where + ".num_bits").value_or(8);
  return cache_type(config, where, (is_float ? "fp" : "int") + std::to_string(bits));
}

std::optional<Dtype> cache_of(const ConfigReader& config) {
  if (const auto scheme = scheme_type(config)) return scheme;
  for (const char* name : {"kv_cache_quant_algo", "quantization.kv_cache_quant_algo"}) {
    const auto text = config.text(field(name));
    if (text && lower(*text) != "none") return cache_type(config, field(name), *text);
  }
  // Quark: the outputs of the projections that write keys and values.
  for (const std::string& group : config.keys(field("kv_cache_quant_config"))) {
    const std::string where = field("kv_cache_quant_config." + group + ".output_tensors.dtype");
    if (const auto text = config.text(where)) return cache_type(config, where, *text);
  }
  return std::nullopt;
}

// Keys that hold lists or objects, and that neither a method nor a list of modules asked for, may
// select modules: but for these, of which no linear's storage follows.
void name_unread_keys(ConfigReader& config) {
  static constexpr std::string_view harmless[] = {
      "activations",      "algo_config",       "dataset",
      "export",           "kv_cache_group",    "meta",
      "producer",         "quant_type",        "quant_type_kwargs",
      "sparsity_config",  "quant_config",      "quantization",
      "transform_config", "weight_block_size", "weights"};
  const Json* all = config.value("quantization_config");
  for (const auto& [key, value] : all->items()) {
    const bool may_select = value.is_structured() && !value.empty();
    if (!may_select || std::ranges::find(harmless, key) != std::end(harmless)) continue;
    if (config.is_asked(field(key))) continue;
    config.assume("nothing follows from '" + printable(field(key)) + "', which is not read");
  }
}

}  // namespace

bool Quantization::packs(KernelKind kind) const { return contains(kinds, kind); }

std::int64_t Quantization::scale_bytes(std::int64_t columns_out, std::int64_t columns_in) const {
  const std::int64_t width = block > 0 ? block : columns_in;
  const std::int64_t blocks =
      (columns_out + block_rows - 1) / block_rows * ((columns_in + width - 1) / width);
  return (blocks * scale_bits + 7) / 8 + matrix_scale_bytes;
}

bool names_format(const Precision& precision) {
  return precision.packed != PackedWeights::as_stated &&
         precision.packed != PackedWeights::weights_only;
}

std::optional<Quantization> packed_format(const ModelSpec& spec, const Precision& precision,
                                          Dtype dtype) {
  const auto& stated = spec.quantization;
  const bool takes_stated = dtype_bits(dtype) >= 8 || !names_format(precision) ||
                            (stated && stated->format == precision.packed);
  if (stated && !stated->kinds.empty() && stated->weights == dtype && takes_stated) return *stated;
  auto recipe = quantization::published_recipe(precision.packed);
  if (!recipe || recipe->weights != dtype) return std::nullopt;
  return recipe;
}

std::string assumed_format(const ModelSpec& spec, const Precision& precision) {
  std::string kinds;
  std::optional<Quantization> assumed;
  for (const KernelKindRow& row : kernel_kinds) {
    const Dtype dtype = precision.*row.field;
    if (!row.is_linear || dtype_bits(dtype) >= 8) continue;
    if (row.kind == KernelKind::experts && !spec.moe) continue;
    const auto format = packed_format(spec, precision, dtype);
    if (!format || !format->kinds.empty()) continue;
    append_item(kinds, ", ", row.name);
    assumed = format;
  }
  if (!assumed) return {};
  const bool has_cache = assumed->kv_cache && precision.kv_cache == *assumed->kv_cache;
  return kinds + " in " + assumed->method + ", a scale of " + std::to_string(assumed->scale_bits) +
         " bits per " + std::to_string(assumed->block) + " weights" +
         (has_cache ? ", KV cache in " + std::string(dtype_name(precision.kv_cache)) : "") +
         " (the published recipe: quantization_config states no such weights)";
}

bool is_packed(const Precision& precision, Dtype dtype) {
  const bool has_pair = dtype == Dtype::s8 || dtype == Dtype::f8_e4m3fn;
  const bool is_alone = dtype == Dtype::f4_e2m1 || dtype == Dtype::s4 || dtype == Dtype::s2;
  return is_alone || (has_pair && precision.packed == PackedWeights::weights_only);
}

bool is_packed(const Precision& precision) {
  return std::ranges::any_of(kernel_kinds, [&](const KernelKindRow& row) {
    return row.is_linear && is_packed(precision, precision.*row.field);
  });
}

namespace {

void read_stated(ConfigReader& config, ModelSpec& spec) try {
  Stated stated;
  method_of(config)->read(config, stated);
  stated.what.kv_cache = cache_of(config);
  quantization::read_blocks(config, stated);
  stated.rules.insert(stated.rules.begin(), {ModulePatterns(kept_modules(config)), {}});
  name_unread_keys(config);
  if (!stated.has_scheme) {
    config.assume("weights of 16 bits (quantization_config states no others)");
    if (stated.what.kv_cache) spec.quantization = stated.what;
    return;
  }
  const auto cache = std::exchange(stated.what.kv_cache, std::nullopt);
  quantization::settle_kinds(config, spec, stated);
  stated.what.kv_cache = cache;
  spec.quantization = stated.what;
} catch (const std::regex_error& error) {
  const bool is_long = error.code() == std::regex_constants::error_complexity;
  config.refuse("quantization_config", is_long ? "lists a regular expression of more than 1024 "
                                                 "characters or 64 repeats, which is not read"
                                               : "lists a module by a regular expression that is "
                                                 "none");
}

}  // namespace

void read_quantization(ConfigReader& config, ModelSpec& spec) {
  config.ignore({"quantization"});  // MLX has its numbers twice
  if (!config.is_set("quantization_config")) return;
  try {
    (void)quantization::object_at(config, "quantization_config");
    read_stated(config, spec);
  } catch (const Error& error) {
    spec.quantization.reset();
    spec.stored_otherwise.clear();
    spec.unread_quantization = error.line();
  }
}

bool takes_stored(const ModelSpec& spec, const Precision& precision, KernelKind kind) {
  const auto& stated = spec.quantization;
  if (!stated || !stated->packs(kind) || precision.of(kind) != stated->weights) return false;
  return dtype_bits(stated->weights) >= 8 || !names_format(precision) ||
         stated->format == precision.packed;
}

}  // namespace halmark
