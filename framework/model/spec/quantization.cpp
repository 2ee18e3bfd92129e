// From what a method states to the linears of one model, and the cache that stands beside it.
#include "model/spec/quantization.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
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
    known += (known.empty() ? "" : ", ") + std::string(method.name);
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

bool is_asked(const Stated& stated, const LinearModules& linear) {
  if (linear.kind == KernelKind::head) {
    const auto& names = linear.parts.front();
    return stated.packs_head || std::ranges::any_of(stated.rules, [&](const auto& rule) {
             return rule.format && std::ranges::any_of(names, [&](std::string_view name) {
                      return rule.modules.names(std::string(name));
                    });
           });
  }
  return linear.kind == KernelKind::experts || !stated.packs_experts_alone;
}

// How a module is stored: nothing where it is not quantised.
const Quantization* stored_as(const Stated& stated, const std::string& module) {
  for (const quantization::Rule& rule : stated.rules) {
    if (rule.modules.names(module)) return rule.format ? &*rule.format : nullptr;
  }
  const bool is_outside = std::ranges::any_of(
      stated.within, [&](const ModulePatterns& block) { return !block.names(module); });
  return stated.is_listed || is_outside ? nullptr : &stated.what;
}

using Fronts = std::vector<std::string>;  // of modules: "model.layers.3."

// A part has one of several names: the first that is spoken of apart from the others. Those of its
// first expert stand for `expert`.
const Quantization* stored_as(const Stated& stated, const Fronts& fronts,
                              const std::vector<std::string_view>& names, std::int64_t expert) {
  constexpr std::string_view first = "experts.0.";
  const Quantization* usual = stored_as(stated, "");
  for (const std::string& front : fronts) {
    for (const std::string_view name : names) {
      std::string module = front + std::string(name);
      const auto at = expert == 0 ? std::string::npos : module.find(first);
      if (at != std::string::npos) {
        module.replace(at, first.size(), "experts." + std::to_string(expert) + '.');
      }
      const Quantization* found = stored_as(stated, module);
      if (found != usual) return found;
    }
  }
  return usual;
}

// What is asked of a model, and at most how much work that is.
struct Questions {
  std::vector<std::string> prefixes = {"model.layers."};  // and what else any list has there
  std::set<std::int64_t> experts;  // of a layer, beside its last: the first, those that are named
  std::size_t cost = 0;

  Questions(const Stated& stated, const ModelSpec& spec) {
    for (const quantization::Rule& rule : stated.rules) add(rule.modules, spec);
    for (const ModulePatterns& block : stated.within) add(block, spec);
    if (spec.moe) experts.insert(0);
    constexpr std::size_t linears = 8;  // of a layer, beside those of one expert
    cost *= prefixes.size() * static_cast<std::size_t>(spec.layers) * (linears + experts.size());
    cost /= linears;
  }

 private:
  void add(const ModulePatterns& patterns, const ModelSpec& spec) {
    cost += patterns.cost();
    for (const std::string& prefix : patterns.prefixes()) {
      if (prefixes.size() < ModulePatterns::prefixes_max &&
          std::ranges::find(prefixes, prefix) == prefixes.end()) {
        prefixes.push_back(prefix);
      }
    }
    for (const std::int64_t expert : patterns.experts()) {
      if (spec.moe && expert < spec.moe->experts) experts.insert(expert);
    }
  }
};

// The layers of one linear by how they store it.
struct LinearStorage {
  bool is_any_packed = false;
  bool has_mixed_parts = false, has_mixed_experts = false;
  std::vector<StoredOtherwise> otherwise;

  void add(const Stated& stated, const LinearModules& linear, const Quantization* format,
           std::size_t layer, std::size_t layers) {
    is_any_packed = is_any_packed || format != nullptr;
    if (format != nullptr && *format == stated.what) return;
    const auto is_same = [&](const StoredOtherwise& one) {
      return format == nullptr ? !one.format : one.format && *one.format == *format;
    };
    auto it = std::ranges::find_if(otherwise, is_same);
    if (it == otherwise.end()) {
      otherwise.push_back({linear.kind, std::string(linear.linear), std::vector<bool>(layers), {}});
      it = std::prev(otherwise.end());
      if (format != nullptr) it->format = *format;
    }
    it->layers[layer] = true;
  }
};

LinearStorage storage_of(const Stated& stated, const ModelSpec& spec, const LinearModules& linear,
                         const Questions& questions) {
  LinearStorage out;
  const std::int64_t last = spec.moe ? spec.moe->experts - 1 : 0;
  const bool is_head = linear.kind == KernelKind::head;
  const std::size_t layers = is_head ? 1 : static_cast<std::size_t>(spec.layers);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (!is_head && !has_linear(linear, spec, layer)) continue;
    Fronts fronts = {""};
    if (!is_head) {
      fronts = questions.prefixes;
      for (std::string& front : fronts) front += std::to_string(layer) + '.';
    }
    const Quantization* first = stored_as(stated, fronts, linear.parts.front(), last);
    for (const auto& part : linear.parts) {
      out.has_mixed_parts = out.has_mixed_parts || stored_as(stated, fronts, part, last) != first;
      if (linear.kind != KernelKind::experts || out.has_mixed_experts) continue;
      out.has_mixed_experts = std::ranges::any_of(questions.experts, [&](std::int64_t expert) {
        return stored_as(stated, fronts, part, expert) != first;
      });
    }
    out.add(stated, linear, first, layer, layers);
  }
  return out;
}

