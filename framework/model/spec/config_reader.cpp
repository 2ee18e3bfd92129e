#include "model/spec/config_reader.hpp"

#include <cmath>

#include "core/text/error.hpp"

namespace halmark {

namespace {
constexpr std::int64_t size_max = std::int64_t{1} << 31;

std::string shown(const Json& value) {
  std::string text = printable(value.dump(-1, ' ', true, Json::error_handler_t::replace));
  constexpr std::size_t shown_max = 40;
  return text.size() <= shown_max ? text : text.substr(0, shown_max) + "...";
}
}  // namespace

ConfigReader::ConfigReader(const Json& config, std::string where)
    : outer_(&config), inner_(&config), where_(std::move(where)) {
  if (!config.is_object()) {
    throw refused("a model configuration must be a JSON object, found " + shown(config), where_);
  }
  const auto nested = config.find("text_config");
  if (nested == config.end() || nested->is_null()) return;
  if (!nested->is_object()) refuse("text_config", "must be an object, found " + shown(*nested));
  inner_ = &*nested;
}

const Json* ConfigReader::find_stated(std::string_view path) const {
  for (const Json* level : {inner_, outer_}) {
    std::string_view rest = path;
    const Json* value = level;
    while (value != nullptr && !rest.empty()) {
      const auto dot = rest.find('.');
      const auto it = value->find(std::string(rest.substr(0, dot)));
      value = it == value->end() || it->is_null() ? nullptr : &*it;
      rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
    }
    if (value != nullptr) return value;
  }
  return nullptr;
}

const Json* ConfigReader::find(std::string_view field) const {
  if (const Json* stated = find_stated(field)) return stated;
  if (const auto other = other_names_.find(field); other != other_names_.end()) {
    if (const Json* stated = find_stated(other->second)) return stated;
  }
  const auto it = defaults_.find(std::string(field));
  return it == defaults_.end() ? nullptr : &*it;
}

void ConfigReader::set_default(std::string_view field, const Json& value) {
  if (find(field) != nullptr) return;
  defaults_[std::string(field)] = value;
  assume(std::string(field) + " = " + shown(value) + " (not in the configuration)");
}

void ConfigReader::set_derived(std::string_view field, const Json& value) {
  defaults_[std::string(field)] = value;
}

void ConfigReader::also_named(std::string_view field, std::string_view other) {
  const Json* own = find_stated(field);
  const Json* stated = find_stated(other);
  if (own != nullptr && stated != nullptr && *own != *stated) {
    refuse(other, "is " + shown(*stated) + ", but '" + printable(field) +
                      "', which means the same, is " + shown(*own));
  }
  if (stated != nullptr) other_names_.insert_or_assign(std::string(field), std::string(other));
}

void ConfigReader::refuse(std::string_view field, const std::string& problem) const {
  throw refused("field '" + printable(field) + "' " + problem, where_);
}

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
  if (value == nullptr) return std::nullopt;
  return whole_number(field, *value, 1);
}

std::optional<std::int64_t> ConfigReader::count(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
  return whole_number(field, *value, 0);
}

std::optional<std::vector<std::int64_t>> ConfigReader::counts(std::string_view field) const {
  const Json* value = find(field);
  if (value == nullptr) return std::nullopt;
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

std::int64_t ConfigReader::required_size(std::string_view field) const {
  const auto value = size(field);
  if (!value) refuse(field, "is missing; a whole number >= 1 is expected");
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

std::int64_t ConfigReader::size_or(std::string_view field, std::int64_t fallback) {
  if (const auto value = size(field)) return *value;
  assume(std::string(field) + " = " + std::to_string(fallback) + " (not in the configuration)");
  return fallback;
}

bool ConfigReader::flag_or(std::string_view field, bool fallback) {
  if (const auto value = flag(field)) return *value;
  assume(std::string(field) + " = " + (fallback ? "true" : "false") +
         " (not in the configuration)");
  return fallback;
}

std::vector<std::string> ConfigReader::model_types() const {
  std::vector<std::string> out;
  for (const Json* level : {outer_, inner_}) {
    const auto it = level->find("model_type");
    if (it != level->end() && it->is_string()) out.push_back(it->get<std::string>());
  }
  return out;
}

}  // namespace halmark
