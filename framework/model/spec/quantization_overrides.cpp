// Modules whose format differs from that of the rest, as the libraries that integers come from list
// them.
#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "model/spec/quantization_methods.hpp"

namespace halmark::quantization {

namespace {

// Names in a list, in lists of a list, or in one text with commas between them.
void add_names(const ConfigReader& config, const std::string& where, const Json& value,
               std::vector<std::string>& out) {
  if (value.is_array()) {
    for (const Json& item : value) add_names(config, where, item, out);
    return;
  }
  if (!value.is_string()) config.refuse(where, "must hold names, holds " + shown(value));
  std::istringstream text(value.get<std::string>());
  for (std::string name; std::getline(text, name, ',');) {
    const std::size_t front = name.find_first_not_of(' ');
    if (front != std::string::npos) {
      out.push_back(name.substr(front, name.find_last_not_of(' ') + 1 - front));
    }
  }
}

// `format` in the width and the groups that are stated; a width of 16 or more is none.
std::optional<Quantization> in_bits(const ConfigReader& own, Quantization format) {
  const std::int64_t was = dtype_bits(format.weights);
  const std::int64_t bits = own.size("bits").value_or(was);
  if (bits >= 16) return std::nullopt;
  require_integers(own, "");
  if (bits != was) {
    if (format.scale_bits == f16_bits + was) format.scale_bits = f16_bits + bits;  // zero points
    format.weights = integer_of(own, "bits", bits);
  }
  format.block = group_size(own, "group_size", format.block);
  return format;
}

void add_override(const ConfigReader& config, const std::string& where, const std::string& pattern,
                  const Json& stated, Stated& out) {
  std::optional<Quantization> format;
  const bool is_none = stated.is_null() || stated == false;
  if (!is_none) {
    if (!stated.is_object()) {
      config.refuse(where, "must hold objects, holds " + shown(stated));
    }
    format = in_bits(reader_of(config, pattern, stated), out.what);
  }
  add_rule(config, where, pattern, std::move(format), out);
}

}  // namespace

const Json* object_at(const ConfigReader& config, const std::string& where) {
  if (!config.is_set(where)) return nullptr;
  const Json* value = config.value(where);
  if (!value->is_object()) config.refuse(where, "must be an object, found " + shown(*value));
  return value;
}

ConfigReader reader_of(const ConfigReader& config, const std::string& pattern, const Json& stated) {
  return {stated, config.where() + ": '" + printable(pattern) + '\''};
}

// Whole names come first, as the libraries look them up, in one rule for each format; what is tried
// in turn keeps its order.
void add_rule(const ConfigReader& config, const std::string& where, const std::string& pattern,
              std::optional<Quantization> format, Stated& out) {
  constexpr std::size_t rules_max = 1000;
  const bool is_whole = is_whole_name(pattern);
  const auto takes = [&](const Rule& rule) {
    return (rule.modules.tried() == 0) == is_whole && rule.format == format;
  };
  auto it = is_whole ? std::ranges::find_if(out.rules, takes)
                     : out.rules.end() - (!out.rules.empty() && takes(out.rules.back()) ? 1 : 0);
  if (it == out.rules.end()) {
    if (out.rules.size() == rules_max) {
      config.refuse(where, "states more than " + std::to_string(rules_max) + " formats");
    }
    it = out.rules.insert(is_whole ? out.rules.begin() : out.rules.end(), {{}, std::move(format)});
  }
  it->modules.add(pattern);
}

// "-:" in front of an expression: not quantised; "+:" or nothing: in other numbers.
void read_dynamic(const ConfigReader& config, Stated& out) {
  const std::string where = field("dynamic");
  const Json* all = object_at(config, where);
  if (all == nullptr) return;
  for (const auto& [key, stated] : all->items()) {
    const bool is_signed = key.starts_with("-:") || key.starts_with("+:");
    const std::string pattern = "re:" + (is_signed ? key.substr(2) : key);
    const Json none = nullptr;
    add_override(config, where, pattern, key.starts_with("-:") ? none : stated, out);
  }
}

void read_extra_config(const ConfigReader& config, Stated& out) {
  const std::string where = field("extra_config");
  const Json* all = object_at(config, where);
  if (all == nullptr) return;
  for (const auto& [name, stated] : all->items()) {
    add_override(config, where, name, stated, out);
  }
}

void read_blocks(const ConfigReader& config, Stated& out) {
  for (const char* name :
       {"modules_in_block_to_quantize", "block_name_to_quantize", "to_quant_block_names"}) {
    std::vector<std::string> names;
    if (config.is_set(field(name)))
      add_names(config, field(name), *config.value(field(name)), names);
    if (!names.empty()) out.within.emplace_back(names);
  }
}

}  // namespace halmark::quantization
