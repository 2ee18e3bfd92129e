#include "plan/toml/toml_table.hpp"

#include <cmath>

#include "core/input/file_kind.hpp"
#include "core/input/input_file.hpp"
#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "core/text/text.hpp"
#include "plan/toml/toml_state.hpp"

namespace halmark {

namespace {

std::string range_text(double low, double high) {
  std::ostringstream out;
  out << low << " to " << high;
  return out.str();
}

}  // namespace

TomlTable TomlTable::parse(std::string_view text, std::string_view where) {
  prescan_toml(text, where);
  auto state = std::make_shared<State>();
  state->file = std::string(where);
  try {
    state->document = std::make_shared<const toml::table>(toml::parse(text, where));
  } catch (const toml::parse_error& e) {
    throw refused(std::string(e.description()), state->position(e.source()));
  }
  state->table = state->document.get();
  return TomlTable(state);
}

TomlTable TomlTable::parse_file(const std::string& path, std::string_view wanted) {
  return parse(read_kind(path, toml_input, wanted), input_name(path));
}

bool TomlTable::has(std::string_view key) const { return state_->find(key) != nullptr; }

std::string TomlTable::string(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::string);
  const toml::node& node = state_->require(key);
  if (!node.is_string()) state_->wrong(key, node, "a string");
  std::string value(**node.as_string());
  if (value.size() > 4096) state_->wrong(key, node, "a string of at most 4096 bytes");
  return value;
}

std::string TomlTable::string_or(std::string_view key, std::string fallback) const {
  note_type(state_->known_as(key), KeyType::string);
  note_fallback(state_->known_as(key), fallback.empty() ? "" : '"' + fallback + '"');
  return has(key) ? string(key) : fallback;
}

std::int64_t TomlTable::integer(std::string_view key, std::int64_t low, std::int64_t high) const {
  note_type(state_->known_as(key), KeyType::integer);
  note_range(state_->known_as(key), as_double(low), as_double(high));
  const toml::node& node = state_->require(key);
  const std::string expected =
      "an integer from " + std::to_string(low) + " to " + std::to_string(high);
  if (!node.is_integer()) state_->wrong(key, node, expected);
  const std::int64_t value = **node.as_integer();
  if (value < low || value > high) state_->wrong(key, node, expected);
  return value;
}

std::int64_t TomlTable::integer_or(std::string_view key, std::int64_t low, std::int64_t high,
                                   std::int64_t fallback) const {
  note_type(state_->known_as(key), KeyType::integer);
  note_range(state_->known_as(key), as_double(low), as_double(high));
  note_fallback(state_->known_as(key), std::to_string(fallback));
  return has(key) ? integer(key, low, high) : fallback;
}

double TomlTable::number(std::string_view key, double low, double high) const {
  note_type(state_->known_as(key), KeyType::number);
  note_range(state_->known_as(key), low, high);
  const toml::node& node = state_->require(key);
  const auto value = node.is_integer() || node.is_floating_point() ? node.value<double>()
                                                                   : std::optional<double>();
  if (!value || !std::isfinite(*value) || *value < low || *value > high) {
    state_->wrong(key, node, "a number from " + range_text(low, high));
  }
  return *value;
}

double TomlTable::number_or(std::string_view key, double low, double high, double fallback) const {
  note_type(state_->known_as(key), KeyType::number);
  note_range(state_->known_as(key), low, high);
  note_fallback(state_->known_as(key), number_text(fallback));
  return has(key) ? number(key, low, high) : fallback;
}

bool TomlTable::boolean_or(std::string_view key, bool fallback) const {
  note_type(state_->known_as(key), KeyType::boolean);
  note_fallback(state_->known_as(key), fallback ? "true" : "false");
  const toml::node* node = state_->find(key);
  if (node == nullptr) return fallback;
  if (!node->is_boolean()) state_->wrong(key, *node, "true or false");
  return **node->as_boolean();
}

std::vector<std::string> TomlTable::strings(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::strings);
  const toml::node& node = state_->require(key);
  if (node.is_string()) return {string(key)};
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty()) state_->wrong(key, node, "a list of strings");
  std::vector<std::string> out;
  for (const toml::node& item : *list) {
    if (!item.is_string()) state_->wrong(key, item, "a string");
    state_->add_new(out, std::string(**item.as_string()), key, item);
  }
  return out;
}

