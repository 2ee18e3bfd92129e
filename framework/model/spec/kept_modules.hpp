// Modules that a quantised checkpoint leaves in 16 bits, as libraries list them: names, globs and
// regular expressions over the names that transformers gives its modules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/precision.hpp"

namespace halmark {

struct ModelSpec;

// `pattern` is one of:
//   "lm_head", "self_attn"                a name, or the dotted end or middle of one
//   "model.layers.*.mlp", "*.k_proj"      a glob of a name or of what it stands in
//   "re:.*mlp\\.(gate|up|down)_proj.*"    a regular expression that begins where the name does
// Throws std::regex_error for an expression that is none.
bool names_module(const std::string& pattern, const std::string& module);

// Layers of a model that have linears of a kind, and those of them in which a pattern names these.
// The head is a layer of its own.
struct NamedLayers {
  std::int64_t named = 0, all = 0;
};
NamedLayers layers_named(const std::vector<std::string>& patterns, KernelKind kind,
                         const ModelSpec& spec);

}  // namespace halmark
