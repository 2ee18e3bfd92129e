#include "export/yaml.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "core/text/text.hpp"

namespace halmark::exports {
namespace {

void write_value(const Json& value, std::size_t indent, std::string& out);

// A text that looks like a number is quoted: it was none.
std::string scalar_of(const Json& value) {
  if (!value.is_string()) return dump_json(value);
  const auto& text = value.get_ref<const std::string&>();
  const bool starts_as_word =
      !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0;
  return starts_as_word ? yaml_scalar(text) : dump_json(value);
}

void write_items(const Json& value, std::size_t indent, std::string& out) {
  for (const Json& item : value) {
    out += std::string(indent, ' ') + "- ";
    if (item.is_structured() && !item.empty()) {
      std::string inner;
      write_value(item, indent + 2, inner);
      out += inner.substr(indent + 2);  // the first line stands behind the dash
    } else {
      out += (item.is_structured() ? dump_json(item) : scalar_of(item)) + '\n';
    }
  }
}

void write_value(const Json& value, std::size_t indent, std::string& out) {
  if (value.is_array()) return write_items(value, indent, out);
  for (const auto& [key, item] : value.items()) {
    out += std::string(indent, ' ') + scalar_of(Json(key)) + ':';
    if (item.is_structured() && !item.empty()) {
      out += '\n';
      write_value(item, indent + 2, out);
    } else {
      out += ' ' + (item.is_structured() ? dump_json(item) : scalar_of(item)) + '\n';
    }
  }
}

}  // namespace

std::string yaml_scalar(const std::string& text) {
  const auto is_number = [&] {
    return !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos;
  };
  const bool is_word =
      !text.empty() && std::isalpha(static_cast<unsigned char>(text[0])) != 0 &&
      std::ranges::all_of(text, [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '_' || c == '/' || c == '-' || c == '.';
      });
  static const std::vector<std::string> read_otherwise = {"y",   "n",    "yes",   "no",  "on",
                                                          "off", "true", "false", "null"};
  const bool is_special = contains(read_otherwise, lower_case(text));
  if (is_number() || (is_word && !is_special)) return text;
  return dump_json(Json(text));  // a JSON string is a double-quoted scalar
}

std::string yaml_text(const Json& value) {
  std::string out;
  if (!value.is_structured()) return scalar_of(value) + '\n';
  write_value(value, 0, out);
  return out;
}

}  // namespace halmark::exports