std::vector<std::int64_t> TomlTable::integers(std::string_view key, std::int64_t low,
                                              std::int64_t high) const {
  note_type(state_->known_as(key), KeyType::integers);
  note_range(state_->known_as(key), as_double(low), as_double(high));
  const toml::node& node = state_->require(key);
  if (node.is_integer()) return {integer(key, low, high)};
  const std::string expected =
      "integers from " + std::to_string(low) + " to " + std::to_string(high);
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty()) state_->wrong(key, node, "a list of " + expected);
  std::vector<std::int64_t> out;
  for (const toml::node& item : *list) {
    const auto value = item.is_integer() ? std::optional(**item.as_integer()) : std::nullopt;
    if (!value || *value < low || *value > high) state_->wrong(key, item, expected);
    state_->add_new(out, *value, key, item);
  }
  return out;
}

namespace {

std::optional<ParamValue> scalar_of(const toml::node& node) {
  if (node.is_integer()) return ParamValue(**node.as_integer());
  if (node.is_boolean()) return ParamValue(**node.as_boolean());
  if (node.is_string()) return ParamValue(**node.as_string());
  if (node.is_floating_point() && std::isfinite(**node.as_floating_point())) {
    return ParamValue(**node.as_floating_point());
  }
  return std::nullopt;
}

}  // namespace

ParamValue TomlTable::value(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::value);
  const toml::node& node = state_->require(key);
  const auto out = scalar_of(node);
  if (!out) state_->wrong(key, node, "a number, a string, true or false");
  return *out;
}

std::vector<ParamValue> TomlTable::values(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::values);
  const toml::node& node = state_->require(key);
  const toml::array* list = node.as_array();
  if (list == nullptr || list->empty()) state_->wrong(key, node, "a list of values");
  std::vector<ParamValue> out;
  for (const toml::node& item : *list) {
    const auto value = scalar_of(item);
    if (!value) state_->wrong(key, item, "a number, a string, true or false");
    state_->add_new(out, *value, key, item);
  }
  return out;
}

bool TomlTable::is_string(std::string_view key) const {
  state_->asked.insert(std::string(key));
  const toml::node* node = state_->table->get(key);
  return node != nullptr && node->is_string();
}

std::vector<std::string> TomlTable::keys() const {
  state_->is_open = true;
  std::vector<std::string> out;
  for (const auto& [key, node] : *state_->table) out.emplace_back(key.str());
  return out;
}

std::string TomlTable::choice(std::string_view key, const std::vector<std::string>& choices) const {
  note_choices(state_->known_as(key), choices);
  std::string value = string(key);
  if (!contains(choices, value)) {
    throw refused("key '" + std::string(key) + "': '" + value + "' is unknown", where(key),
                  suggestion(value, choices));
  }
  return value;
}

std::vector<std::string> TomlTable::choices(std::string_view key,
                                            const std::vector<std::string>& choices) const {
  note_choices(state_->known_as(key), choices);
  std::vector<std::string> values = strings(key);
  for (const std::string& value : values) {
    if (!contains(choices, value)) {
      throw refused("key '" + std::string(key) + "': '" + value + "' is unknown", where(key),
                    suggestion(value, choices));
    }
  }
  return values;
}

std::optional<TomlTable> TomlTable::table(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::table);
  const toml::node* node = state_->find(key);
  if (node == nullptr) return std::nullopt;
  if (!node->is_table()) state_->wrong(key, *node, "a table [" + std::string(key) + "]");
  auto child = std::make_shared<State>();
  child->document = state_->document;
  child->file = state_->file;
  child->table = node->as_table();
  child->path = state_->path.empty() ? std::string(key) : state_->path + '.' + std::string(key);
  child->schema_path = state_->known_as(key);
  state_->children.push_back(child);
  return TomlTable(child);
}

std::vector<TomlTable> TomlTable::tables(std::string_view key) const {
  note_type(state_->known_as(key), KeyType::tables);
  const toml::node* node = state_->find(key);
  if (node == nullptr) return {};
  const toml::array* list = node->as_array();
  if (list == nullptr || !list->is_homogeneous(toml::node_type::table)) {
    state_->wrong(key, *node, "tables [[" + std::string(key) + "]]");
  }
  std::vector<TomlTable> out;
  for (const toml::node& item : *list) {
    auto child = std::make_shared<State>();
    child->document = state_->document;
    child->file = state_->file;
    child->table = item.as_table();
    child->path = std::string(key) + '[' + std::to_string(out.size()) + ']';
    child->schema_path = state_->known_as(key) + "[]";
    state_->children.push_back(child);
    out.push_back(TomlTable(child));
  }
  return out;
}

std::string TomlTable::where(std::string_view key) const {
  const toml::node* node = state_->table->get(key);
  return state_->position(node != nullptr ? node->source() : state_->table->source());
}

void TomlTable::finish() const {
  const std::vector<std::string> known(state_->asked.begin(), state_->asked.end());
  for (const auto& [key, node] : *state_->table) {
    if (!state_->asked.contains(key.str())) state_->unknown(key, known);
  }
  for (const auto& child : state_->children) TomlTable(child).finish();
}

}  // namespace halmark
