#include "model/spec/coverage.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/text/error.hpp"
#include "model/spec/config_reader.hpp"
#include "model/spec/harmless_fields.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

namespace {

using Named = std::pair<std::string_view, std::string_view>;

constexpr std::array other_operators = {
    Named{"is_encoder_decoder", "encoder-decoders are not modelled"},
    Named{"add_cross_attention", "attention to another sequence is not modelled"},
    Named{"cross_attention_layers", "attention to another sequence is not modelled"},
    Named{"num_kv_shared_layers", "layers that share keys and values are not modelled"},
    Named{"use_cla", "layers that share keys and values are not modelled"},
    Named{"hidden_size_per_layer_input", "embeddings of every layer are not modelled"},
    Named{"altup_num_inputs", "alternating updates are not modelled"},
    Named{"attn_config.prefix_lm", "attention that sees a prefix whole is not modelled"}};

// Parts beside the decoder, and element-wise work inside its operators.
constexpr std::array not_modelled = {
    Named{"vision_config", "vision tower"},
    Named{"vision_tower", "vision tower"},
    Named{"vision_tower_config", "vision tower"},
    Named{"mm_vision_tower", "vision tower"},
    Named{"vit_config", "vision tower"},
    Named{"visual", "vision tower"},
    Named{"img_processor", "vision tower"},
    Named{"embd_layer", "embedding of images"},
    Named{"audio_config", "audio tower"},
    Named{"audio_encoder", "audio tower"},
    Named{"audio_processor", "audio tower"},
    Named{"encoder_config", "encoder of speech"},
    Named{"whisper_config", "audio tower"},
    Named{"projector_config", "projector into the language tower"},
    Named{"qformer_config", "projector into the language tower"},
    Named{"perceiver_config", "projector into the language tower"},
    Named{"talker_config", "speech output"},
    Named{"token2wav_config", "speech output"},
    Named{"code2wav_config", "speech output"},
    Named{"vision_lora", "low-rank adapters of images"},
    Named{"speech_lora", "low-rank adapters of speech"},
    Named{"attn_logit_softcapping", "cap of attention scores, element-wise inside attention"},
    Named{"final_logit_softcapping", "cap of logits, element-wise behind the head"},
    Named{"clip_qkv", "clamp of q, k and v, element-wise behind their projections"},
    Named{"attn_config.clip_qkv", "clamp of q, k and v, element-wise behind their projections"},
    Named{"add_swa_attention_sink_bias", "attention sinks of windowed layers, a logit per head"},
    Named{"alibi", "ALiBi, an addition inside attention"},
    Named{"attn_config.alibi", "ALiBi, an addition inside attention"}};

constexpr std::array<std::string_view, 5> prediction_fields = {
    "num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules", "num_mtp_layers",
    "mtp_num_layers"};

bool is_harmless(std::string_view path) {
  const std::string_view top = path.substr(0, path.find('.'));
  const std::string_view last = path.substr(path.rfind('.') + 1);
  return std::ranges::find(harmless_fields, top) != std::end(harmless_fields) ||
         std::ranges::any_of(harmless_beginnings, [&](auto b) { return top.starts_with(b); }) ||
         std::ranges::any_of(harmless_endings, [&](auto end) { return last.ends_with(end); });
}

void add(std::vector<std::string>& to, std::string text) {
  if (std::ranges::find(to, text) == to.end()) to.push_back(std::move(text));
}

std::string named(std::string_view what, std::string_view field) {
  return std::string(what) + " (" + std::string(field) + ")";
}

}  // namespace

void refuse_other_operators(const ConfigReader& config) {
  for (const auto& [field, reason] : other_operators) {
    if (config.is_asked(field)) continue;  // its family knows it
    if (config.is_set(field)) config.refuse(field, "is set: " + std::string(reason));
  }
}

void name_the_rest(const ConfigReader& config, bool has_prediction, ModelSpec& spec) {
  const std::vector<std::string> rest = config.not_asked();
  for (const auto& [field, what] : not_modelled) {
    if (config.is_set(field)) add(spec.not_modelled, named(what, field));
  }
  for (const std::string_view field : prediction_fields) {
    if (has_prediction || !config.is_set(field)) continue;
    add(spec.not_modelled, named("multi-token-prediction modules", field));
  }
  const auto is_named = [&](const std::string& path) {
    return std::ranges::find(not_modelled, path, &Named::first) != not_modelled.end() ||
           std::ranges::find(prediction_fields, path) != prediction_fields.end();
  };
  for (const std::string& path : rest) {
    if (!is_harmless(path) && !is_named(path)) spec.not_read.push_back(path);
  }
}

std::vector<std::string> model_notes(const ModelSpec& spec) {
  std::vector<std::string> out;
  if (!spec.note.empty()) out.push_back("note: " + printable(spec.note));
  for (const std::string& text : spec.assumed) out.push_back("assumed: " + text);
  for (const std::string& text : spec.not_modelled) out.push_back("not modelled: " + text);
  if (!spec.unread_quantization.empty()) {
    out.push_back("quantisation not read: " + spec.unread_quantization);
  }
  std::string unconfirmed;
  for (const std::string& text : spec.unconfirmed) {
    unconfirmed += (unconfirmed.empty() ? "" : "; ") + text;
  }
  if (!unconfirmed.empty()) {
    out.push_back("not confirmed by a published count, so times are at best known to 20 %: " +
                  unconfirmed);
  }
  std::string fields;
  for (const std::string& path : spec.not_read) {
    fields += (fields.empty() ? "" : ", ") + printable(path);
  }
  if (!fields.empty()) out.push_back("not read, of unknown effect: " + fields);
  return out;
}

std::vector<std::string> model_lines(const ModelSpec& spec) {
  std::vector<std::string> out = model_notes(spec);
  for (std::string& line : out) line.insert(0, "model: ");
  return out;
}

}  // namespace halmark
