// Families that came before the gated decoders, or mix tokens in ways of their own.
#include <algorithm>

#include "families/family_formulas.hpp"

namespace halmark::family_counts {
namespace {

// LayerNorm, biases everywhere, two matrices.
std::int64_t plain_layer(std::int64_t h, std::int64_t f) {
  return 4 * h * h + 4 * h + 2 * h * f + f + h + 4 * h;
}

std::int64_t openai_gpt(const Sizes& s) {
  const std::int64_t h = s("n_embd");
  return (s("vocab_size") + s("n_positions")) * h + s("n_layer") * plain_layer(h, 4 * h);
}

std::int64_t ctrl(const Sizes& s) {
  const std::int64_t h = s("n_embd");
  return s("vocab_size") * (h + 1) + s("n_layer") * plain_layer(h, s("dff")) + 2 * h;
}

std::int64_t gpt_neo(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return (s("vocab_size") + s("max_position_embeddings")) * h + 2 * h +
         s("num_layers") * (plain_layer(h, s("intermediate_size")) - 3 * h);
}

std::int64_t codegen(const Sizes& s) {
  const std::int64_t h = s("n_embd");
  return s("vocab_size") * (2 * h + 1) + s("n_layer") * (plain_layer(h, 4 * h) - 6 * h) + 2 * h;
}

std::int64_t xglm(const Sizes& s) {
  const std::int64_t h = s("d_model");
  return s("vocab_size") * h + s("num_layers") * plain_layer(h, s("ffn_dim")) + 2 * h;
}

std::int64_t biogpt(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return (s("vocab_size") + s("max_position_embeddings") + 2) * h + 2 * h +
         s("num_hidden_layers") * plain_layer(h, s("intermediate_size"));
}

// Its table is narrower, and its norms stand behind the parts.
std::int64_t opt(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), w = s("word_embed_proj_dim");
  return s("vocab_size") * w + 2 * w * h + (s("max_position_embeddings") + 2) * h +
         s("num_hidden_layers") * plain_layer(h, s("ffn_dim"));
}

std::int64_t persimmon(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = h / s("num_attention_heads");
  return 2 * s("vocab_size") * h + 2 * h +
         s("num_hidden_layers") * (plain_layer(h, s("intermediate_size")) + 4 * d);
}

std::int64_t bamba(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), layers = s("num_hidden_layers");
  const std::int64_t width = s("mamba_expand") * h, heads = s("mamba_n_heads");
  const std::int64_t convolved = width + 2 * s("mamba_n_groups") * s("mamba_d_state");
  const std::int64_t mamba = h * (width + convolved + heads) + convolved * (s("mamba_d_conv") + 1) +
                             3 * heads + width + width * h;
  const auto attends = static_cast<std::int64_t>(s.json("attn_layer_indices").size());
  return 2 * s("vocab_size") * h + h + layers * (gated(h, s("intermediate_size")) + 2 * h) +
         attends * attention(h, s("num_attention_heads"), s("num_key_value_heads"),
                             h / s("num_attention_heads")) +
         (layers - attends) * mamba;
}

std::int64_t plamo(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), heads = s("num_attention_heads");
  return 2 * s("vocab_size") * h + h +
         s("num_hidden_layers") * (attention(h, heads, heads / s("n_shared_head"), h / heads) +
                                   gated(h, s("intermediate_size")) + h);
}

std::int64_t grok(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), experts = s("num_experts");
  return s("vocab_size") * h + h +
         s("num_hidden_layers") * (attention(h, s("num_attention_heads"), s("num_key_value_heads"),
                                             h / s("num_attention_heads")) +
                                   experts * (gated(h, s("intermediate_size")) + h) + 4 * h);
}

std::int64_t arctic(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), experts = s("num_local_experts");
  return 2 * s("vocab_size") * h + h +
         s("num_hidden_layers") *
             (attention(h, s("num_attention_heads"), s("num_key_value_heads"),
                        h / s("num_attention_heads")) +
              experts * (gated(h, s("intermediate_size")) + h) + gated(h, h) + 3 * h);
}

