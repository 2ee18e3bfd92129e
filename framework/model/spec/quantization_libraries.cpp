// The methods of libraries that describe weights and inputs by their numbers: llm-compressor
// (compressed-tensors), NVIDIA ModelOpt and AMD Quark.
#include <optional>
#include <utility>

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

// Every group of config_groups, which must agree.
void read_groups(const ConfigReader& config, Stated& out) {
  const std::string groups = field("config_groups");
  const std::string family = out.what.method;
  std::optional<Stated> first;
  for (const std::string& name : config.keys(groups)) {
    const std::string group = groups + '.' + name + '.';
    Stated one{.what = {.method = family}};
    read_numbers(config, group + "weights.", group + "input_activations.", one);
    read_strategy(config, group + "weights.", one);
    one.targets = config.texts(group + "targets").value_or(std::vector<std::string>{});
    if (!first) {
      first = one;
      continue;
    }
    const bool is_alike = first->what.weights == one.what.weights &&
                          first->what.quantizes_inputs == one.what.quantizes_inputs;
    if (!is_alike) {
      config.refuse(groups, "states " + first->what.method + " and " + one.what.method +
                                ": checkpoints of one type of weights are read");
    }
    first->targets.insert(first->targets.end(), one.targets.begin(), one.targets.end());
  }
  if (!first) {
    out.has_scheme = false;
    return;
  }
  out.what = first->what;
  out.targets = first->targets;
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

// quant_algo of ModelOpt, at the top or under "quantization" as in hf_quant_config.json.
void read_modelopt(const ConfigReader& config, Stated& out) {
  const char* nested = config.has(field("quantization.quant_algo")) ? "quantization." : "";
  const auto at = [&](std::string_view name) { return field(nested + std::string(name)); };
  const std::string algorithm = config.text(at("quant_algo")).value_or("");
  if (algorithm == "NVFP4" || algorithm == "NVFP4_AWQ" || algorithm == "W4A16_NVFP4") {
    out.what = nvfp4();
    check_block(config, at("group_size"), out.what);
    out.what.quantizes_inputs = algorithm != "W4A16_NVFP4";
    const std::string group = field("config_groups.group_0.");
    check_block(config, group + "weights.group_size", out.what);
    if (config.has(group + "weights")) {
      out.what.quantizes_inputs = config.size(group + "input_activations.num_bits") == 4;
    }
  } else if (algorithm == "MXFP4") {
    out.what = mxfp4();
    check_block(config, at("group_size"), out.what);
  } else if (algorithm == "FP8" || algorithm.starts_with("FP8_P")) {
    const bool is_block = algorithm.starts_with("FP8_PB");
    out.what = per_row("modelopt " + algorithm, Dtype::f8_e4m3fn);
    out.what.scale_bits = algorithm == "FP8" ? 0 : f32_bits;
    out.what.matrix_scale_bytes = algorithm == "FP8" ? 4 : 0;
    if (is_block) out.what.block = out.what.block_rows = 128;
    out.what.quantizes_inputs = !algorithm.ends_with("WO");
  } else if (algorithm == "W4A16_AWQ" || algorithm == "W4A16" || algorithm == "W8A16") {
    const std::int64_t bits = algorithm == "W8A16" ? 8 : 4;
    out.what = {.method = "modelopt " + algorithm, .weights = integer_of(config, {}, bits)};
    const bool is_awq = algorithm == "W4A16_AWQ";
    if (is_awq) out.what.format = PackedWeights::awq;
    out.what.block = is_awq ? group_size(config, at("group_size"), 128) : 0;
    out.what.scale_bits = f16_bits;
  } else if (algorithm == "INT8_SQ" || algorithm.starts_with("W8A8_SQ")) {
    out.what = per_row("modelopt " + algorithm, Dtype::s8);
  } else if (algorithm.empty()) {
    out.has_scheme = false;
  } else {
    refuse_value(config, at("quant_algo"), algorithm,
                 "FP8, FP8_PB_WO, FP8_PER_CHANNEL_PER_TOKEN, NVFP4, MXFP4, W4A16_AWQ, W4A16, "
                 "W8A16, INT8_SQ");
  }
}

void read_quark(const ConfigReader& config, Stated& out) {
  const std::string weights = field("global_quant_config.weight.");
  const std::string type = config.text(weights + "dtype").value_or("");
  const bool has_inputs = config.has(field("global_quant_config.input_tensors.dtype"));
  const bool is_grouped = config.text(weights + "qscheme") == "per_group";
  if (type == "fp8_e4m3") {
    out.what = per_row("quark fp8", Dtype::f8_e4m3fn);
    out.what.quantizes_inputs = has_inputs;
  } else if (type == "int8") {
    out.what = per_row("quark int8", Dtype::s8);
    out.what.quantizes_inputs = has_inputs;
  } else if (type == "fp4") {
    out.what = mxfp4();
    out.what.quantizes_inputs =
        config.text(field("global_quant_config.input_tensors.dtype")) == "fp4";
    check_block(config, weights + "group_size", out.what);
  } else if ((type == "int4" || type == "uint4") && !has_inputs) {
    out.what = {.method = "quark " + type, .weights = Dtype::s4};
    out.what.block = is_grouped ? group_size(config, weights + "group_size", 128) : 0;
    out.what.scale_bits = f16_bits + (type == "uint4" ? 4 : 0);
  } else if (type.empty()) {
    out.has_scheme = false;
  } else {
    refuse_value(config, weights + "dtype", type,
                 "fp8_e4m3, int8, fp4 in groups of 32, int4 and uint4 without quantised inputs");
  }
}

}  // namespace halmark::quantization
