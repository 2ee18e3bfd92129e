// A kind is asked for by names that its linears have in public checkpoints: which of them a model
// has does not matter, since a list speaks of its own model.
#include "model/spec/kept_modules.hpp"

#include <algorithm>
#include <regex>

#include "model/spec/model_spec.hpp"

namespace halmark {

namespace {

using Names = std::vector<std::string>;

// Of a layer with experts, `ffn` are those that every token passes.
Names linears_of(KernelKind kind, bool is_sparse) {
  switch (kind) {
    case KernelKind::qkv:
      return {"self_attn.q_proj",
              "self_attn.qkv_proj",
              "self_attn.q_a_proj",
              "self_attn.q_b_proj",
              "attention.q_proj",
              "attn.qkv_proj",
              "attn.wq_a",
              "attn.c_attn",
              "mixer.q_proj",
              "linear_attn.in_proj_qkv",
              "linear_attn.in_proj_qkvz"};
    case KernelKind::output:
      return {"self_attn.o_proj", "attention.o_proj", "attn.o_proj",         "attn.wo_a",
              "attn.c_proj",      "mixer.o_proj",     "linear_attn.out_proj"};
    case KernelKind::ffn:
      if (is_sparse) {
        return {"mlp.shared_experts.down_proj", "mlp.shared_expert.down_proj",
                "feed_forward.shared_expert.down_proj", "mixer.shared_experts.down_proj"};
      }
      return {"mlp.down_proj", "mlp.fc2", "mlp.c_proj", "feed_forward.down_proj",
              "mixer.down_proj"};
    case KernelKind::experts:
      return {"mlp.experts.0.down_proj",        "mlp.experts.down_proj",
              "block_sparse_moe.experts.0.w2",  "ffn.experts.0.w2",
              "feed_forward.experts.down_proj", "mixer.experts.0.down_proj"};
    case KernelKind::head:
      return {"lm_head"};
    case KernelKind::attention:
    case KernelKind::kv_cache:
    case KernelKind::activation:
      return {};
  }
  return {};
}

bool has_linears(KernelKind kind, bool is_sparse, const ModelSpec& spec) {
  if (kind == KernelKind::experts) return is_sparse;
  return kind != KernelKind::ffn || !is_sparse || spec.moe->shared_width > 0;
}

// What stands in front of the number of a layer: the first that the patterns speak of.
std::string_view layer_prefix(const Names& patterns) {
  static constexpr std::string_view known[] = {"language_model.model.layers.",
                                               "model.language_model.layers.", "transformer.h.",
                                               "backbone.layers."};
  for (const std::string_view prefix : known) {
    const bool is_used = std::ranges::any_of(
        patterns, [&](const std::string& p) { return p.find(prefix) != std::string::npos; });
    if (is_used) return prefix;
  }
  return "model.layers.";
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
  for (std::size_t end = module.find('.'); end != std::string::npos;
       end = module.find('.', end + 1)) {
    if (matches_glob(glob, std::string_view(module).substr(0, end))) return true;
  }
  return matches_glob(glob, module);
}

// The polynomial matcher: the other one takes exponential time on some expressions, and a file
// states them.
bool matches_expression(const std::string& text, const std::string& module) {
  const std::regex expression(
      text, std::regex_constants::ECMAScript | std::regex_constants::__polynomial);
  return std::regex_search(module, expression, std::regex_constants::match_continuous);
}

}  // namespace

bool names_module(const std::string& pattern, const std::string& module) {
  if (pattern.starts_with("re:")) return matches_expression(pattern.substr(3), module);
  if (pattern.find('*') != std::string::npos) return matches_any_level(pattern, module);
  return !pattern.empty() && (module + '.').find(pattern + '.') != std::string::npos;
}

NamedLayers layers_named(const Names& patterns, KernelKind kind, const ModelSpec& spec) {
  const auto is_named = [&](const std::string& module) {
    return std::ranges::any_of(patterns,
                               [&](const std::string& p) { return names_module(p, module); });
  };
  const auto any_named = [&](const std::string& prefix, bool is_sparse) {
    return std::ranges::any_of(linears_of(kind, is_sparse), [&](const std::string& linear) {
      return is_named(prefix + linear);
    });
  };
  if (kind == KernelKind::head) return {any_named("", false) ? 1 : 0, 1};
  const std::string prefix(layer_prefix(patterns));
  NamedLayers out;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    const bool is_sparse = spec.moe && spec.is_sparse.at(static_cast<std::size_t>(layer));
    if (!has_linears(kind, is_sparse, spec)) continue;
    ++out.all;
    if (any_named(prefix + std::to_string(layer) + '.', is_sparse)) ++out.named;
  }
  return out;
}

}  // namespace halmark