// A kind is of the method where any of its linears is; those that are not, or are in another
// format, are told apart layer by layer.
void settle_kinds(ConfigReader& config, ModelSpec& spec, Stated& stated) {
  const Questions questions(stated, spec);
  constexpr std::size_t cost_max = 320'000;  // seconds
  if (questions.cost > cost_max) {
    config.refuse("quantization_config", "lists more patterns than are tried for " +
                                             std::to_string(spec.layers) + " layers");
  }
  std::vector<KernelKind> kinds;
  std::vector<StoredOtherwise> otherwise;
  for (const LinearModules& linear : linear_modules()) {
    if (!is_asked(stated, linear)) continue;
    const bool is_table =
        linear.kind == KernelKind::head && spec.tied && stated.what.packs_embedding;
    LinearStorage storage =
        storage_of(stated, spec, is_table ? embedding_table() : linear, questions);
    if (storage.is_any_packed && std::ranges::find(kinds, linear.kind) == kinds.end()) {
      kinds.push_back(linear.kind);
    }
    if (storage.has_mixed_parts) {
      config.assume(std::string(linear.linear) +
                    " is stored as its first part is in layers whose parts differ");
    }
    if (storage.has_mixed_experts) {
      config.assume(std::string(linear.linear) +
                    " is stored as its last expert is in layers whose experts differ");
    }
    std::ranges::move(storage.otherwise, std::back_inserter(otherwise));
  }
  std::erase_if(otherwise, [&](const StoredOtherwise& one) {
    return std::ranges::find(kinds, one.kind) == kinds.end();
  });
  if (stated.what.packs_embedding && !kinds.empty()) {
    const Quantization* table = stored_as(stated, {""}, embedding_table().parts.front(), 0);
    const std::vector<bool> none(static_cast<std::size_t>(spec.layers));
    if (table == nullptr) {
      stated.what.packs_embedding = false;
    } else if (*table != stated.what) {
      otherwise.push_back({kinds.front(), "embed_tokens", none, *table});
    }
  }
  stated.what.kinds = std::move(kinds);
  spec.stored_otherwise = std::move(otherwise);
}

// Keys that hold lists or objects and that nobody here reads may select modules.
void name_unread_keys(ConfigReader& config) {
  static constexpr std::string_view read[] = {"activations",
                                              "block_name_to_quantize",
                                              "config_groups",
                                              "dataset",
                                              "dynamic",
                                              "exclude",
                                              "exclude_modules",
                                              "extra_config",
                                              "global_quant_config",
                                              "ignore",
                                              "ignored_layers",
                                              "kv_cache_quant_config",
                                              "kv_cache_scheme",
                                              "layer_quant_config",
                                              "llm_int8_skip_modules",
                                              "meta",
                                              "modules_in_block_to_quantize",
                                              "modules_to_not_convert",
                                              "producer",
                                              "quant_config",
                                              "quant_type",
                                              "quant_type_kwargs",
                                              "quantization",
                                              "skip_modules",
                                              "to_quant_block_names",
                                              "weight_block_size",
                                              "weights",
                                              "export",
                                              "algo_config",
                                              "kv_cache_group",
                                              "sparsity_config",
                                              "transform_config"};
  const Json* all = config.value("quantization_config");
  for (const auto& [key, value] : all->items()) {
    const bool may_select = value.is_structured() && !value.empty();
    if (!may_select || std::ranges::find(read, key) != std::end(read)) continue;
    if (config.is_asked(field(key))) continue;
    config.assume("nothing follows from '" + printable(field(key)) + "', which is not read");
  }
}

}  // namespace

bool Quantization::packs(KernelKind kind) const {
  return std::ranges::find(kinds, kind) != kinds.end();
}

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
    kinds += (kinds.empty() ? "" : ", ") + std::string(row.name);
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
  name_unread_keys(config);
  if (!stated.has_scheme) {
    config.assume("weights of 16 bits (quantization_config states no others)");
    if (stated.what.kv_cache) spec.quantization = stated.what;
    return;
  }
  const auto cache = std::exchange(stated.what.kv_cache, std::nullopt);
  quantization::read_blocks(config, stated);
  stated.rules.insert(stated.rules.begin(), {ModulePatterns(kept_modules(config)), {}});
  settle_kinds(config, spec, stated);
  stated.what.kv_cache = cache;
  spec.quantization = stated.what;
} catch (const std::regex_error& error) {
  const bool is_long = error.code() == std::regex_constants::error_complexity;
  config.refuse("quantization_config", is_long ? "lists a regular expression that is longer than "
                                                 "the 1024 characters that are read"
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
