// Which linears of a model the modules are that a checkpoint lists, layer by layer, and which of
// the listed are none.
#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <set>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "model/spec/model_spec.hpp"
#include "model/spec/quantization_methods.hpp"

namespace halmark::quantization {

namespace {

bool is_asked(const Stated& stated, const LinearModules& linear) {
  if (linear.kind == KernelKind::head) {
    const auto& names = linear.parts.front();
    return stated.packs_head || std::ranges::any_of(stated.rules, [&](const auto& rule) {
             return rule.format && std::ranges::any_of(names, [&](std::string_view name) {
                      return rule.modules.names(std::string(name));
                    });
           });
  }
  return linear.kind == KernelKind::experts || !stated.packs_experts_alone;
}

// How a module is stored: nothing where it is not quantised.
const Quantization* stored_as(const Stated& stated, const std::string& module) {
  for (const Rule& rule : stated.rules) {
    if (rule.modules.names(module)) return rule.format ? &*rule.format : nullptr;
  }
  const bool is_outside = std::ranges::any_of(
      stated.within, [&](const ModulePatterns& block) { return !block.names(module); });
  return stated.is_listed || is_outside ? nullptr : &stated.what;
}

using Fronts = std::vector<std::string>;  // of modules: "model.layers.3."

// A part has one of several names: the first that is spoken of apart from the others. Those of its
// first expert stand for `expert`.
const Quantization* stored_as(const Stated& stated, const Fronts& fronts,
                              const std::vector<std::string_view>& names, std::int64_t expert) {
  constexpr std::string_view first = "experts.0.";
  const Quantization* usual = stored_as(stated, "");
  for (const std::string& front : fronts) {
    for (const std::string_view name : names) {
      std::string module = front + std::string(name);
      const auto at = expert == 0 ? std::string::npos : module.find(first);
      if (at != std::string::npos) {
        module.replace(at, first.size(), "experts." + std::to_string(expert) + '.');
      }
      const Quantization* found = stored_as(stated, module);
      if (found != usual) return found;
    }
  }
  return usual;
}

// What is asked of a model, and at most how much work that is.
struct Questions {
  std::vector<std::string> prefixes = {"model.layers."};  // and what else any list has there
  std::set<std::int64_t> experts;  // of a layer, beside its last: the first, those that are named
  std::size_t cost = 0;

  Questions(const Stated& stated, const ModelSpec& spec) {
    for (const Rule& rule : stated.rules) add(rule.modules, spec);
    for (const ModulePatterns& block : stated.within) add(block, spec);
    if (spec.moe) experts.insert(0);
    constexpr std::size_t linears = 8;  // of a layer, beside those of one expert
    cost *= prefixes.size() * as_size(spec.layers) * (linears + experts.size());
    cost /= linears;
  }

 private:
  void add(const ModulePatterns& patterns, const ModelSpec& spec) {
    cost += patterns.cost();
    for (const std::string& prefix : patterns.prefixes()) {
      if (prefixes.size() < ModulePatterns::prefixes_max && !contains(prefixes, prefix)) {
        prefixes.push_back(prefix);
      }
    }
    for (const std::int64_t expert : patterns.experts()) {
      if (spec.moe && expert < spec.moe->experts) experts.insert(expert);
    }
  }
};

// The layers of one linear by how they store it.
struct LinearStorage {
  bool is_any_packed = false;
  bool has_mixed_parts = false, has_mixed_experts = false;
  std::vector<StoredOtherwise> otherwise;

