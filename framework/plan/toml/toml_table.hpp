// A TOML file as checked values. Every key that is read is known; finish() refuses the others with
// file:line:column and the nearest spelling. Sole user of the TOML library is toml_table.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/search_domain.hpp"
#include "core/input/input_kind.hpp"

namespace halmark {

inline constexpr std::size_t toml_bytes_max = toml_input.bytes_max;
inline constexpr std::size_t toml_line_bytes_max = 64u << 10;
inline constexpr int toml_dots_max = 64;   // in one key or header: the library recurses per dot
inline constexpr int toml_depth_max = 64;  // of brackets

// The lexer in front of the library: size, line length, dots per key, bracket depth. Throws Error
// (exit 2) with file:line:column.
void prescan_toml(std::string_view text, std::string_view where);

class TomlTable {
 public:
  // Throws Error (exit 2) when the file cannot be read, is of another kind than `wanted`
  // (core/input/file_kind_table.cpp) or is not valid TOML.
  static TomlTable parse_file(const std::string& path, std::string_view wanted);
  static TomlTable parse(std::string_view text, std::string_view where);

  bool has(std::string_view key) const;
  // Required forms throw when the key is absent; all throw on a wrong type or range, naming
  // file:line:column, what was found and what was expected.
  std::string string(std::string_view key) const;
  std::string string_or(std::string_view key, std::string fallback) const;
  std::int64_t integer(std::string_view key, std::int64_t low, std::int64_t high) const;
  std::int64_t integer_or(std::string_view key, std::int64_t low, std::int64_t high,
                          std::int64_t fallback) const;
  double number(std::string_view key, double low, double high) const;
  double number_or(std::string_view key, double low, double high, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  // A list, or one value standing for a list of one. Must not be empty.
  std::vector<std::string> strings(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key, std::int64_t low,
                                     std::int64_t high) const;
  // An integer, float, boolean or string; a list of such, not empty.
  ParamValue value(std::string_view key) const;
  std::vector<ParamValue> values(std::string_view key) const;
  bool is_string(std::string_view key) const;
  std::vector<std::string> keys() const;  // sorted
  // One of `choices`; the error names the nearest.
  std::string choice(std::string_view key, const std::vector<std::string>& choices) const;
  std::vector<std::string> choices(std::string_view key,
                                   const std::vector<std::string>& choices) const;

  std::optional<TomlTable> table(std::string_view key) const;
  std::vector<TomlTable> tables(std::string_view key) const;  // [[key]]; empty when absent

  // "file:line:column" of a key, or of the table itself for an absent key.
  std::string where(std::string_view key) const;
  // Refuses every key that nothing above asked for.
  void finish() const;

 private:
  struct State;
  explicit TomlTable(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;  // shared: child tables keep the document alive
};

}  // namespace halmark
