// Names of a closed set whose enumerators count from 0, in their order. Nothing is counted by hand:
// an enumerator without a name, a name without an enumerator and a name that is there twice do not
// compile.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "core/numeric/cast.hpp"

namespace halmark {

// Compilers print a value with its name, "Status::ok", or where it has none as "(Status)17".
template <auto value>
consteval bool is_enumerator() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  const char after = text[text.rfind(')') + 1];
  return after < '0' || after > '9';
}

// How many there are, counted from `first` on.
template <class Enum, std::size_t first = 0>
consteval std::size_t enumerators() {
  if constexpr (is_enumerator<static_cast<Enum>(first)>()) {
    return 1 + enumerators<Enum, first + 1>();
  } else {
    return 0;
  }
}

template <class Enum>
struct EnumNames {
  std::array<std::string_view, enumerators<Enum>()> all;

  constexpr std::string_view of(Enum value) const { return all.at(as_size(value)); }
  constexpr std::optional<Enum> parse(std::string_view text) const {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i] == text) return static_cast<Enum>(i);
    }
    return std::nullopt;
  }
};

// Whether a table has one row for each, in their order.
template <std::size_t first = 0, class Row, std::size_t rows, class Enum>
consteval bool has_row_of_each(const std::array<Row, rows>& table, Enum Row::*of) {
  for (std::size_t i = 0; i < rows; ++i) {
    if (as_size(table[i].*of) != first + i) return false;
  }
  return rows == enumerators<Enum, first>();
}

// Only the first name may be empty: that of what was not stated.
template <class Enum, class... Texts>
consteval EnumNames<Enum> enum_names(Texts... texts) {
  static_assert(sizeof...(Texts) == enumerators<Enum>(), "one name for each enumerator");
  const EnumNames<Enum> out{{texts...}};
  for (std::size_t i = 1; i < out.all.size(); ++i) {
    if (out.all[i].empty()) throw "an enumerator has an empty name";
    for (std::size_t before = 0; before < i; ++before) {
      if (out.all[before] == out.all[i]) throw "two enumerators have the same name";
    }
  }
  return out;
}

}  // namespace halmark
