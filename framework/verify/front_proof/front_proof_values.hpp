// Values of a record, of the kind that is wanted.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

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

}  // namespace halmark::front_proof
