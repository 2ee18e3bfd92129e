#include "model/weights/stored_module.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "core/ranges.hpp"
#include "core/text/error.hpp"

namespace halmark {

namespace {

enum class TensorRole { weights, bias, scale };

constexpr std::array<std::string_view, 24> scales = {"weight_scale",
                                                     "weight_scale_inv",
                                                     "weight_scale_2",
                                                     "weight_shape",
                                                     "weight_zero_point",
                                                     "weight_global_scale",
                                                     "weight_g_idx",
                                                     "input_scale",
                                                     "input_global_scale",
                                                     "output_scale",
                                                     "scales",
                                                     "biases",
                                                     "qzeros",
                                                     "g_idx",
                                                     "k_scale",
                                                     "v_scale",
                                                     "q_scale",
                                                     "kv_scale",
                                                     "scale",
                                                     "scale_inv",
                                                     "SCB",
                                                     "absmax",
                                                     "zeros",
                                                     "input_zero_point"};

bool has_ending(std::string& name, std::string_view ending) {
  if (!name.ends_with(ending)) return false;
  name.resize(name.size() - ending.size());
  return true;
}

std::pair<std::string, TensorRole> module_and_role(std::string name) {
  // bitsandbytes: "x.weight.absmax", "x.weight.quant_state.bitsandbytes__nf4".
  if (const auto at = name.find(".weight."); at != std::string::npos) {
    return {name.substr(0, at), TensorRole::scale};
  }
  const auto dot = name.rfind('.');
  const std::string last = name.substr(dot + 1);  // npos + 1 = 0
  const std::string front = dot == std::string::npos ? name : name.substr(0, dot);
  if (last == "weight" || last == "qweight" || last == "weight_packed") {
    return {front, TensorRole::weights};
  }
  if (last == "bias") return {front, TensorRole::bias};
  if (contains(scales, last)) return {front, TensorRole::scale};
  // Stacked experts are no modules: "experts.gate_up_proj_blocks" stands beside "..._scales".
  if (has_ending(name, "_blocks")) return {name, TensorRole::weights};
  if (has_ending(name, "_scales") || has_ending(name, "_scale_inv"))
    return {name, TensorRole::scale};
  if (name.ends_with("proj_bias")) return {name.substr(0, name.size() - 5), TensorRole::bias};
  return {name, TensorRole::weights};
}

// No parameters, though old checkpoints have them.
bool is_buffer(std::string_view name, const StoredTensor& tensor) {
  const bool is_mask =
      (name.ends_with("attn.bias") || name.ends_with("attention.bias")) && tensor.shape.size() > 2;
  return is_mask || name.ends_with("inv_freq") || name.ends_with("masked_bias") ||
         name.ends_with("e_score_correction_bias") || name.ends_with("exp_probs_b.bias") ||
         name.ends_with("position_ids") || name.find("rope_freqs") != std::string_view::npos ||
         name.find("rope_factors") != std::string_view::npos ||
         name.ends_with("num_batches_tracked");
}

bool is_packed_type(std::string_view type) {
  return type == "I32" || type == "U32" || type == "U8" || type == "F4";
}

bool is_narrow(std::string_view type) {
  return is_packed_type(type) || type == "I8" || type.starts_with("F8") ||
         gguf_block(type).values > 1;
}

const StoredTensor* beside(const StoredModule& module, std::string_view ending) {
  for (const StoredTensor* tensor : module.beside) {
    if (tensor->name.ends_with(ending)) return tensor;
  }
  return nullptr;
}

// The blocks of scales: rows of weights and groups along each.
struct Blocks {
  const StoredTensor* scale = nullptr;
  std::int64_t rows = 0, groups = 0;
};

Blocks blocks_of(const StoredModule& module, bool is_turned) {
  for (const char* ending :
       {"weight_scale", "weight_scale_inv", "scales", ".scale", "_scale_inv", "_scales"}) {
    const StoredTensor* scale = beside(module, ending);
    if (scale == nullptr || scale->shape.empty()) continue;
    const std::size_t n = scale->shape.size();
    const std::int64_t last = n == 1 ? 1 : scale->shape[n - 1];
    const std::int64_t before = n == 1 ? scale->shape[0] : scale->shape[n - 2];
    return is_turned ? Blocks{scale, last, before} : Blocks{scale, before, last};
  }
  return {};
}

// Values of a row that share a scale; what does not divide is the last, short block.
std::int64_t block_width(std::int64_t size, std::int64_t blocks) {
  if (blocks <= 0) return size;
  const auto width = static_cast<std::uint64_t>((size + blocks - 1) / blocks);
  return size % blocks == 0 ? size / blocks : static_cast<std::int64_t>(std::bit_ceil(width));
}

Dtype narrow_dtype(std::int64_t bits, std::string_view type) {
  if (type == "F4" || type == "MXFP4" || type == "NVFP4") return Dtype::f4_e2m1;
  if (type.starts_with("F8")) return Dtype::f8_e4m3fn;
  return bits >= 8 ? Dtype::s8 : bits >= 4 ? Dtype::s4 : Dtype::s2;
}

// What lies beyond a power of two of bits is a scale of as many bits, exact in bytes: Q6_K is 4
// bits and 41 more per 16 values.
std::optional<Quantization> gguf_format(const std::string& type) {
  const GgufBlock block = gguf_block(type);
  if (block.values <= 1) return std::nullopt;
  const std::int64_t bits = 8 * block.bytes / block.values;
  Quantization out{.method = type, .weights = narrow_dtype(bits, type)};
  const std::int64_t rest = 8 * block.bytes - dtype_bits(out.weights) * block.values;
  constexpr std::int64_t scale_bits_max = 64;
  out.block = 32 * rest > scale_bits_max * block.values ? 16 : 32;
  out.scale_bits = std::max<std::int64_t>(0, rest * out.block / block.values);
  return out;
}

std::int64_t experts_of(const std::string& name, const std::vector<std::int64_t>& shape) {
  const auto has = [&](const char* word) { return name.find(word) != std::string::npos; };
  const bool is_stacked =
      has("expert") || has("_exps") || has("switch_mlp") || has("moe.");  // block_sparse_moe
  return is_stacked && shape.size() >= 3 ? shape.front() : 0;
}

std::optional<Quantization> format_of(const StoredModule& module, const StoredMatrix& matrix,
                                      std::int64_t bits, bool is_turned) {
  const std::string& type = module.weights->type;
  if (!is_narrow(type)) return std::nullopt;
  Quantization out{.method = std::to_string(bits) + "-bit " + type,
                   .weights = narrow_dtype(bits, type)};
  const std::int64_t count = std::max<std::int64_t>(1, matrix.experts);
  std::int64_t rest = 0;
  for (const StoredTensor* tensor : module.beside) rest += tensor->bytes;
  // 3, 5 and 6 bits are 2 and 4 with the others beside.
  rest += matrix.values() * std::max<std::int64_t>(0, bits - dtype_bits(out.weights)) / 8;
  out.block_rows = 1;
  out.scale_bits = 0;
  const Blocks blocks = blocks_of(module, is_turned);
  if (blocks.scale != nullptr && blocks.groups > 0 && blocks.rows > 0) {
    out.block = blocks.groups == 1 ? 0 : block_width(matrix.columns, blocks.groups);
    out.block_rows = block_width(matrix.rows, blocks.rows);
    const std::int64_t scales = blocks.rows * blocks.groups * count;
    out.scale_bits = std::min<std::int64_t>(64, 8 * rest / scales);
    rest -= scales * out.scale_bits / 8;
  }
  out.matrix_scale_bytes = rest / count;
  return out;
}

// Of packed weights: as wide as the tensors beside them say.
struct Unpacked {
  std::int64_t rows = 0, columns = 0, bits = 4;
  bool is_turned = false;  // stored [columns_in, columns_out]
};

Unpacked with_zeros(const StoredTensor& weights, const StoredTensor& zeros,
                    const StoredTensor& scale) {
  Unpacked out{.rows = scale.shape.back(), .is_turned = true};
  out.bits = std::clamp<std::int64_t>(32 * zeros.shape.back() / std::max<std::int64_t>(1, out.rows),
                                      1, 32);
  const bool packs_rows = weights.shape.back() == out.rows;  // GPTQ; AWQ packs columns
  out.columns = packs_rows ? weights.shape.front() * 32 / out.bits : weights.shape.front();
  return out;
}

constexpr std::array<std::int64_t, 6> widths_in_bits = {4, 8, 2, 3, 6, 5};

// Along a row: its bits follow from its group, or from the width of the model, or are those of the
// matrices beside it that read the model's width.
Unpacked along_rows(const StoredTensor& weights, std::int64_t groups, const ModelWidths& widths) {
  Unpacked out{.rows = weights.shape[weights.shape.size() - 2]};
  const std::int64_t word = safetensors_bits(weights.type);
  const std::int64_t packed = weights.shape.back() * word;
  const auto is_width = [](std::int64_t bits) { return contains(widths_in_bits, bits); };
  out.columns = packed / 4;
  const bool has_groups = groups > 1 && widths.group > 0 && groups <= packed / widths.group;
  const std::int64_t first = has_groups        ? groups * widths.group
                             : widths.bits > 0 ? packed / widths.bits
                                               : 0;
  for (const std::int64_t columns : {first, widths.hidden}) {
    if (columns == 0 || packed % columns != 0 || !is_width(packed / columns)) continue;
    out.columns = columns;
    out.bits = packed / columns;
    break;
  }
  return out;
}

std::optional<Unpacked> unpacked(const StoredModule& module, const ModelWidths& widths) {
  const StoredTensor& w = *module.weights;
  if (!is_packed_type(w.type) || module.beside.empty() || w.shape.size() < 2) return std::nullopt;
  const StoredTensor* zeros = beside(module, "qzeros");
  const Blocks blocks = blocks_of(module, false);
  const bool is_2d = blocks.scale != nullptr && blocks.scale->shape.size() == 2;
  if (zeros != nullptr && is_2d && zeros->shape.size() == 2) {
    return with_zeros(w, *zeros, *blocks.scale);
  }
  if (w.name.ends_with("_blocks") && w.shape.size() == 4) {
    return Unpacked{.rows = w.shape[1], .columns = w.shape[2] * w.shape[3] * 2};
  }
  const std::size_t last = w.shape.size() - 1;
  const bool has_one_scale = blocks.scale != nullptr && blocks.scale->values() == 1;
  if (w.type == "U8" && has_one_scale && beside(module, "weight_scale_2") == nullptr) {
    return Unpacked{.rows = 4 * w.shape[last - 1], .columns = w.shape[last], .bits = 2};  // BitNet
  }
  if (beside(module, "absmax") != nullptr) {  // two values a byte, without their shape
    const std::int64_t hidden = std::max<std::int64_t>(1, widths.hidden);
    return Unpacked{.rows = 2 * w.values() / hidden, .columns = hidden};
  }
  return along_rows(w, blocks.groups, widths);
}

bool ends_a_block(const std::string& name) {
  return std::ranges::any_of(
      std::array{"o_proj", "out_proj", "attn_output", "c_proj", "attention.dense", "attn.dense",
                 "attention.wo", "attn.wo", "wo_b", "ssm_out"},
      [&](std::string_view ending) { return name.ends_with(ending); });
}

KernelKind kind_of(const std::string& name, const StoredMatrix& matrix, std::int64_t hidden) {
  if (matrix.experts > 0) return KernelKind::experts;
  const bool mixes =
      std::ranges::any_of(std::array{"attn", "attention", "mixer", "mamba", "ssm", "conv"},
                          [&](const char* word) { return name.find(word) != std::string::npos; });
  if (!mixes) return KernelKind::ffn;
  const bool is_out = ends_a_block(name) || (matrix.rows == hidden && matrix.columns != hidden);
  return is_out ? KernelKind::output : KernelKind::qkv;
}

// Without a product that overflows.
bool fits(const StoredMatrix& m, std::int64_t bits) {
  const std::int64_t count = std::max<std::int64_t>(1, m.experts);
  return m.rows == 0 || m.columns == 0 || m.rows <= bits / count / m.columns;
}

// The commonest of them, of several the largest; 0 of none.
std::int64_t commonest(const std::map<std::int64_t, std::int64_t>& counted) {
  const auto most = std::ranges::max_element(
      counted, {}, [](const auto& c) { return std::pair(c.second, c.first); });
  return most == counted.end() ? 0 : most->first;
}

}  // namespace

std::map<std::string, StoredModule> modules_of(const WeightsHeader& header) {
  std::map<std::string, StoredModule> out;
  for (const StoredTensor& tensor : header.tensors) {
    if (is_buffer(tensor.name, tensor)) continue;
    const auto [name, role] = module_and_role(tensor.name);
    StoredModule& module = out[name];
    module.bytes += tensor.bytes;
    if (role == TensorRole::weights && module.weights != nullptr) {
      throw refused("has both '" + printable(module.weights->name) + "' and '" +
                        printable(tensor.name) + "', the weights of one module",
                    header.place);
    }
    if (role == TensorRole::weights) module.weights = &tensor;
    if (role == TensorRole::bias) module.vector_values += tensor.values();
    if (role == TensorRole::scale) module.beside.push_back(&tensor);
  }
  return out;
}

namespace {

std::int64_t hidden_of(const std::map<std::string, StoredModule>& modules) {
  std::map<std::int64_t, std::int64_t> norms, columns;
  for (const auto& [name, module] : modules) {
    if (module.weights == nullptr || module.weights->shape.empty()) continue;
    const auto& shape = module.weights->shape;
    if (shape.size() > 1) ++columns[shape.back()];
    const bool is_of_head = name.ends_with("q_norm") || name.ends_with("k_norm");
    if (shape.size() == 1 && !is_of_head && name.find("norm") != std::string::npos) {
      ++norms[shape[0]];
    }
  }
  return norms.empty() ? commonest(columns) : commonest(norms);
}

bool reads_width(const std::string& name) {
  return std::ranges::any_of(
      std::array{"q_proj", "k_proj", "v_proj", "qkv_proj", "gate_proj", "up_proj", "w1", "w3"},
      [&](const char* ending) { return name.ends_with(ending); });
}

}  // namespace

ModelWidths widths_of(const std::map<std::string, StoredModule>& modules) {
  const std::int64_t hidden = hidden_of(modules);
  std::map<std::int64_t, std::int64_t> groups, bits;
  if (hidden < 1) return {};
  for (const auto& [name, module] : modules) {
    const StoredTensor* weights = module.weights;
    if (weights == nullptr || !is_packed_type(weights->type) || weights->shape.size() < 2) continue;
    const Blocks blocks = blocks_of(module, false);
    const std::int64_t packed = weights->shape.back() * safetensors_bits(weights->type);
    const bool reads_hidden = packed % hidden == 0 && packed / hidden >= 2 && packed / hidden <= 8;
    if (!reads_hidden || blocks.groups < 1 || hidden % blocks.groups != 0) continue;
    if (blocks.groups > 1) {
      ++groups[hidden / blocks.groups];
    } else if (reads_width(name)) {
      ++bits[packed / hidden];
    }
  }
  return {.hidden = hidden, .group = commonest(groups), .bits = commonest(bits)};
}

std::optional<StoredMatrix> matrix_of(const std::string& name, const StoredModule& module,
                                      const ModelWidths& widths, const std::string& place) {
  if (module.weights == nullptr) return std::nullopt;
  const StoredTensor& w = *module.weights;
  if (std::ranges::count_if(w.shape, [](std::int64_t n) { return n > 1; }) < 2 &&
      !(is_narrow(w.type) && w.shape.size() > 1)) {
    return std::nullopt;
  }
  StoredMatrix out{.name = name, .experts = experts_of(name, w.shape)};
  const std::size_t first = out.experts > 0 ? 1 : 0;
  out.rows = w.shape[first];
  out.columns = 1;
  for (std::size_t d = first + 1; d < w.shape.size(); ++d) out.columns *= w.shape[d];
  const auto packed = unpacked(module, widths);
  if (packed) {
    out.rows = packed->rows;
    out.columns = packed->columns;
  }
  if (out.experts > stored_experts_max) {
    throw refused("has '" + printable(name) + "' of " + std::to_string(out.experts) +
                      " experts; the limit is " + std::to_string(stored_experts_max),
                  place);
  }
  if (!fits(out, 8 * w.bytes)) {
    throw refused("has '" + printable(name) + "', whose tensors unpack to more than their bits",
                  place);
  }
  const GgufBlock block = gguf_block(w.type);
  const std::int64_t bits = packed ? packed->bits : safetensors_bits(w.type);
  out.format = block.values > 1 ? gguf_format(w.type)
                                : format_of(module, out, bits, packed && packed->is_turned);
  out.kind = kind_of(name, out, widths.hidden);
  return out;
}

std::int64_t values_of(const StoredModule& module, const std::optional<StoredMatrix>& matrix) {
  std::int64_t out = module.vector_values;
  if (matrix) {
    out += matrix->values();
  } else if (module.weights != nullptr) {
    out += module.weights->values();
  }
  const bool is_scaled = module.weights != nullptr && is_narrow(module.weights->type);
  if (is_scaled) return out;
  for (const StoredTensor* tensor : module.beside) {
    const bool is_of_cache = tensor->name.ends_with("_scale") || tensor->name.ends_with("_scale_2");
    if (!is_of_cache) out += tensor->values();
  }
  return out;
}

}  // namespace halmark
