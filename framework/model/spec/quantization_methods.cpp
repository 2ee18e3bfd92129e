// The methods that transformers has of its own. Scales whose type a configuration does not say are
// taken as the narrowest that the library writes, so that no bound is above what is read.
#include "model/spec/quantization_methods.hpp"

#include <array>
#include <optional>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

namespace halmark::quantization {

namespace {

void read_mxfp4(const ConfigReader&, Stated& out) {
  out.what = mxfp4();
  out.packs_experts_alone = true;  // transformers packs them and nothing else
}

void read_fp8(const ConfigReader& config, Stated& out) {
  const std::string format = config.text(field("fmt")).value_or("e4m3");
  if (format != "e4m3" && format != "float8_e4m3fn") {
    refuse_value(config, field("fmt"), format, "e4m3");
  }
  out.what = per_row("fp8", Dtype::f8_e4m3fn);
  out.what.scale_bits = f32_bits;
  if (const auto block = config.counts(field("weight_block_size"))) {
    if (block->size() != 2 || (*block)[0] < 1 || (*block)[1] < 1) {
      config.refuse(field("weight_block_size"), "must be two sizes above 0");
    }
    out.what.block_rows = (*block)[0];
    out.what.block = (*block)[1];
  } else {
    out.what.scale_bits = 0;  // one of the matrix
    out.what.matrix_scale_bytes = 4;
  }
}

void read_fbgemm(const ConfigReader&, Stated& out) {
  out.what = per_row("fbgemm_fp8", Dtype::f8_e4m3fn);
  out.what.scale_bits = f32_bits;
}

void read_awq(const ConfigReader& config, Stated& out) {
  const std::int64_t bits = config.size(field("bits")).value_or(4);
  if (bits != 4) refuse_value(config, field("bits"), std::to_string(bits), "4 bits");
  out.what = {.method = "awq", .format = PackedWeights::awq, .weights = Dtype::s4};
  out.what.block = group_size(config, field("group_size"), 128);
  const bool has_zeros = config.flag(field("zero_point")).value_or(true);
  out.what.scale_bits = f16_bits + (has_zeros ? bits : 0);
}

// A zero point stands beside every scale, also where all of them are equal.
void read_gptq(const ConfigReader& config, Stated& out) {
  require_integers(config, field(""));
  const std::int64_t bits = config.required_size(field("bits"));
  out.what = {.method = "gptq", .format = PackedWeights::gptq};
  out.what.weights = integer_of(config, field("bits"), bits);
  out.what.block = group_size(config, field("group_size"), 128);
  out.what.scale_bits = f16_bits + bits;
  out.packs_head = config.flag(field("lm_head")).value_or(false);
  read_dynamic(config, out);
  read_extra_config(config, out);
}

// A ternary value in two bits, one scale of the matrix; or 16 bits that become such at each use.
void read_bitnet(const ConfigReader& config, Stated& out) {
  out.has_scheme = !config.is_text(field("quantization_mode"), "online");
  out.what = {.method = "bitnet", .weights = Dtype::s2, .scale_bits = 0, .matrix_scale_bytes = 2};
}

void read_eetq(const ConfigReader&, Stated& out) {
  out.what = {.method = "eetq", .weights = Dtype::s8, .scale_bits = f16_bits};
}

void read_quanto(const ConfigReader& config, Stated& out) {
  const std::string type = config.text(field("weights")).value_or("int8");
  out.what = {.method = "quanto " + type, .scale_bits = f16_bits};
  if (type == "int8" || type == "int4" || type == "int2") {
    out.what.weights = integer_of(config, field("weights"), type.back() - '0');
    if (type != "int8") out.what.block = 128;
  } else if (type == "float8") {
    out.what.weights = Dtype::f8_e4m3fn;
  } else {
    refuse_value(config, field("weights"), type, "int2, int4, int8, float8");
  }
}

void read_hqq(const ConfigReader& config, Stated& out) {
  const std::string weights = field("quant_config.weight_quant_params.");
  if (!config.has(weights + "nbits")) {
    config.refuse(field("quant_config"), "states no weight_quant_params.nbits of all layers");
  }
  const std::int64_t bits = config.required_size(weights + "nbits");
  out.what = {.method = "hqq", .weights = integer_of(config, weights + "nbits", bits)};
  out.what.block = group_size(config, weights + "group_size", 64);
  out.what.scale_bits = 2 * f16_bits;
}

// Groups with a scale and a bias of 16 bits; the table of embeddings and the head too.
Quantization mlx_format(const ConfigReader& config, const std::string& under) {
  const std::string mode = config.text(under + "mode").value_or("affine");
  Quantization out;
  if (mode == "mxfp4" || mode == "nvfp4") {
    out = mode == "mxfp4" ? mxfp4() : nvfp4();
    check_block(config, under + "group_size", out);
    out.matrix_scale_bytes = 0;
  } else if (mode == "affine") {
    const std::int64_t bits = config.required_size(under + "bits");
    out = {.method = "mlx int" + std::to_string(bits), .scale_bits = 2 * f16_bits};
    out.weights = integer_of(config, under + "bits", bits);
    out.block = group_size(config, under + "group_size", 64);
  } else {
    refuse_value(config, under + "mode", mode, "affine, mxfp4, nvfp4");
  }
  out.packs_embedding = true;
  return out;
}

// Every module that differs stands beside the usual numbers under its own name.
void read_mlx(const ConfigReader& config, Stated& out) {
  out.what = mlx_format(config, field(""));
  out.packs_head = true;
  for (const auto& [name, stated] : config.value("quantization_config")->items()) {
    const bool is_module = name.find('.') != std::string::npos || name == "lm_head";
    if (!is_module) continue;
    config.ignore({field(name)});  // it is read below
    std::optional<Quantization> format;
    if (stated.is_object()) format = mlx_format(reader_of(config, name, stated), "");
    if (stated == true) format = out.what;
    const bool is_none = stated.is_null() || stated == false;
    if (!is_none && !format) config.refuse(field(name), "must be an object or a flag");
    add_rule(config, field(name), name, std::move(format), out);
  }
}

// NF4 and FP4 codes in blocks of 64 with an f32 scale, or one of a byte where those are quantised
// too (QLoRA, 2305.14314, section 3); LLM.int8() (2208.07339) by row.
void read_bitsandbytes(const ConfigReader& config, Stated& out) {
  const auto is_set = [&](const char* name) {
    return config.is_set(field(name)) || config.is_set(field('_' + std::string(name)));
  };
  if (is_set("load_in_4bit")) {
    const std::string type = config.text(field("bnb_4bit_quant_type")).value_or("fp4");
    out.what = {.method = "bitsandbytes " + type, .weights = Dtype::s4, .block = 64};
    out.what.scale_bits = config.is_set(field("bnb_4bit_use_double_quant")) ? 8 : f32_bits;
  } else if (is_set("load_in_8bit")) {
    out.what = per_row("bitsandbytes int8", Dtype::s8);
  } else {
    out.has_scheme = false;
  }
}

// Names of its functions (0.10 and before) or of its classes.
void read_torchao(const ConfigReader& config, Stated& out) {
  const std::string nested = field("quant_type.default.");
  const bool is_class = config.has(nested + "_type");
  const std::string type =
      is_class ? *config.text(nested + "_type") : config.text(field("quant_type")).value_or("");
  const std::string where = is_class ? nested + "_type" : field("quant_type");
  const auto is = [&](std::string_view function, std::string_view name) {
    return type == function || type == name;
  };
  if (is("int4_weight_only", "Int4WeightOnlyConfig")) {
    out.what = {.method = "torchao int4", .weights = Dtype::s4, .scale_bits = 2 * f16_bits};
    out.what.block = group_size(
        config, is_class ? nested + "_data.group_size" : field("quant_type_kwargs.group_size"),
        128);
  } else if (is("int8_weight_only", "Int8WeightOnlyConfig")) {
    out.what = {.method = "torchao int8", .weights = Dtype::s8, .scale_bits = f16_bits};
  } else if (is("float8_weight_only", "Float8WeightOnlyConfig")) {
    out.what = {.method = "torchao fp8", .weights = Dtype::f8_e4m3fn, .scale_bits = f16_bits};
  } else if (is("int8_dynamic_activation_int8_weight", "Int8DynamicActivationInt8WeightConfig")) {
    out.what = per_row("torchao int8", Dtype::s8);
  } else if (is("float8_dynamic_activation_float8_weight",
                "Float8DynamicActivationFloat8WeightConfig")) {
    out.what = per_row("torchao fp8", Dtype::f8_e4m3fn);
  } else if (type.empty()) {
    out.has_scheme = false;
  } else {
    refuse_value(config, where, type,
                 "Int4WeightOnly-, Int8WeightOnly-, Float8WeightOnly-, "
                 "Int8DynamicActivationInt8Weight- and Float8DynamicActivationFloat8WeightConfig");
  }
}

}  // namespace

Quantization mxfp4() {
  return {.method = "mxfp4",
          .format = PackedWeights::mxfp4,
          .weights = Dtype::f4_e2m1,
          .block = 32,
          .scale_bits = 8};
}

Quantization nvfp4() {
  return {.method = "nvfp4",
          .format = PackedWeights::nvfp4,
          .weights = Dtype::f4_e2m1,
          .block = 16,
          .scale_bits = 8,
          .matrix_scale_bytes = 4};
}

std::optional<Quantization> published_recipe(PackedWeights format) {
  Quantization out = {.method = std::string(packed_weights_name(format)),
                      .format = format,
                      .weights = Dtype::s4,
                      .block = 128,
                      .scale_bits = f16_bits + 4};
  switch (format) {
    case PackedWeights::as_stated:
      return std::nullopt;
    case PackedWeights::mxfp4:
      return mxfp4();
    case PackedWeights::nvfp4:
      out = nvfp4();
      out.quantizes_inputs = true;
      out.kv_cache = Dtype::f8_e4m3fn;
      return out;
    case PackedWeights::weights_only:  // symmetric, as llm-compressor has them: no zero points
      out.method = "int4";
      out.scale_bits = f16_bits;
      return out;
    case PackedWeights::awq:
    case PackedWeights::gptq:
      return out;
  }
  return std::nullopt;
}

Quantization per_row(std::string method, Dtype dtype) {
  return {.method = std::move(method),
          .weights = dtype,
          .scale_bits = f16_bits,
          .quantizes_inputs = true};
}

Dtype integer_of(const ConfigReader& config, const std::string& where, std::int64_t bits) {
  if (bits == 2) return Dtype::s2;
  if (bits == 4) return Dtype::s4;
  if (bits == 8) return Dtype::s8;
  refuse_value(config, where, std::to_string(bits), "2, 4, 8 bits");
}

void require_integers(const ConfigReader& config, const std::string& under) {
  const std::string type = config.text(under + "data_type").value_or("int");
  const std::int64_t inputs = config.size(under + "act_bits").value_or(16);
  if (!type.starts_with("int")) refuse_value(config, under + "data_type", type, "int");
  if (inputs < 16) refuse_value(config, under + "act_bits", std::to_string(inputs), "16 bits");
}

std::int64_t group_size(const ConfigReader& config, const std::string& where,
                        std::int64_t fallback) {
  const double stated = config.number(where).value_or(static_cast<double>(fallback));
  return stated == -1 ? 0 : config.size(where).value_or(config.has(where) ? 0 : fallback);
}

void check_block(const ConfigReader& config, const std::string& where, const Quantization& format) {
  const auto stated = config.size(where);
  if (!stated || *stated == format.block) return;
  config.refuse(where, "is " + std::to_string(*stated) + ", but a block of " + format.method +
                           " has " + std::to_string(format.block) + " weights");
}

std::string field(std::string_view name) { return "quantization_config." + std::string(name); }

void refuse_value(const ConfigReader& config, const std::string& where, const std::string& value,
                  std::string_view known) {
  config.refuse(where, "is '" + printable(value) +
                           "', which no weights here have; known: " + std::string(known));
}

std::span<const Method> methods() {
  static constexpr auto all =
      std::to_array<Method>({{"auto-round", read_gptq},
                             {"awq", read_awq},
                             {"bitnet", read_bitnet},
                             {"bitsandbytes", read_bitsandbytes},
                             {"compressed-tensors", read_compressed_tensors},
                             {"eetq", read_eetq},
                             {"fbgemm_fp8", read_fbgemm},
                             {"fp8", read_fp8},
                             {"gptq", read_gptq},
                             {"hqq", read_hqq},
                             {"mlx", read_mlx},
                             {"modelopt", read_modelopt},
                             {"mxfp4", read_mxfp4},
                             {"quanto", read_quanto},
                             {"quark", read_quark},
                             {"torchao", read_torchao}});
  return all;
}

}  // namespace halmark::quantization