std::int64_t openelm(const Sizes& s) {
  const std::int64_t h = s("model_dim"), d = s("head_dim"), divisor = s("ffn_dim_divisor");
  std::int64_t out = s("vocab_size") * h + h;
  for (std::size_t i = 0; i < s.json("ffn_multipliers").size(); ++i) {
    const double exact = s.json("ffn_multipliers")[i].get<double>() * static_cast<double>(h);
    auto width = static_cast<std::int64_t>(exact + static_cast<double>(divisor) / 2);
    width = std::max(divisor, width - width % divisor);
    if (static_cast<double>(width) < 0.9 * exact) width += divisor;
    out += attention(h, s.json("num_query_heads")[i], s.json("num_kv_heads")[i], d) + 2 * d +
           gated(h, width) + 2 * h;
  }
  return out;
}

std::int64_t minimax(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), d = s("head_dim"), all = d * s("num_attention_heads");
  std::int64_t out = 2 * s("vocab_size") * h + h;
  for (const Json& type : s.json("layer_types")) {
    out += type == "full_attention"
               ? attention(h, s("num_attention_heads"), s("num_key_value_heads"), d)
               : 5 * h * all + all;
    out += s("num_local_experts") * (gated(h, s("intermediate_size")) + h) + 2 * h;
  }
  return out;
}

std::int64_t recurrent_gemma(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), heads = s("num_attention_heads"), w = s("lru_width");
  const std::int64_t layers = s("num_hidden_layers"), attends = layers / 3,
                     f = s("intermediate_size") / 2;
  const std::int64_t recurrence =
      3 * h * w + 2 * w + h + w * (s("conv1d_width") + 1) + w + 2 * (w * w / heads + w);
  return s("vocab_size") * h + h + layers * (gated(h, f) + 2 * f + h + 2 * h) +
         attends * (attention(h, heads, s("num_key_value_heads"), s("head_dim")) + h) +
         (layers - attends) * recurrence;
}

std::int64_t rwkv(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), a = s("attention_hidden_size"),
                     f = s("intermediate_size");
  return 2 * s("vocab_size") * h + 4 * h +
         s("num_hidden_layers") * (4 * h * a + 2 * a + 3 * h + h * h + 2 * h * f + 2 * h + 4 * h);
}

// Positions that are computed are no parameters.
std::int64_t bart_line(const Sizes& s) {
  const std::int64_t h = s("d_model"), attn = 4 * h * h + 4 * h;
  const auto ffn = [&](const char* width) { return 2 * h * s(width) + s(width) + h; };
  const std::string type = s.json("model_type");
  const std::int64_t tables = type == "blenderbot" ? 2 * s("max_position_embeddings") * h : 0;
  return s("vocab_size") * h + tables + (type == "marian" ? 0 : 4 * h) +
         s("encoder_layers") * (attn + ffn("encoder_ffn_dim") + 4 * h) +
         s("decoder_layers") * (2 * attn + ffn("decoder_ffn_dim") + 6 * h);
}

// Three projections more in the encoder, for tokens that see everything.
std::int64_t led(const Sizes& s) {
  const std::int64_t h = s("d_model"), attn = 4 * h * h + 4 * h;
  const auto ffn = [&](const char* width) { return 2 * h * s(width) + s(width) + h; };
  return (s("vocab_size") + s("max_encoder_position_embeddings") +
          s("max_decoder_position_embeddings")) *
             h +
         4 * h + s("encoder_layers") * (attn + 3 * h * (h + 1) + ffn("encoder_ffn_dim") + 4 * h) +
         s("decoder_layers") * (2 * attn + ffn("decoder_ffn_dim") + 6 * h);
}

std::int64_t longt5(const Sizes& s) {
  const std::int64_t h = s("d_model"), inner = s("d_kv") * s("num_heads");
  const std::int64_t attn = 4 * h * inner, ffn = gated(h, s("d_ff"));
  return 2 * s("vocab_size") * h + s("num_layers") * (3 * attn + 2 * ffn + 6 * h) + 2 * h +
         3 * s("relative_attention_num_buckets") * s("num_heads");
}

