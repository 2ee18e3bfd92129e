// Values of a record, of the kind that is wanted.
#pragma once

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/json/json.hpp"

namespace halmark::front_proof {

template <typename T>
constexpr bool is_whole = std::is_integral_v<T> && !std::is_same_v<T, bool>;

// A number of the kind that is wanted: the parser's own conversions cut 1.5 to 1, take true for 1
// and -1 for a very large one, so that a record would state another thing than what is checked.
template <typename T>
T value_of(const Json& json) {
  if constexpr (is_whole<T>) {
    const bool is_unsigned = json.is_number_unsigned();
    const bool fits = is_unsigned
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) throw std::invalid_argument("'" + json.dump() + "' is no whole number in range");
  } else if constexpr (std::is_same_v<T, double>) {
    if (!json.is_number()) throw std::invalid_argument("'" + json.dump() + "' is no number");
  }
  return json.get<T>();
}

template <typename T>
T field(const Json& record, const char* name) {
  const Json& json = record.at(name);
  if constexpr (requires { typename T::value_type; } && !std::is_same_v<T, std::string>) {
    T out;
    for (const Json& item : json) out.push_back(value_of<typename T::value_type>(item));
    return out;
  } else {
    return value_of<T>(json);
  }
}

// null stands for what is not finite: nothing is known.
inline double number_or(const Json& value, double otherwise) {
  return value.is_null() ? otherwise : value_of<double>(value);
}

// Where in `names` it is.
inline std::size_t named(const std::string& name, const std::vector<std::string>& names) {
  const auto at = std::ranges::find(names, name);
  if (at == names.end()) throw std::invalid_argument("nothing is called '" + name + "'");
  return static_cast<std::size_t>(at - names.begin());
}

// Whether the word is the first of two; any third one says nothing.
inline bool is_first(const Json& word, const char* first, const char* second) {
  if (word == first) return true;
  if (word == second) return false;
  throw std::invalid_argument("'" + word.dump() + "' is neither " + first + " nor " + second);
}

}  // namespace halmark::front_proof
