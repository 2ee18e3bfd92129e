// Questions to a range that C++20 asks with iterators.
#pragma once

#include <algorithm>
#include <functional>

namespace halmark {

// Whether an item, or what `of` makes of it, is `value`: std::ranges::contains of C++23.
template <class Range, class Value, class Of = std::identity>
constexpr bool contains(const Range& range, const Value& value, const Of& of = {}) {
  return std::ranges::find(range, value, of) != std::ranges::end(range);
}

// The first such item; nullptr where there is none.
template <class Range, class Value, class Of = std::identity>
constexpr auto* find_or_null(Range& range, const Value& value, const Of& of = {}) {
  const auto found = std::ranges::find(range, value, of);
  return found == std::ranges::end(range) ? nullptr : &*found;
}

}  // namespace halmark