// Tables of `width`, and a layer's weights `times` over.
std::int64_t bert_line(const Sizes& s, std::int64_t rows, std::int64_t width, std::int64_t times) {
  const std::int64_t h = s("hidden_size");
  const std::int64_t widened = width == h ? 0 : width * h + h;
  return (rows + 2) * width + widened + times * plain_layer(h, s("intermediate_size"));
}
std::int64_t pooler(std::int64_t h) { return h * h + h; }

std::int64_t albert(const Sizes& s) {
  return bert_line(s, s("vocab_size") + s("max_position_embeddings") + s("type_vocab_size"),
                   s("embedding_size"), 1) +
         pooler(s("hidden_size"));
}

std::int64_t big_bird(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return bert_line(s, s("vocab_size") + s("max_position_embeddings") + s("type_vocab_size"), h,
                   s("num_hidden_layers")) +
         pooler(h);
}

std::int64_t electra_small(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return bert_line(s, s("vocab_size") + s("max_position_embeddings") + s("type_vocab_size"),
                   s("embedding_size"), s("num_hidden_layers")) +
         pooler(h) + h + 1;
}

// Two projections of positions more, and no bias of keys.
std::int64_t deberta(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), layers = s("num_hidden_layers");
  return bert_line(s, s("vocab_size") + 2 * s("max_position_embeddings"), h, layers) +
         layers * (2 * h * h + h - h);
}

std::int64_t deberta_v2(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return bert_line(s, s("vocab_size") + 2 * s("position_buckets") + 2, h, s("num_hidden_layers"));
}

std::int64_t mpnet(const Sizes& s) {
  const std::int64_t h = s("hidden_size");
  return bert_line(s, s("vocab_size") + s("max_position_embeddings"), h, s("num_hidden_layers")) +
         pooler(h) + s("relative_attention_num_buckets") * s("num_attention_heads");
}

std::int64_t longformer(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), layers = s("num_hidden_layers");
  return bert_line(s, s("vocab_size") + s("max_position_embeddings") + s("type_vocab_size"), h,
                   layers) +
         pooler(h) + layers * 3 * (h * h + h);
}

// Gates, of whose linears the last alone has a bias.
std::int64_t gated_bert(const Sizes& s) {
  const std::int64_t h = s("hidden_size"), f = s("intermediate_size");
  return (s("vocab_size") + s("type_vocab_size") + 2) * h +
         s("num_hidden_layers") * (4 * h * h + 4 * h + gated(h, f) + h + 4 * h);
}
std::int64_t jina(const Sizes& s) { return gated_bert(s) + pooler(s("hidden_size")); }

}  // namespace

const std::map<std::string, Formula>& earlier_formulas() {
  static const std::map<std::string, Formula> all = {{"openai_gpt", openai_gpt},
                                                     {"ctrl", ctrl},
                                                     {"gpt_neo", gpt_neo},
                                                     {"codegen", codegen},
                                                     {"xglm", xglm},
                                                     {"biogpt", biogpt},
                                                     {"opt", opt},
                                                     {"persimmon", persimmon},
                                                     {"bamba", bamba},
                                                     {"plamo", plamo},
                                                     {"grok", grok},
                                                     {"arctic", arctic},
                                                     {"openelm", openelm},
                                                     {"minimax", minimax},
                                                     {"recurrent_gemma", recurrent_gemma},
                                                     {"rwkv", rwkv},
                                                     {"bart_line", bart_line},
                                                     {"led", led},
                                                     {"longt5", longt5},
                                                     {"albert", albert},
                                                     {"big_bird", big_bird},
                                                     {"electra_small", electra_small},
                                                     {"deberta", deberta},
                                                     {"deberta_v2", deberta_v2},
                                                     {"mpnet", mpnet},
                                                     {"longformer", longformer},
                                                     {"gte", gated_bert},
                                                     {"jina", jina}};
  return all;
}

}  // namespace halmark::family_counts
