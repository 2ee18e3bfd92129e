// Conversions that -Wconversion wants written, in a word: what counts and indexes is signed here
// and in files, containers count without a sign, and figures are doubles.
#pragma once

#include <cstddef>

namespace halmark {

template <class T>
constexpr std::size_t as_size(T value) {
  return static_cast<std::size_t>(value);
}
template <class T>
constexpr double as_double(T value) {
  return static_cast<double>(value);
}

}  // namespace halmark
