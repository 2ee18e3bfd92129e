// ConfigReader: the typed values of fields, and what is refused in them.
#include <cmath>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/spec/config_reader.hpp"

namespace halmark {

namespace {
constexpr std::int64_t size_max = std::int64_t{1} << 31;

bool is_none(const Json& value) {
  return value == false || (value.is_array() && value.empty()) ||
         (value.is_number() && value.get<double>() == 0);
}
}  // namespace

std::int64_t ConfigReader::whole_number(std::string_view field, const Json& value,
                                        std::int64_t low) const {
  if (!value.is_number_integer()) refuse(field, "must be a whole number, found " + shown(value));
  const bool fits = !value.is_number_unsigned() ||
                    value.get<std::uint64_t>() <= static_cast<std::uint64_t>(size_max);
  const std::int64_t number = fits ? value.get<std::int64_t>() : size_max + 1;
  if (number < low || number > size_max) {
    refuse(field, "must lie in " + std::to_string(low) + ".." + std::to_string(size_max) +
                      ", found " + shown(value));
  }
  return number;
}

std::optional<std::int64_t> ConfigReader::size(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr || is_none(*value)) return std::nullopt;
  return whole_number(field, *value, 1);
}

std::optional<std::int64_t> ConfigReader::count(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  return is_none(*value) ? 0 : whole_number(field, *value, 0);
}

std::optional<std::vector<std::int64_t>> ConfigReader::counts(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr || (is_none(*value) && !value->is_array())) return std::nullopt;
  if (!value->is_array()) refuse(field, "must be a list of numbers, found " + shown(*value));
  std::vector<std::int64_t> out;
  for (const auto& item : *value) out.push_back(whole_number(field, item, 0));
  return out;
}

bool ConfigReader::is_set(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  if (value->is_number()) return value->get<double>() != 0;
  return !value->empty();
}

bool ConfigReader::is_one(std::string_view field) const {
  const Json* value = find(field);
  return value != nullptr && value->is_number() && value->get<double>() == 1;
}

bool ConfigReader::is_text(std::string_view field, std::string_view text) const {
  const Json* value = find(field);
  return value != nullptr && value->is_string() && value->get<std::string>() == text;
}

bool ConfigReader::is_letters(std::string_view field) const {
  const Json* value = find(field);
  return value != nullptr && value->is_string();
}

bool ConfigReader::is_list(std::string_view field) const {
  const Json* value = find(field);
  return value != nullptr && value->is_array();
}

std::int64_t ConfigReader::required_size(std::string_view field) const {
  const auto value = size(field);
  if (!value) refuse(field, "is missing or none; a whole number >= 1 is expected");
  return *value;
}

std::optional<double> ConfigReader::number(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_number() || !std::isfinite(value->get<double>())) {
    refuse(field, "must be a finite number, found " + shown(*value));
  }
  return value->get<double>();
}

std::optional<bool> ConfigReader::flag(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (is_none(*value)) return false;
  if (value->is_number() && value->get<double>() == 1) return true;
  if (!value->is_boolean()) refuse(field, "must be true or false, found " + shown(*value));
  return value->get<bool>();
}

std::optional<std::string> ConfigReader::text(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) refuse(field, "must be a text, found " + shown(*value));
  return value->get<std::string>();
}

std::optional<std::vector<std::string>> ConfigReader::texts(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(field, "must be a list of texts, found " + shown(*value));
  std::vector<std::string> out;
  for (const auto& item : *value) {
    if (!item.is_string()) refuse(field, "must be a list of texts, holds " + shown(item));
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::optional<std::vector<std::optional<double>>> ConfigReader::numbers(
    std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(field, "must be a list of numbers, found " + shown(*value));
  std::vector<std::optional<double>> out;
  for (const auto& item : *value) {
    if (!item.is_null() && (!item.is_number() || !std::isfinite(item.get<double>()))) {
      refuse(field, "must be a list of numbers, holds " + shown(item));
    }
    out.push_back(item.is_null() ? std::nullopt : std::optional(item.get<double>()));
  }
  return out;
}

std::optional<std::vector<bool>> ConfigReader::flags(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(field, "must be a list of flags, found " + shown(*value));
  std::vector<bool> out;
  for (const auto& item : *value) {
    if (!item.is_boolean()) refuse(field, "must be a list of flags, holds " + shown(item));
    out.push_back(item.get<bool>());
  }
  return out;
}

std::optional<std::vector<ConfigReader>> ConfigReader::objects(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_array()) refuse(field, "must be a list of objects, found " + shown(*value));
  std::vector<ConfigReader> out;
  for (const auto& item : *value) {
    const std::string where = where_ + ": " + printable(field) + "[" + std::to_string(out.size());
    out.emplace_back(item, where + "]");
  }
  return out;
}

std::vector<std::string> ConfigReader::keys(std::string_view field) const {
  std::vector<std::string> out;
  const Json* value = find(field);
  if (value == nullptr || !value->is_object()) return out;
  for (const auto& item : value->items()) out.push_back(item.key());
  return out;
}

std::int64_t ConfigReader::size_or(std::string_view field, std::int64_t fallback) {
  if (const auto value = size(field)) return *value;
  assume(std::string(field) + " = " + std::to_string(fallback) + (has(field) ? " (none" : " (not") +
         " in the configuration)");
  return fallback;
}

bool ConfigReader::flag_or(std::string_view field, bool fallback) {
  if (const auto value = flag(field)) return *value;
  assume(std::string(field) + " = " + (fallback ? "true" : "false") +
         " (not in the configuration)");
  return fallback;
}

}  // namespace halmark
