#include "study/storage/journal_values.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/json/json.hpp"

namespace halmark::journal {
namespace {

std::string text_of_json(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void set(Attributes& attributes, const std::string& key, const Json& value) {
  const auto it = std::ranges::find(attributes, key, &Attributes::value_type::first);
  if (it != attributes.end()) {
    it->second = text_of_json(value);
  } else {
    attributes.emplace_back(key, text_of_json(value));
  }
}

}  // namespace

std::string with_quoted_words(std::string_view line) {
  std::string out;
  bool in_string = false;
  for (std::size_t i = 0; i < line.size();) {
    if (!in_string) {
      bool is_word = false;
      for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
        if (!line.substr(i).starts_with(word)) continue;
        out.append("\"").append(word).append("\"");
        i += word.size();
        is_word = true;
        break;
      }
      if (is_word) continue;
    } else if (line[i] == '\\' && i + 1 < line.size()) {
      out += line[i++];
      out += line[i++];
      continue;
    }
    if (line[i] == '"') in_string = !in_string;
    out += line[i++];
  }
  return out;
}

double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  if (json == "Infinity") return HUGE_VAL;
  if (json == "-Infinity") return -HUGE_VAL;
  if (json == "NaN" || json.is_null()) return std::nan("");
  throw std::invalid_argument("a value is no number");
}

std::string time_of(const Json& line, const char* key) {
  const auto it = line.find(key);
  if (it == line.end() || !it->is_string()) return {};
  std::string out = it->get<std::string>().substr(0, 26);
  if (out.size() > 10) out[10] = ' ';
  return out;
}

void set_all(Attributes& attributes, const Json& line, const char* key) {
  const auto it = line.find(key);
  if (it == line.end() || !it->is_object()) return;
  for (const auto& [name, value] : it->items()) set(attributes, name, value);
}

void set_values(TrialRow& row, const Json& line) {
  const auto values = line.find("values");
  if (values != line.end() && values->is_array()) {
    row.values.clear();
    for (const Json& value : *values) row.values.push_back(number_of(value));
    return;
  }
  const auto value = line.find("value");
  if (value != line.end() && !value->is_null()) row.values = {number_of(*value)};
}

TrialState state_at(const Json& line) {
  const auto state = line.value("state", 0);
  if (state < 0 || state >= static_cast<int>(trial_states)) {
    throw std::invalid_argument("unknown state " + std::to_string(state));
  }
  return static_cast<TrialState>(state);
}

}  // namespace halmark::journal
