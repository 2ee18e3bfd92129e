#include "profile/trace/scope_tree.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "profile/trace/module_names.hpp"

namespace halmark::trace {
namespace {

std::string_view class_of(std::string_view name) {
  const std::size_t bar = name.rfind('_');
  return bar == std::string_view::npos ? name : name.substr(0, bar);
}

std::int32_t number_of(std::string_view name) {
  std::int32_t out = -1;
  const std::size_t bar = name.rfind('_');
  if (bar != std::string_view::npos) {
    std::from_chars(name.data() + bar + 1, name.data() + name.size(), out);
  }
  return out;
}

// "model.layers.12.mlp" -> 12.
std::int32_t layer_of_path(std::string_view path) {
  for (std::string_view key : {"layers.", "h.", "blocks."}) {
    std::size_t at = path.find(key);
    while (at != std::string_view::npos && at > 0 && path[at - 1] != '.') {
      at = path.find(key, at + 1);
    }
    if (at == std::string_view::npos) continue;
    std::int32_t out = -1;
    const char* const digits = path.data() + at + key.size();
    if (std::from_chars(digits, path.data() + path.size(), out).ec == std::errc()) return out;
  }
  return -1;
}

std::string joined(const std::string& parent, const std::string& leaf) {
  return parent.empty() ? leaf : parent + '.' + leaf;
}

}  // namespace

bool is_dotted_path(std::string_view name) {
  const auto is_part = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.';
  };
  return name.find('.') != std::string_view::npos && std::ranges::all_of(name, is_part) &&
         !name.starts_with("Optimizer") && !name.ends_with(".py");
}

std::uint32_t ScopeTree::child(std::uint32_t parent, std::uint32_t name, SpanKind span) {
  const std::uint64_t key = std::uint64_t{parent} << 32 | name;
  const auto [it, is_new] = index_.try_emplace(key, static_cast<std::uint32_t>(scopes_.size()));
  if (is_new) {
    constexpr std::size_t scopes_max = 1u << 20;
    if (scopes_.size() == scopes_max) {
      throw refused("the trace has more than " + std::to_string(scopes_max) +
                    " different chains of modules");
    }
    scopes_[parent].children.push_back(it->second);
    scopes_.push_back({.parent = parent, .name = name, .span = span});
  }
  return it->second;
}

void ScopeTree::name_scopes(const TextTable& names) {
  // Parents come before their children.
  for (std::uint32_t i = 1; i < scopes_.size(); ++i) {
    Scope& scope = scopes_[i];
    const std::string& name = names[scope.name];
    if (scope.span == SpanKind::module) {
      scope.kind = kind_of_class(class_of(name));
    } else if (is_dotted_path(name)) {
      scope.kind = kind_of_leaf(std::string_view(name).substr(name.rfind('.') + 1));
    } else {
      scope.kind = kind_of_leaf(name);
    }
  }
  for (std::uint32_t i = 0; i < scopes_.size(); ++i) name_children(i, names);
}

void ScopeTree::name_children(std::uint32_t parent, const TextTable& names) {
  const Scope& outer = scopes_[parent];
  const bool is_module = parent != 0 && outer.span == SpanKind::module;
  const std::string_view outer_class = is_module ? class_of(names[outer.name]) : "";
  std::array<std::size_t, 16> counts{}, seen{};
  for (const std::uint32_t i : outer.children) {
    if (scopes_[i].span == SpanKind::module) ++counts[as_size(scopes_[i].kind)];
  }
  for (const std::uint32_t i : outer.children) {
    Scope& scope = scopes_[i];
    const std::string& name = names[scope.name];
    const auto kind = as_size(scope.kind);
    if (scope.span != SpanKind::module) {
      // A path of the model's own is complete; other annotations are one more part.
      const bool is_complete = is_dotted_path(name);
      scope.leaf = is_complete ? name.substr(name.rfind('.') + 1) : name;
      scope.path = is_complete ? name : joined(outer.path, name);
    } else {
      const std::string_view of = class_of(name);
      const std::size_t ordinal = seen[kind]++;
      Names known;
      if (scope.kind == ModuleKind::linear) {
        const bool has_router = counts[as_size(ModuleKind::router)] > 0;
        known = linear_names(outer.kind, counts[kind], outer_class, of, has_router);
      } else if (scope.kind == ModuleKind::norm) {
        known = norm_names(outer.kind, counts[kind], outer_class);
      } else if (scope.kind == ModuleKind::mlp && outer.kind == ModuleKind::moe &&
                 counts[kind] == 1 && counts[as_size(ModuleKind::experts)] > 0) {
        known = shared_experts_name();  // the routed ones are a module of their own
      } else if (scope.kind == ModuleKind::hyper_connection && counts[kind] == 2) {
        known = hyper_connection_names();
      }
      const char* const said = name_of_class(of, outer.kind);
      scope.leaf = said != nullptr          ? said
                   : ordinal < known.size() ? known[ordinal]
                                            : default_name(scope.kind, outer.kind);
      const bool is_root = parent == 0 && scope.kind == ModuleKind::other;
      if (is_root) scope.leaf.clear();
      scope.path = is_root ? "" : joined(outer.path, scope.leaf);
      if (scope.kind == ModuleKind::layer) {
        scope.layer = number_of(name) >= 0 ? number_of(name) : static_cast<std::int32_t>(ordinal);
        scope.path += '.' + std::to_string(scope.layer);
      } else if (said == nullptr && known.empty() && counts[kind] > 1 && !is_root) {
        scope.path += '.' + std::to_string(ordinal);
      }
    }
    if (scope.layer < 0) scope.layer = outer.layer;
    if (const std::int32_t layer = layer_of_path(scope.path); layer >= 0) scope.layer = layer;
  }
}

}  // namespace halmark::trace
