// Modules that a quantised checkpoint speaks of, as libraries list them: names, globs and regular
// expressions over the names that transformers gives its modules; and the linears of a model under
// such names.
#pragma once

#include <cstdint>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/chosen/precision.hpp"

namespace halmark {

struct ModelSpec;

// `pattern` is one of:
//   "lm_head", "self_attn"                a name, or the dotted end or middle of one
//   "model.layers.*.mlp", "*.k_proj"      a glob of a name or of what it stands in
//   "re:.*mlp\\.(gate|up|down)_proj.*"    a regular expression that begins where the name does
// Throws std::regex_error for an expression that is none, error_complexity for one that is too
// long or repeats too much.
bool names_module(const std::string& pattern, const std::string& module);

// A name from the model's own down to a module in one layer: "model.layers.3.mlp".
bool is_whole_name(const std::string& pattern);

// Many patterns, asked many times: whole names are looked up, the others tried in turn.
class ModulePatterns {
 public:
  ModulePatterns() = default;
  // Throws std::regex_error, as above.
  explicit ModulePatterns(const std::vector<std::string>& patterns);
  void add(const std::string& pattern);
  bool empty() const { return whole_.empty() && rest_.empty() && expressions_.empty(); }
  bool names(const std::string& module) const;
  std::size_t tried() const { return rest_.size() + expressions_.size(); }   // one by one
  std::size_t cost() const { return 1 + rest_.size() + expressions_cost_; }  // of a module
  static constexpr std::size_t repeats_max = 64;  // of an expression, those of all counts
  // What stands in front of the number of a layer in them: "model.language_model.layers.".
  static constexpr std::size_t prefixes_max = 8;
  const std::vector<std::string>& prefixes() const { return prefixes_; }
  const std::vector<std::string>& listed() const { return listed_; }
  const std::set<std::int64_t>& experts() const { return experts_; }  // that whole names are of

 private:
  std::vector<std::string> listed_;
  std::unordered_set<std::string> whole_;
  std::vector<std::string> rest_;
  std::vector<std::regex> expressions_;
  std::size_t expressions_cost_ = 0;
  std::vector<std::string> prefixes_;
  std::set<std::int64_t> experts_;
};

// A linear operator of the graph, and the modules that it is in public checkpoints. Each part may
// have several names, of which a model has one.
struct LinearModules {
  KernelKind kind;
  std::string_view linear;                           // "kv_proj"
  std::vector<std::vector<std::string_view>> parts;  // below a layer: {{"self_attn.k_proj"}, ...}
};
const std::vector<LinearModules>& linear_modules();
// The table of embeddings where it stands for a tied head.
const LinearModules& embedding_table();
// Whether a layer of the model has it. The head is of no layer.
bool has_linear(const LinearModules& linear, const ModelSpec& spec, std::size_t layer);

}  // namespace halmark
