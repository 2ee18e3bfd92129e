#include "plan/schema/file_schema.hpp"

#include <algorithm>
#include <cmath>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// Beyond it a bound is one of the number's type and says nothing of the key.
constexpr double bound_of_type = 9e18;

bool is_list(KeyType type) {
  return type == KeyType::strings || type == KeyType::integers || type == KeyType::values;
}

const char* json_name(KeyType type) {
  switch (type) {
    case KeyType::string:
    case KeyType::strings:
      return "string";
    case KeyType::integer:
    case KeyType::integers:
      return "integer";
    case KeyType::number:
      return "number";
    case KeyType::boolean:
      return "boolean";
    case KeyType::table:
      return "object";
    case KeyType::tables:
      return "array";
    case KeyType::value:
    case KeyType::values:
      return "";
  }
  return "";
}

Json of_one(KeyType type, const KnownKey& key) {
  if (*json_name(type) == '\0') return {{"type", {"number", "string", "boolean"}}};
  Json out = {{"type", json_name(type)}};
  const bool is_number = out["type"] == "integer" || out["type"] == "number";
  if (is_number && key.low && std::abs(*key.low) < bound_of_type) out["minimum"] = *key.low;
  if (is_number && key.high && std::abs(*key.high) < bound_of_type) out["maximum"] = *key.high;
  if (out["type"] == "string" && !key.choices.empty()) out["enum"] = key.choices;
  return out;
}

Json of_scalars(const KnownKey& key) {
  Json forms = Json::array();
  for (const KeyType type : key.types) {
    const Json one = of_one(type, key);
    // A list of values is never one value; of strings and integers one stands for a list of one.
    if (type != KeyType::values && !contains(forms, one)) {
      forms.push_back(one);
    }
    if (!is_list(type)) continue;
    forms.push_back({{"type", "array"}, {"items", one}, {"minItems", 1}, {"uniqueItems", true}});
  }
  return forms.size() == 1 ? forms[0] : Json{{"anyOf", forms}};
}

std::string join(const std::string& parent, const std::string& name) {
  return parent.empty() ? name : parent + '.' + name;
}

// Names of the keys directly below `parent`.
std::vector<std::string> children_of(const KnownKeys& keys, const std::string& parent) {
  std::vector<std::string> out;
  const std::string prefix = parent.empty() ? "" : parent + '.';
  for (const auto& [path, key] : keys) {
    if (!path.starts_with(prefix) || path.find('.', prefix.size()) != path.npos) continue;
    out.push_back(path.substr(prefix.size()));
  }
  return out;
}

Json of_table(const FileSchema& schema, const std::string& parent) {
  Json out = {{"type", "object"}, {"properties", Json::object()}};
  Json required = Json::array();
  bool is_open = false;
  for (const std::string& name : children_of(schema.keys, parent)) {
    const std::string path = join(parent, name);
    const KnownKey& key = schema.keys.at(path);
    Json one;
    if (key.types.contains(KeyType::table)) {
      one = of_table(schema, path);
    } else if (key.types.contains(KeyType::tables)) {
      one = {{"type", "array"}, {"items", of_table(schema, path + "[]")}};
    } else {
      one = of_scalars(key);
    }
    if (name == "*") {
      out["additionalProperties"] = std::move(one);
      is_open = true;
      continue;
    }
    if (const auto text = meaning_of(schema, path); !text.empty()) {
      one["description"] = std::string(text);
    }
    if (key.is_required) required.push_back(name);
    out["properties"][name] = std::move(one);
  }
  if (!is_open) out["additionalProperties"] = false;
  if (!required.empty()) out["required"] = std::move(required);
  return out;
}

std::string type_text(const KnownKey& key) {
  std::string out;
  for (const KeyType type : key.types) {
    std::string one = json_name(type);
    if (one.empty()) one = "value";
    if (key.types.contains(KeyType::strings) && type == KeyType::string) continue;
    if (is_list(type)) one = type == KeyType::values ? "list of values" : one + " or list";
    if (type == KeyType::table) one = "table";
    if (type == KeyType::tables) one = "tables";
    append_item(out, ", ", one);
  }
  return out;
}

std::string range_text(const KnownKey& key) {
  if (!key.choices.empty()) {
    std::string out;
    for (const std::string& choice : key.choices) {
      out += (out.empty() ? "`" : ", `") + choice + '`';
    }
    return out;
  }
  const bool has_low = key.low && std::abs(*key.low) < bound_of_type;
  const bool has_high = key.high && std::abs(*key.high) < bound_of_type;
  if (has_low && has_high) return number_text(*key.low, 7) + " to " + number_text(*key.high, 7);
  if (has_low) return "from " + number_text(*key.low, 7);
  return has_high ? "at most " + number_text(*key.high, 7) : "";
}

void add_table(const FileSchema& schema, const std::string& parent, const std::string& title,
               std::string& out) {
  out += "\n## " + title + "\n\n| key | value | allowed | if absent | meaning |\n" +
         "|---|---|---|---|---|\n";
  std::vector<std::string> tables;
  for (const std::string& name : children_of(schema.keys, parent)) {
    const std::string path = join(parent, name);
    const KnownKey& key = schema.keys.at(path);
    const bool is_table = key.types.contains(KeyType::table) || key.types.contains(KeyType::tables);
    if (is_table) tables.push_back(path);
    out += "| `" + (name == "*" ? "any name" : name) + "` | " + type_text(key) + " | " +
           range_text(key) + " | " +
           (key.is_required        ? "refused"
            : key.fallback.empty() ? ""
                                   : '`' + key.fallback + '`') +
           " | " + std::string(meaning_of(schema, path)) + " |\n";
  }
  for (const std::string& path : tables) {
    const bool is_list = schema.keys.at(path).types.contains(KeyType::tables);
    std::string heading = path;
    for (std::size_t at; (at = heading.find("[]")) != heading.npos;) heading.erase(at, 2);
    add_table(schema, is_list ? path + "[]" : path,
              is_list ? "[[" + heading + "]]" : '[' + heading + ']', out);
  }
}

}  // namespace

KnownKeys keys_with_values(KnownKeys watched) {
  std::erase_if(watched, [](const auto& entry) { return entry.second.types.empty(); });
  return watched;
}

std::string_view meaning_of(const FileSchema& schema, std::string_view path) {
  // The longest end of the path that is known says most.
  const KeyMeaning* best = nullptr;
  for (const KeyMeaning& meaning : schema.meanings) {
    const bool fits = path == meaning.key || (path.ends_with(meaning.key) &&
                                              path[path.size() - meaning.key.size() - 1] == '.');
    if (fits && (best == nullptr || meaning.key.size() > best->key.size())) best = &meaning;
  }
  return best != nullptr ? best->text : std::string_view();
}

Json json_schema(const FileSchema& schema) {
  Json out = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}, {"title", schema.title}};
  out.update(of_table(schema, ""));
  return out;
}

std::string schema_markdown(const FileSchema& schema) {
  std::string out = "# Keys of " + schema.title + "\n\n" + schema.written_as +
                    " Written by `halmark config schema " + schema.name +
                    " --markdown` from what the reader asks for; the same as JSON Schema without "
                    "`--markdown`. An unknown key is refused.\n";
  add_table(schema, "", "The file", out);
  return out;
}

}  // namespace halmark
