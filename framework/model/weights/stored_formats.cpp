#include "model/weights/stored_formats.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "model/spec/model_spec.hpp"
#include "model/weights/weights_document.hpp"
#include "model/weights/weights_header.hpp"

namespace halmark {

namespace {

// A linear and the matrices that it is in llama.cpp's names; of several rows those that are there.
struct GgufLinear {
  std::string_view linear, part, other_part = {};
};
constexpr std::array linears = {GgufLinear{"q_proj", "attn_q"},
                                GgufLinear{"q_proj", "attn_qkv"},
                                GgufLinear{"kv_proj", "attn_k", "attn_v"},
                                GgufLinear{"kv_proj", "attn_qkv"},
                                GgufLinear{"q_a_proj", "attn_q_a"},
                                GgufLinear{"q_b_proj", "attn_q_b"},
                                GgufLinear{"kv_a_proj", "attn_kv_a_mqa"},
                                GgufLinear{"kv_b_proj", "attn_kv_b"},
                                GgufLinear{"kv_b_proj", "attn_k_b", "attn_v_b"},
                                GgufLinear{"o_proj", "attn_output"},
                                GgufLinear{"in_proj", "ssm_in"},
                                GgufLinear{"out_proj", "ssm_out"},
                                GgufLinear{"gate_up_proj", "ffn_gate", "ffn_up"},
                                GgufLinear{"up_proj", "ffn_up"},
                                GgufLinear{"down_proj", "ffn_down"},
                                GgufLinear{"shared_gate_up_proj", "ffn_gate_shexp", "ffn_up_shexp"},
                                GgufLinear{"shared_down_proj", "ffn_down_shexp"},
                                GgufLinear{"expert_gate_up", "ffn_gate_exps", "ffn_up_exps"},
                                GgufLinear{"expert_up", "ffn_up_exps"},
                                GgufLinear{"expert_down", "ffn_down_exps"}};

class FormatsOfFile {
 public:
  FormatsOfFile(const ModelSpec& stored, ModelSpec& spec)
      : layers_(*stored.stored_layers), usual_(*stored.quantization), spec_(spec) {
    usual_.kinds.clear();  // as those of one matrix
    usual_.packs_embedding = false;
  }

  void add(const GgufLinear& linear) {
    std::vector<StoredOtherwise> otherwise;
    bool has_mixed_parts = false;
    const auto layers = as_size(spec_.layers);
    for (std::size_t i = 0; i < std::min(layers, layers_.of_layer.size()); ++i) {
      const StoredMatrix* first = matrix(i, linear.part);
      const StoredMatrix* other = matrix(i, linear.other_part);
      if (first == nullptr) continue;
      has_mixed_parts = has_mixed_parts || (other != nullptr && other->format != first->format);
      if (first->format == usual_) continue;
      auto it = std::ranges::find(otherwise, first->format, &StoredOtherwise::format);
      if (it == otherwise.end()) {
        it = otherwise.insert(it, {first->kind, std::string(linear.linear),
                                   std::vector<bool>(layers), first->format});
      }
      it->layers[i] = true;
    }
    std::ranges::move(otherwise, std::back_inserter(spec_.stored_otherwise));
    if (!has_mixed_parts) return;
    spec_.assumed.push_back(std::string(linear.linear) +
                            " is stored as its first part is in layers whose parts differ");
  }

  // Matrices that are none of the linears take the usual type.
  void name_the_rest() {
    std::set<std::string> rest;
    for (const StoredLayer& kind : layers_.kinds) {
      for (const StoredMatrix& m : kind.matrices) {
        const bool is_known = std::ranges::any_of(linears, [&](const GgufLinear& linear) {
          return m.name == linear.part || m.name == linear.other_part;
        });
        if (m.format && m.format != usual_ && !is_known) rest.insert(m.name);
      }
    }
    if (rest.empty()) return;
    spec_.assumed.push_back(
        printable(*rest.begin()) +
        (rest.size() > 1 ? " and " + std::to_string(rest.size() - 1) + " more" : std::string()) +
        " stored in " + usual_.method + ", as most weights are");
  }

 private:
  const StoredMatrix* matrix(std::size_t layer, std::string_view name) const {
    const auto& all = layers_.kinds[as_size(layers_.of_layer[layer])].matrices;
    return find_or_null(all, name, &StoredMatrix::name);
  }

  const StoredLayers& layers_;
  Quantization usual_;
  ModelSpec& spec_;
};

}  // namespace

void take_formats(const WeightsHeader& header, ModelSpec& spec) {
  const ModelSpec stored =
      read_model(dump_json(weights_document(header, nullptr, "")), header.place);
  spec.stored_dtype = stored.stored_dtype;
  spec.quantization = stored.quantization;
  spec.unread_quantization.clear();
  spec.stored_otherwise.clear();
  if (!stored.quantization) return;
  FormatsOfFile formats(stored, spec);
  for (const GgufLinear& linear : linears) formats.add(linear);
  formats.name_the_rest();
  for (StoredOtherwise one : stored.stored_otherwise) {
    const bool is_table = one.linear == "lm_head" || one.linear == "embed_tokens";
    if (is_table && !contains(one.layers, true)) {
      one.layers.resize(as_size(spec.layers));
      spec.stored_otherwise.push_back(std::move(one));
    }
  }
  const auto& kinds = spec.quantization->kinds;
  std::erase_if(spec.stored_otherwise,
                [&](const StoredOtherwise& one) { return !contains(kinds, one.kind); });
}

}  // namespace halmark
