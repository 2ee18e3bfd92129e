// The methods of libraries that describe weights and inputs by their numbers: llm-compressor
// (compressed-tensors), NVIDIA ModelOpt and AMD Quark.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

#include "model/spec/quantization_methods.hpp"

namespace halmark::quantization {

namespace {

// One row per pair of weights and inputs that a kernel exists for.
void read_numbers(const ConfigReader& config, const std::string& weights, const std::string& inputs,
                  Stated& out) {
  const std::int64_t bits = config.required_size(weights + "num_bits");
  const std::string type = config.text(weights + "type").value_or("int");
  const bool is_float = type == "float";
  const auto input_bits = config.size(inputs + "num_bits");
  const std::string family = out.what.method;
  if (is_float && bits == 4) {
    const bool is_mx = config.size(weights + "group_size").value_or(16) == 32;
    out.what = is_mx ? mxfp4() : nvfp4();
    check_block(config, weights + "group_size", out.what);
    out.what.quantizes_inputs = input_bits == 4;
    return;
  }
  if (is_float && bits != 8) {
    refuse_value(config, weights + "num_bits", std::to_string(bits), "4 and 8 bits of type float");
  }
  out.what.weights = is_float ? Dtype::f8_e4m3fn : integer_of(config, weights + "num_bits", bits);
  out.what.method = family + (is_float ? " fp" : " int") + std::to_string(bits);
  out.what.quantizes_inputs = input_bits.has_value();
  const bool is_possible = !input_bits || (bits == 8 && *input_bits == 8);
  if (!is_possible) {
    refuse_value(config, inputs + "num_bits", std::to_string(*input_bits),
                 "inputs of 16 bits, of 8 beside weights of 8, of 4 beside nvfp4 and mxfp4");
  }
}

void read_strategy(const ConfigReader& config, const std::string& weights, Stated& out) {
  if (out.what.weights == Dtype::f4_e2m1) return;
  const std::string strategy = config.text(weights + "strategy").value_or("");
  out.what.scale_bits = f16_bits;
  if (const auto block = config.counts(weights + "block_structure");
      block && block->size() == 2 && (*block)[0] > 0 && (*block)[1] > 0) {
    out.what.block_rows = (*block)[0];
    out.what.block = (*block)[1];
  } else if (strategy == "tensor") {
    out.what.scale_bits = 0;
    out.what.matrix_scale_bytes = 2;
  } else if (strategy != "channel") {
    out.what.block = group_size(config, weights + "group_size", -1);
  }
  const bool is_symmetric = config.flag(weights + "symmetric").value_or(true);
  if (!is_symmetric) out.what.scale_bits += dtype_bits(out.what.weights);
}

// Classes of modules, in the place of their names: all linears, and fused experts.
bool is_class(const std::string& target) {
  return target.starts_with("Linear") || target.find("MoE") != std::string::npos;
}

// The group of all linears is the usual format, those of named ones come before it. Without such a
// group what no target names is not quantised.
void read_groups(const ConfigReader& config, Stated& out) {
  const std::string groups = field("config_groups");
  const std::string family = out.what.method;
  const std::vector<std::string> names = config.keys(groups);
  out.has_scheme = !names.empty();
  out.is_listed = out.has_scheme;
  bool has_usual = false;
  for (const std::string& name : names) {
    const std::string group = groups + '.' + name + '.';
    Stated one{.what = {.method = family}};
    read_numbers(config, group + "weights.", group + "input_activations.", one);
    read_strategy(config, group + "weights.", one);
    std::vector<std::string> targets =
        config.texts(group + "targets").value_or(std::vector<std::string>{"Linear"});
    if (targets.empty()) config.refuse(group + "targets", "names no modules");
    const auto classes = std::erase_if(targets, is_class);
    if (classes > 0) {
      if (has_usual && one.what != out.what) {
        config.refuse(groups,
                      "states " + out.what.method + " and " + one.what.method + " of all linears");
      }
      out.what = one.what;
      has_usual = true;
      out.is_listed = false;
    }
    if (!targets.empty()) out.rules.push_back({ModulePatterns(targets), one.what});
  }
  if (!has_usual && out.has_scheme) out.what = *out.rules.front().format;
}

}  // namespace

void read_compressed_tensors(const ConfigReader& config, Stated& out) {
  out.what.method = "compressed-tensors";
  const std::string format = config.text(field("format")).value_or("");
  if (format.starts_with("marlin-24") || format.starts_with("sparse")) {
    refuse_value(config, field("format"), format,
                 "float-, int-, naive-, pack-, nvfp4-pack- and mxfp4-pack-quantized");
  }
  read_groups(config, out);
  if (!out.has_scheme) {
    out.has_scheme = true;
    if (format.starts_with("nvfp4")) {
      out.what = nvfp4();
    } else if (format.starts_with("mxfp4")) {
      out.what = mxfp4();
    } else {
      out.has_scheme = false;
    }
  }
  out.packs_head = config.has(field("ignore"));  // unless the list keeps it
}

namespace {

// What an algorithm of ModelOpt writes; `where` names it in refusals.
Quantization modelopt_format(const ConfigReader& config, const std::string& where,
                             const std::string& algorithm, std::int64_t group) {
  Quantization out;
  if (algorithm == "NVFP4" || algorithm == "NVFP4_AWQ" || algorithm == "W4A16_NVFP4") {
    out = nvfp4();
    out.quantizes_inputs = algorithm != "W4A16_NVFP4";
  } else if (algorithm == "MXFP4" || algorithm == "W4A16_MXFP4") {
    out = mxfp4();
  } else if (algorithm == "FP8" || algorithm.starts_with("FP8_P")) {
    const bool is_block = algorithm.starts_with("FP8_PB");
    out = per_row("modelopt " + algorithm, Dtype::f8_e4m3fn);
    out.scale_bits = algorithm == "FP8" ? 0 : f32_bits;
    out.matrix_scale_bytes = algorithm == "FP8" ? 4 : 0;
    if (is_block) out.block = out.block_rows = 128;
    out.quantizes_inputs = !algorithm.ends_with("WO");
  } else if (algorithm == "W4A16_AWQ" || algorithm == "W4A16" || algorithm == "W8A16") {
    out = {.method = "modelopt " + algorithm,
           .weights = algorithm == "W8A16" ? Dtype::s8 : Dtype::s4};
    const bool is_awq = algorithm == "W4A16_AWQ";
    if (is_awq) out.format = PackedWeights::awq;
    out.block = is_awq ? group : 0;
    out.scale_bits = f16_bits;
  } else if (algorithm == "INT8_SQ" || algorithm.starts_with("W8A8_SQ")) {
    out = per_row("modelopt " + algorithm, Dtype::s8);
  } else {
    refuse_value(config, where, algorithm,
                 "FP8, FP8_PB_WO, FP8_PER_CHANNEL_PER_TOKEN, NVFP4, MXFP4, W4A16_AWQ, W4A16, "
                 "W8A16, INT8_SQ, MIXED_PRECISION");
  }
  return out;
}

// MIXED_PRECISION: an algorithm per module, and none of those that are not listed. The usual format
// is the narrowest.
void read_quantized_layers(const ConfigReader& config, const std::string& where, Stated& out) {
  const Json* listed = object_at(config, where);
  if (listed == nullptr) {
    config.refuse(where, "is missing; MIXED_PRECISION states an algorithm for every module there");
  }
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> by_format;
  for (const auto& [name, stated] : listed->items()) {
    if (!stated.is_object() || !stated.contains("quant_algo")) {
      config.refuse(where, "has no quant_algo for '" + printable(name) + "'");
    }
    const ConfigReader own = reader_of(config, name, stated);
    const std::string algorithm = own.text("quant_algo").value_or("");
    const std::int64_t group = group_size(own, "group_size", 128);
    const Quantization format = modelopt_format(config, where, algorithm, group);
    if (format.weights == Dtype::f4_e2m1) check_block(own, "group_size", format);
    by_format[{algorithm, group}].push_back(name);
  }
  out.is_listed = true;
  for (const auto& [format, names] : by_format) {
    const auto& [algorithm, group] = format;
    out.rules.push_back({ModulePatterns(names), modelopt_format(config, where, algorithm, group)});
  }
  out.what = *std::ranges::min_element(out.rules, {}, [](const Rule& rule) {
                return dtype_bits(rule.format->weights);
              })->format;
}

}  // namespace

// quant_algo of ModelOpt, at the top or under "quantization" as in hf_quant_config.json.
void read_modelopt(const ConfigReader& config, Stated& out) {
  const char* nested = config.has(field("quantization.quant_algo")) ? "quantization." : "";
  const auto at = [&](std::string_view name) { return field(nested + std::string(name)); };
  const std::string algorithm = config.text(at("quant_algo")).value_or("");
  if (algorithm.empty()) {
    out.has_scheme = false;
    return;
  }
  if (algorithm == "MIXED_PRECISION") {
    return read_quantized_layers(config, at("quantized_layers"), out);
  }
  const std::string groups = field("config_groups");  // one of them says what quant_algo does
  if (config.keys(groups).size() > 1) {
    config.refuse(groups,
                  "holds several groups beside '" + printable(algorithm) + "', which is one");
  }
  out.what = modelopt_format(config, at("quant_algo"), algorithm,
                             group_size(config, at("group_size"), 128));
  if (out.what.weights == Dtype::f4_e2m1) check_block(config, at("group_size"), out.what);
  const std::string group = field("config_groups.group_0."), bits = group + "weights.num_bits";
  const std::int64_t of_format = dtype_bits(out.what.weights);
  if (const auto stated = config.size(bits); stated && *stated != of_format) {
    config.refuse(bits, "is " + std::to_string(*stated) + ", but weights of " + out.what.method +
                            " have " + std::to_string(of_format));
  }
  if (out.what.weights == Dtype::f4_e2m1 && config.has(group + "weights")) {
    check_block(config, group + "weights.group_size", out.what);
    out.what.quantizes_inputs = config.size(group + "input_activations.num_bits") == 4;
  }
}

namespace {

// Of the whole model, or of the modules that a pattern names. Nothing: not quantised.
std::optional<Quantization> quark_format(const ConfigReader& config, const std::string& under) {
  const std::string weights = under + "weight.";
  const std::string type = config.text(weights + "dtype").value_or("");
  const auto inputs = config.text(under + "input_tensors.dtype");
  const bool is_grouped = config.text(weights + "qscheme") == "per_group";
  if (type.empty() || type == "bfloat16" || type == "float16") return std::nullopt;
  Quantization out;
  if (type == "fp8_e4m3" || type == "int8") {
    const bool is_float = type == "fp8_e4m3";
    out = per_row(is_float ? "quark fp8" : "quark int8", is_float ? Dtype::f8_e4m3fn : Dtype::s8);
    out.quantizes_inputs = inputs.has_value();
  } else if (type == "fp4") {
    out = mxfp4();
    out.quantizes_inputs = inputs == "fp4";
    check_block(config, weights + "group_size", out);
  } else if ((type == "int4" || type == "uint4") && !inputs) {
    out = {.method = "quark " + type, .weights = Dtype::s4};
    out.block = is_grouped ? group_size(config, weights + "group_size", 128) : 0;
    out.scale_bits = f16_bits + (type == "uint4" ? 4 : 0);
  } else {
    refuse_value(config, weights + "dtype", type,
                 "fp8_e4m3, int8, fp4 in groups of 32, int4 and uint4 without quantised inputs");
  }
  return out;
}

}  // namespace

void read_quark(const ConfigReader& config, Stated& out) {
  (void)object_at(config, field("global_quant_config"));
  config.ignore({field("global_quant_config")});  // it is read key by key
  const auto usual = quark_format(config, field("global_quant_config."));
  const Json* apart = object_at(config, field("layer_quant_config"));
  const Json none = Json::object();
  for (const auto& [pattern, stated] : (apart != nullptr ? *apart : none).items()) {
    if (!stated.is_object() && !stated.is_null()) {
      config.refuse(field("layer_quant_config"), "must hold objects, holds " + shown(stated));
    }
    std::optional<Quantization> format;
    if (stated.is_object()) format = quark_format(reader_of(config, pattern, stated), "");
    add_rule(config, field("layer_quant_config"), pattern, std::move(format), out);
  }
  const auto first = std::ranges::find_if(out.rules, &Rule::is_packed);
  out.is_listed = !usual;
  out.has_scheme = usual || first != out.rules.end();
  if (out.has_scheme) out.what = usual ? *usual : *first->format;
}

}  // namespace halmark::quantization
