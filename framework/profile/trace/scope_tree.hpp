// The module tree of a model, put together again from the frames that enclose its operators, and
// the attribute names of its modules ("model.layers.3.self_attn.q_proj"). The profiler records
// classes and numbers; names follow from the class, its parent and the order of the calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/trace/module_names.hpp"
#include "profile/trace/recording.hpp"

namespace halmark::trace {

struct Scope {
  std::uint32_t parent = 0;
  std::uint32_t name = 0;  // into Recording::names
  SpanKind span = SpanKind::module;
  std::vector<std::uint32_t> children;  // in the order of their first call

  // Set by name_scopes:
  ModuleKind kind = ModuleKind::other;
  std::string path;  // "" for the root and for what is outside of every module
  std::string leaf;  // last part of the path
  std::int32_t layer = -1;
};

class ScopeTree {
 public:
  ScopeTree() : scopes_(1) {}
  // The scope `name` inside `parent`; 0 = outside of everything.
  std::uint32_t child(std::uint32_t parent, std::uint32_t name, SpanKind span);
  const Scope& operator[](std::uint32_t index) const { return scopes_[index]; }
  std::size_t size() const { return scopes_.size(); }

  void name_scopes(const TextTable& names);

 private:
  void name_children(std::uint32_t parent, const TextTable& names);
  std::vector<Scope> scopes_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
};

// A name with dots that a model's own annotations give: "model.layers.3.mlp".
bool is_dotted_path(std::string_view name);

}  // namespace halmark::trace
