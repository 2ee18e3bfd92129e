// What a TomlTable stands on: a document, one of its tables, and what was asked of it. For
// toml_table.cpp alone.
#pragma once

#include <toml++/toml.h>

#include <algorithm>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/ranges.hpp"
#include "core/text/error.hpp"
#include "plan/schema/known_keys.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

struct TomlTable::State {
  std::shared_ptr<const toml::table> document;
  const toml::table* table = nullptr;
  std::string file;
  std::string path;                                  // "workload[1]", "" for the root
  std::string schema_path;                           // "workload[]"
  mutable bool is_open = false;                      // any name may be a key of it
  mutable std::set<std::string, std::less<>> asked;  // every key some reader knows
  mutable std::vector<std::shared_ptr<State>> children;

  std::string position(const toml::source_region& source) const {
    return file + ':' + std::to_string(source.begin.line) + ':' +
           std::to_string(source.begin.column);
  }

  // As the keys of all such tables are known: "workload[].batch".
  std::string known_as(std::string_view key) const {
    const std::string name = is_open ? "*" : std::string(key);
    return schema_path.empty() ? name : schema_path + '.' + name;
  }

  // For a reader that can do without it.
  const toml::node* find(std::string_view key) const {
    asked.insert(std::string(key));
    note_optional(known_as(key));
    return table->get(key);
  }

  const toml::node& require(std::string_view key) const {
    asked.insert(std::string(key));
    if (const toml::node* node = table->get(key)) return *node;
    // A misspelt key says more than the absence of the right one. Of three letters, most are alike.
    for (const auto& [name, value] : *table) {
      const bool is_slip = key.size() > 3 && !asked.contains(name.str()) &&
                           !name.str().starts_with(key) &&
                           !nearest(name.str(), {std::string(key)}).empty();
      if (is_slip) unknown(name, {std::string(key)});
    }
    throw refused("key '" + std::string(key) + "' is missing" +
                      (path.empty() ? std::string() : " in [" + path + "]"),
                  position(table->source()));
  }

  [[noreturn]] void unknown(const toml::key& key, const std::vector<std::string>& known) const {
    throw refused("unknown key '" + std::string(key.str()) + "'" +
                      (path.empty() ? std::string() : " in [" + path + "]"),
                  position(key.source()), suggestion(key.str(), known));
  }

  [[noreturn]] void wrong(std::string_view key, const toml::node& node,
                          const std::string& expected) const {
    std::ostringstream found;
    if (node.is_table() || node.is_array()) {
      found << (node.is_table() ? "a table" : "a list");
    } else {
      found << toml::node_view<const toml::node>(&node);
    }
    throw refused("key '" + std::string(key) + "' is " + found.str() + "; expected " + expected,
                  position(node.source()));
  }

  // A list names each of its values once: a repetition is a slip of the pen.
  template <class Value>
  void add_new(std::vector<Value>& values, Value value, std::string_view key,
               const toml::node& node) const {
    if (contains(values, value)) {
      wrong(key, node, "each value once");
    }
    values.push_back(std::move(value));
  }
};

}  // namespace halmark
