#include "model/spec/packed_format.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/text/error.hpp"
#include "model/spec/config_reader.hpp"

namespace halmark {

namespace {

using Names = std::vector<std::string>;

constexpr std::string_view group = "quantization_config.config_groups.group_0.";

std::string field(std::string_view name) { return std::string(group) + std::string(name); }

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return text;
}

// compressed-tensors names its formats "nvfp4-pack-quantized", ModelOpt "NVFP4".
std::string stated_format(const ConfigReader& config) {
  for (const char* name : {"quantization_config.quant_algo", "quantization_config.format",
                           "quantization_config.quant_method"}) {
    const std::string text = lower(config.text(name).value_or(""));
    for (const char* known : {"mxfp4", "nvfp4"}) {
      if (text.starts_with(known)) return known;
    }
  }
  return {};
}

// Modules that stay as they are; libraries call the list differently.
Names kept_modules(const ConfigReader& config) {
  for (const char* name : {"modules_to_not_convert", "ignore", "exclude_modules"}) {
    if (auto list = config.texts("quantization_config." + std::string(name))) return *list;
  }
  return {};
}

bool names_any(const Names& modules, std::string_view part) {
  return std::ranges::any_of(modules, [&](const std::string& m) { return m.find(part) != m.npos; });
}

// "model.layers.*.mlp", but not its router, gate or shared experts alone.
bool keeps_feed_forward(const Names& modules) {
  return std::ranges::any_of(modules, [](const std::string& m) {
    return m.ends_with("mlp") || m.ends_with("mlp*") || m.find("down_proj") != m.npos ||
           m.find("shared_expert") != m.npos;
  });
}

void check_block(const ConfigReader& config, const PackedFormat& format) {
  for (const std::string& name :
       {field("weights.group_size"), std::string("quantization_config.group_size")}) {
    const auto stated = config.size(name);
    if (!stated || *stated == format.block) continue;
    config.refuse(name, "is " + std::to_string(*stated) + ", but a block of " + format.name() +
                            " has " + std::to_string(format.block) + " weights");
  }
}

}  // namespace

bool PackedFormat::packs(KernelKind kind) const {
  switch (kind) {
    case KernelKind::qkv:
    case KernelKind::output:
      return packs_attention;
    case KernelKind::ffn:
      return packs_feed_forward;
    case KernelKind::experts:
      return packs_experts;
    case KernelKind::head:
    case KernelKind::attention:
    case KernelKind::kv_cache:
    case KernelKind::activation:
      return false;
  }
  return false;
}

bool is_packed(const Precision& precision) {
  return std::ranges::any_of(kernel_kinds, [&](const KernelKindRow& row) {
    return precision.*row.field == Dtype::f4_e2m1;
  });
}

std::optional<PackedFormat> read_packed_format(ConfigReader& config) {
  const std::string name = stated_format(config);
  if (name.empty()) return std::nullopt;
  const Names kept = kept_modules(config);
  const bool is_mx = name == "mxfp4";
  PackedFormat out{.weights = is_mx ? PackedWeights::mxfp4 : PackedWeights::nvfp4,
                   .block = is_mx ? 32 : 16,
                   .matrix_scale_bytes = is_mx ? 0 : 4};
  check_block(config, out);
  out.packs_experts = true;
  // transformers packs the experts of an mxfp4 checkpoint and nothing else.
  if (!is_mx) {
    out.packs_attention = !names_any(kept, "attn");
    out.packs_feed_forward = !keeps_feed_forward(kept);
    out.packs_activations = config.size(field("input_activations.num_bits")) == 4;
  }
  return out;
}

}  // namespace halmark
