// A number that a text is from its first to its last character, the same in every locale.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>

namespace halmark {

// Nothing where the text is none, has more behind it or does not fit the type.
template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number out = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return out;
}

}  // namespace halmark
