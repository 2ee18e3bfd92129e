// Which of the names of a part a model has does not matter, since a list speaks of its own model.
#include "model/spec/kept_modules.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>

#include "core/ranges.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

namespace {

using Parts = std::vector<std::vector<std::string_view>>;

// Modules that hold q, k and v in one.
constexpr std::array<std::string_view, 10> fused_qkv = {"self_attn.qkv_proj",
                                                        "attn.qkv_proj",
                                                        "self_attn.W_pack",
                                                        "self_attention.query_key_value",
                                                        "attn.c_attn",
                                                        "attention.wqkv",
                                                        "self_attention.qkv_proj",
                                                        "attn.Wqkv",
                                                        "self_attn.query_key_value",
                                                        "attention.query_key_value"};

std::vector<std::string_view> with_fused(std::initializer_list<std::string_view> own) {
  std::vector<std::string_view> out = own;
  out.insert(out.end(), fused_qkv.begin(), fused_qkv.end());
  return out;
}

// '*' stands for any characters, points included. Linear in the places of the last one.
bool matches_glob(std::string_view glob, std::string_view text) {
  std::size_t at = 0, star = std::string_view::npos, resume = 0, g = 0;
  while (at < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      resume = at;
    } else if (g < glob.size() && glob[g] == text[at]) {
      ++g;
      ++at;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  return glob.find_first_not_of('*', g) == std::string_view::npos;
}

// The module, or one that it stands in.
bool matches_any_level(std::string_view glob, const std::string& module) {
  if (!module.starts_with(glob.substr(0, glob.find('*')))) return false;
  for (std::size_t end = module.find('.'); end != std::string::npos;
       end = module.find('.', end + 1)) {
    if (matches_glob(glob, std::string_view(module).substr(0, end))) return true;
  }
  return matches_glob(glob, module);
}

// The product of the counts in "(a{3}){1,20}", 60: as often its compiler copies what is repeated.
std::size_t repeats(const std::string& text) {
  std::size_t out = 1;
  for (std::size_t at = text.find('{'); at != std::string::npos; at = text.find('{', at + 1)) {
    for (const char* from = text.data() + at; from < text.data() + text.size();) {
      std::size_t count = 0;
      const auto read = std::from_chars(from + 1, text.data() + text.size(), count);
      if (read.ec == std::errc::result_out_of_range) count = ModulePatterns::repeats_max + 1;
      out *= std::clamp<std::size_t>(count, 1, ModulePatterns::repeats_max + 1);
      if (out > ModulePatterns::repeats_max) return out;
      from = read.ptr;
      if (from == text.data() + text.size() || *from != ',') break;
    }
  }
  return out;
}

// The polynomial matcher: the other one takes exponential time on some expressions, and a file
// states them.
std::regex compiled(const std::string& text) {
  constexpr std::size_t text_max = 1024;  // its compiler recurses into what is nested
  if (text.size() > text_max || repeats(text) > ModulePatterns::repeats_max) {
    throw std::regex_error(std::regex_constants::error_complexity);
  }
  return std::regex(text, std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
}

bool matches(const std::regex& expression, const std::string& module) {
  return std::regex_search(module, expression, std::regex_constants::match_continuous);
}

bool is_expression(const std::string& pattern) { return pattern.starts_with("re:"); }

// "model.layers." of "model.layers.3.mlp" and of "model.layers": what stands in front of the number
// of a layer. Nothing of names within a layer.
std::optional<std::string> layer_prefix(const std::string& pattern) {
  for (const std::string_view word : {".layers", ".h", ".blocks"}) {
    const auto at = pattern.find(word);
    if (at == std::string::npos || at == 0) continue;
    const std::string front = pattern.substr(0, at + word.size());
    const std::string behind = pattern.substr(front.size());
    const bool numbers = behind.size() > 1 && behind[0] == '.' &&
                         std::isdigit(static_cast<unsigned char>(behind[1])) != 0;
    if (behind.empty() || numbers) return front + '.';
  }
  return std::nullopt;
}

// 5 of "model.layers.3.mlp.experts.5.up_proj".
std::optional<std::int64_t> expert_of(const std::string& name) {
  const std::string_view word = ".experts.";
  const auto at = name.find(word);
  std::int64_t out = 0;
  if (at == std::string::npos) return std::nullopt;
  const auto read = std::from_chars(name.data() + at + word.size(), name.data() + name.size(), out);
  return read.ec == std::errc() ? std::optional(out) : std::nullopt;
}

// Of layers that are not the decoder's.
bool is_of_other_tower(const std::string& prefix) {
  return std::ranges::any_of(std::array{"vision", "visual", "audio", "mtp", "*", "encoder"},
                             [&](const char* o) { return prefix.find(o) != std::string::npos; });
}

}  // namespace

bool names_module(const std::string& pattern, const std::string& module) {
  if (is_expression(pattern)) return matches(compiled(pattern.substr(3)), module);
  if (pattern.find('*') != std::string::npos) return matches_any_level(pattern, module);
  return !pattern.empty() && (module + '.').find(pattern + '.') != std::string::npos;
}

bool is_whole_name(const std::string& pattern) {
  return !is_expression(pattern) && pattern.find('*') == std::string::npos && layer_prefix(pattern);
}

ModulePatterns::ModulePatterns(const std::vector<std::string>& patterns) {
  for (const std::string& pattern : patterns) add(pattern);
}

void ModulePatterns::add(const std::string& pattern) {
  if (!pattern.empty()) listed_.push_back(pattern);
  const auto add_prefix = [this](const std::string& prefix) {
    const bool is_known = contains(prefixes_, prefix);
    if (!is_known && prefixes_.size() < prefixes_max) prefixes_.push_back(prefix);
  };
  const auto prefix = is_expression(pattern) ? std::nullopt : layer_prefix(pattern);
  if (prefix && !is_of_other_tower(*prefix)) add_prefix(*prefix);
  if (!prefix && pattern.find("language_model") != std::string::npos) {
    add_prefix("model.language_model.layers.");
    add_prefix("language_model.model.layers.");
  }
  if (is_expression(pattern)) {
    expressions_.push_back(compiled(pattern.substr(3)));
    expressions_cost_ += 16 + pattern.size() * repeats(pattern) / 16;
    return;
  }
  if (is_whole_name(pattern)) {
    whole_.insert(pattern);
    if (const auto expert = expert_of(pattern)) experts_.insert(*expert);
  } else if (!pattern.empty()) {
    rest_.push_back(pattern);
  }
}

bool ModulePatterns::names(const std::string& module) const {
  if (!whole_.empty()) {
    for (std::size_t end = module.find('.'); end != std::string::npos;
         end = module.find('.', end + 1)) {
      if (whole_.contains(module.substr(0, end))) return true;
    }
    if (whole_.contains(module)) return true;
  }
  return std::ranges::any_of(rest_, [&](const auto& p) { return names_module(p, module); }) ||
         std::ranges::any_of(expressions_, [&](const auto& e) { return matches(e, module); });
}

namespace {

std::vector<LinearModules> into_mixers() {
  using enum KernelKind;
  return {
      {qkv,
       "q_proj",
       {with_fused({"self_attn.q_proj", "attention.q_proj", "attn.q_proj", "mixer.q_proj",
                    "attention.self.query", "self_attention.query"})}},
      {qkv,
       "kv_proj",
       {with_fused({"self_attn.k_proj", "attention.k_proj", "attn.k_proj", "mixer.k_proj",
                    "attn.wkv", "attention.self.key"}),
        with_fused({"self_attn.v_proj", "attention.v_proj", "attn.v_proj", "mixer.v_proj",
                    "attn.wkv", "attention.self.value"})}},
      {qkv, "q_a_proj", {{"self_attn.q_a_proj", "attn.wq_a", "self_attn.fused_qkv_a_proj"}}},
      {qkv, "q_b_proj", {{"self_attn.q_b_proj", "attn.wq_b"}}},
      {qkv, "kv_a_proj", {{"self_attn.kv_a_proj_with_mqa", "self_attn.fused_qkv_a_proj"}}},
      {qkv, "kv_b_proj", {{"self_attn.kv_b_proj"}}},
      {qkv,
       "qkvz_proj",
       {{"linear_attn.in_proj_qkvz", "linear_attn.in_proj_qkv"},
        {"linear_attn.in_proj_qkvz", "linear_attn.in_proj_z"}}},
      {qkv, "qkv_proj", {{"self_attn.q_proj"}, {"self_attn.k_proj"}, {"self_attn.v_proj"}}},
      {qkv, "in_proj", {{"mixer.in_proj", "mamba.in_proj", "conv.in_proj"}}},
  };
}

std::vector<LinearModules> out_of_mixers() {
  using enum KernelKind;
  return {
      {output,
       "o_proj",
       {{"self_attn.o_proj", "attention.o_proj", "attn.o_proj", "attn.c_proj", "mixer.o_proj",
         "self_attn.out_proj", "self_attention.dense", "self_attn.dense", "attention.wo",
         "attention.output.dense", "attn.out_proj", "attention.dense"}}},
      {output, "o_a_proj", {{"attn.wo_a"}}},
      {output, "o_b_proj", {{"attn.wo_b"}}},
      {output,
       "out_proj",
       {{"linear_attn.out_proj", "mixer.out_proj", "mamba.out_proj", "conv.out_proj"}}},
      {output, "out_proj", {{"self_attn.o_proj"}}},  // of channel decay
  };
}

std::vector<LinearModules> networks() {
  using enum KernelKind;
  return {
      {ffn,
       "gate_up_proj",
       {{"mlp.gate_proj", "mlp.gate_up_proj", "feed_forward.w1", "feed_forward.gate_proj", "mlp.w1",
         "mlp.dense_h_to_4h", "shared_mlp.input_linear"},
        {"mlp.up_proj", "mlp.gate_up_proj", "feed_forward.w3", "feed_forward.up_proj", "mlp.w2",
         "mlp.dense_h_to_4h", "shared_mlp.input_linear"}}},
      {ffn,
       "up_proj",
       {{"mlp.up_proj", "mlp.fc1", "mlp.c_fc", "mlp.dense_h_to_4h", "mixer.up_proj", "fc1",
         "intermediate.dense", "ffn.up_proj"}}},
      {ffn,
       "down_proj",
       {{"mlp.down_proj", "mlp.fc2", "mlp.c_proj", "feed_forward.down_proj", "feed_forward.w2",
         "mlp.dense_4h_to_h", "mixer.down_proj", "fc2", "output.dense", "ffn.down_proj",
         "shared_mlp.output_linear"}}},
  };
}

std::vector<LinearModules> shared_experts() {
  using enum KernelKind;
  return {
      {ffn,
       "shared_gate_up_proj",
       {{"mlp.shared_experts.gate_proj", "mlp.shared_expert.gate_proj",
         "feed_forward.shared_expert.gate_proj", "mlp.shared_experts.gate_up_proj",
         "ffn.shared_experts.w1", "shared_mlp.input_linear",
         "block_sparse_moe.shared_experts.gate_proj"},
        {"mlp.shared_experts.up_proj", "mlp.shared_expert.up_proj",
         "feed_forward.shared_expert.up_proj", "mlp.shared_experts.gate_up_proj",
         "ffn.shared_experts.w3", "shared_mlp.input_linear",
         "block_sparse_moe.shared_experts.up_proj"}}},
      {ffn, "shared_up_proj", {{"mixer.shared_experts.up_proj", "mlp.shared_experts.up_proj"}}},
      {ffn,
       "shared_down_proj",
       {{"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj",
         "feed_forward.shared_expert.down_proj", "mixer.shared_experts.down_proj",
         "ffn.shared_experts.w2", "shared_mlp.output_linear",
         "block_sparse_moe.shared_experts.down_proj"}}},
  };
}

std::vector<LinearModules> experts_and_head() {
  using enum KernelKind;
  return {
      {experts,
       "expert_gate_up",
       {{"mlp.experts.0.gate_proj", "mlp.experts.gate_up_proj", "block_sparse_moe.experts.0.w1",
         "ffn.experts.0.w1", "feed_forward.experts.gate_up_proj", "feed_forward.experts.0.w1",
         "experts.gate_up_proj", "block_sparse_moe.input_linear"},
        {"mlp.experts.0.up_proj", "mlp.experts.gate_up_proj", "block_sparse_moe.experts.0.w3",
         "ffn.experts.0.w3", "feed_forward.experts.gate_up_proj", "feed_forward.experts.0.w3",
         "experts.gate_up_proj", "block_sparse_moe.input_linear"}}},
      {experts, "expert_up", {{"mixer.experts.0.up_proj"}}},
      {experts,
       "expert_down",
       {{"mlp.experts.0.down_proj", "mlp.experts.down_proj", "block_sparse_moe.experts.0.w2",
         "ffn.experts.0.w2", "feed_forward.experts.down_proj", "feed_forward.experts.0.w2",
         "mixer.experts.0.down_proj", "experts.down_proj", "block_sparse_moe.output_linear"}}},
      {head,
       "lm_head",
       {{"lm_head", "model.lm_head", "language_model.lm_head", "model.language_model.lm_head",
         "thinker.lm_head", "output_layer", "transformer.output_layer", "output", "embed_out",
         "language_model.output", "transformer.lm_head"}}},
  };
}

}  // namespace

const std::vector<LinearModules>& linear_modules() {
  static const std::vector<LinearModules> all = [] {
    std::vector<LinearModules> out;
    for (const auto& some :
         {into_mixers(), out_of_mixers(), networks(), shared_experts(), experts_and_head()}) {
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }();
  return all;
}

const LinearModules& embedding_table() {
  static const LinearModules table = {
      KernelKind::head,
      "lm_head",
      {{"language_model.model.embed_tokens", "model.language_model.embed_tokens", "transformer.wte",
        "model.tok_embeddings", "transformer.embedding.word_embeddings"}}};
  return table;
}

namespace {

bool has_dense(const ModelSpec& spec, std::size_t layer, const LayerMixer& mixer, bool is_sparse) {
  if (spec.family == "nemotron_h") return mixer.kind == Mixer::none && !is_sparse;
  if (is_sparse) return spec.layer_inputs.has_value();
  return spec.ffn_widths.empty() ? spec.intermediate > 0 : spec.ffn_widths[layer] > 0;
}

bool has_mixer_linear(const LinearModules& row, const ModelSpec& spec, const LayerMixer& mixer) {
  const std::string_view linear = row.linear;
  const bool attends = mixer.kind == Mixer::attention;
  const bool is_latent = attends && (spec.latent || spec.compressed);
  const bool has_q_rank = spec.compressed || (spec.latent && spec.latent->q_rank > 0);
  const bool is_delta = mixer.kind == Mixer::delta_rule;
  if (linear == "q_proj") return attends && !(is_latent && has_q_rank);
  if (linear == "kv_proj") return attends && !spec.latent && !mixer.shares_kv;
  if (linear == "q_a_proj" || linear == "q_b_proj") return is_latent && has_q_rank;
  if (linear == "kv_a_proj" || linear == "kv_b_proj") return attends && spec.latent;
  const bool is_per_channel = is_delta && spec.delta_rule->gate_rank > 0;
  if (linear == "qkvz_proj") return is_delta && !is_per_channel;
  if (linear == "qkv_proj") return is_per_channel;
  if (linear == "o_proj") return attends && !spec.compressed;
  if (linear == "o_a_proj" || linear == "o_b_proj") return attends && spec.compressed;
  const bool recurs = (!attends && mixer.kind != Mixer::none) || mixer.has_state_space;
  if (linear == "in_proj") return recurs && !is_delta;
  return recurs && is_per_channel == row.parts.front().front().starts_with("self_attn.");
}

}  // namespace

bool has_linear(const LinearModules& linear, const ModelSpec& spec, std::size_t layer) {
  if (linear.kind == KernelKind::head) return false;
  const LayerMixer mixer = mixer_of(spec, static_cast<std::int64_t>(layer));
  const bool is_sparse = spec.moe && spec.is_sparse.at(layer);
  const bool is_gated = !spec.plain_activation;
  const std::string_view name = linear.linear;
  if (linear.kind == KernelKind::experts) {
    return is_sparse && (name == "expert_down" || (name == "expert_gate_up") == is_gated);
  }
  if (linear.kind != KernelKind::ffn) return has_mixer_linear(linear, spec, mixer);
  const bool is_of_kind = name.ends_with("down_proj") || name.ends_with("gate_up_proj") == is_gated;
  if (!is_of_kind) return false;
  if (name.starts_with("shared_")) return is_sparse && spec.moe->shared_width > 0;
  return has_dense(spec, layer, mixer, is_sparse);
}

}  // namespace halmark