  void add(const Stated& stated, const LinearModules& linear, const Quantization* format,
           std::size_t layer, std::size_t layers) {
    is_any_packed = is_any_packed || format != nullptr;
    if (format != nullptr && *format == stated.what) return;
    const auto is_same = [&](const StoredOtherwise& one) {
      return format == nullptr ? !one.format : one.format && *one.format == *format;
    };
    auto it = std::ranges::find_if(otherwise, is_same);
    if (it == otherwise.end()) {
      otherwise.push_back({linear.kind, std::string(linear.linear), std::vector<bool>(layers), {}});
      it = std::prev(otherwise.end());
      if (format != nullptr) it->format = *format;
    }
    it->layers[layer] = true;
  }
};

LinearStorage storage_of(const Stated& stated, const ModelSpec& spec, const LinearModules& linear,
                         const Questions& questions) {
  LinearStorage out;
  const std::int64_t last = spec.moe ? spec.moe->experts - 1 : 0;
  const bool is_head = linear.kind == KernelKind::head;
  const std::size_t layers = is_head ? 1 : as_size(spec.layers);
  for (std::size_t layer = 0; layer < layers; ++layer) {
    if (!is_head && !has_linear(linear, spec, layer)) continue;
    Fronts fronts = {""};
    if (!is_head) {
      fronts = questions.prefixes;
      for (std::string& front : fronts) front += std::to_string(layer) + '.';
    }
    const Quantization* first = stored_as(stated, fronts, linear.parts.front(), last);
    for (const auto& part : linear.parts) {
      out.has_mixed_parts = out.has_mixed_parts || stored_as(stated, fronts, part, last) != first;
      if (linear.kind != KernelKind::experts || out.has_mixed_experts) continue;
      out.has_mixed_experts = std::ranges::any_of(questions.experts, [&](std::int64_t expert) {
        return stored_as(stated, fronts, part, expert) != first;
      });
    }
    out.add(stated, linear, first, layer, layers);
  }
  return out;
}

// Of towers, modules and layers that are priced otherwise or not at all.
bool names_other_part(const std::string& pattern) {
  static constexpr auto words =
      std::to_array<const char*>({"vision", "visual", "audio", "mtp", "nextn", "encoder", "embed",
                                  "wte", "expert", "router", "norm", "conv", "projector", "merger",
                                  "connector", "indexer", "e_score", "talker", "lm_head"});
  const auto end = pattern.find_last_not_of("*.$\\");
  return std::ranges::any_of(words,
                             [&](const char* w) { return pattern.find(w) != std::string::npos; }) ||
         pattern.substr(0, end + 1).ends_with("gate");
}

bool names_any(const std::string& pattern, const ModelSpec& spec, const Questions& questions) {
  const ModulePatterns one({pattern});
  std::string_view within;  // of a whole name, what stands behind the number of its layer
  if (one.tried() == 0) {
    const std::string& prefix = one.prefixes().front();
    if (pattern.size() < prefix.size()) return true;  // all layers
    std::int64_t layer = 0;
    const char* end = pattern.data() + pattern.size();
    const char* behind = std::from_chars(pattern.data() + prefix.size(), end, layer).ptr;
    if (layer >= spec.layers || behind == end) return true;  // those behind the last predict
    within = {behind + 1, end};
  }
  for (const LinearModules& linear : linear_modules()) {
    for (const auto& part : linear.parts) {
      for (const std::string_view name : part) {
        if (!within.empty()) {
          if ((std::string(name) + '.').starts_with(std::string(within) + '.')) return true;
          continue;
        }
        for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
          for (const std::string& prefix : questions.prefixes) {
            if (one.names(prefix + std::to_string(layer) + '.' + std::string(name))) return true;
          }
        }
      }
    }
  }
  return false;
}

void name_unmatched(ConfigReader& config, const ModelSpec& spec, const Stated& stated,
                    const Questions& questions) {
  std::vector<std::string> none;
  const auto add = [&](const ModulePatterns& patterns) {
    for (const std::string& pattern : patterns.listed()) {
      if (!names_other_part(pattern) && !names_any(pattern, spec, questions))
        none.push_back(pattern);
    }
  };
  for (const Rule& rule : stated.rules) add(rule.modules);
  for (const ModulePatterns& block : stated.within) add(block);
  if (none.empty()) return;
  config.assume("quantization_config names '" + printable(none.front()) + "'" +
                (none.size() > 1 ? " and " + std::to_string(none.size() - 1) + " more" : "") +
                ", which is no linear that is priced");
}

}  // namespace

void settle_kinds(ConfigReader& config, ModelSpec& spec, Stated& stated) {
  const Questions questions(stated, spec);
  constexpr std::size_t cost_max = 100'000;  // seconds
  if (questions.cost > cost_max) {
    config.refuse("quantization_config", "lists more patterns than are tried for " +
                                             std::to_string(spec.layers) + " layers");
  }
  name_unmatched(config, spec, stated, questions);
  std::vector<KernelKind> kinds;
  std::vector<StoredOtherwise> otherwise;
  for (const LinearModules& linear : linear_modules()) {
    if (!is_asked(stated, linear)) continue;
    const bool is_table =
        linear.kind == KernelKind::head && spec.tied && stated.what.packs_embedding;
    LinearStorage storage =
        storage_of(stated, spec, is_table ? embedding_table() : linear, questions);
    if (storage.is_any_packed && !contains(kinds, linear.kind)) {
      kinds.push_back(linear.kind);
    }
    if (storage.has_mixed_parts) {
      config.assume(std::string(linear.linear) +
                    " is stored as its first part is in layers whose parts differ");
    }
    if (storage.has_mixed_experts) {
      config.assume(std::string(linear.linear) +
                    " is stored as its last expert is in layers whose experts differ");
    }
    std::ranges::move(storage.otherwise, std::back_inserter(otherwise));
  }
  std::erase_if(otherwise, [&](const StoredOtherwise& one) { return !contains(kinds, one.kind); });
  if (stated.what.packs_embedding && !kinds.empty()) {
    const Quantization* table = stored_as(stated, {""}, embedding_table().parts.front(), 0);
    const std::vector<bool> none(as_size(spec.layers));
    if (table == nullptr) {
      stated.what.packs_embedding = false;
    } else if (*table != stated.what) {
      otherwise.push_back({kinds.front(), "embed_tokens", none, *table});
    }
  }
  stated.what.kinds = std::move(kinds);
  spec.stored_otherwise = std::move(otherwise);
}

}  // namespace halmark::quantization
