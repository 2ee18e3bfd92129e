// Lists, maps and counts: what most files say of them, each in a word.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"

namespace halmark {

// The numbers 0 .. count - 1. The count is read once: a loop that lengthens its list, or changes
// its limit, writes its own condition.
template <class Number>
class Below {
 public:
  class Iterator {
   public:
    constexpr explicit Iterator(Number at) : at_(at) {}
    constexpr Number operator*() const { return at_; }
    constexpr Iterator& operator++() {
      ++at_;
      return *this;
    }
    constexpr bool operator!=(const Iterator& end) const { return at_ < end.at_; }

   private:
    Number at_;
  };
  constexpr explicit Below(Number count) : count_(count) {}
  constexpr Iterator begin() const { return Iterator(0); }
  constexpr Iterator end() const { return Iterator(count_); }
  constexpr std::size_t size() const { return count_ > 0 ? as_size(count_) : 0; }

 private:
  Number count_;
};

template <class Number>
constexpr Below<Number> below(Number count) {
  return Below<Number>(count);
}

// The positions of a list, or of a count of items: what C++26 has as std::views::indices.
constexpr Below<std::size_t> indices(std::size_t count) { return below(count); }
template <class Range>
requires requires(const Range& range) { range.size(); }
constexpr Below<std::size_t> indices(const Range& range) { return below(as_size(range.size())); }

template <class List, class Range>
void append_all(List& list, const Range& items) {
  list.insert(list.end(), std::begin(items), std::end(items));
}

// What `of`, a function or a member, makes of each item.
template <class Range, class Of>
auto mapped(const Range& items, const Of& of) {
  std::vector<std::decay_t<decltype(std::invoke(of, *std::begin(items)))>> out;
  out.reserve(std::size(items));
  for (const auto& item : items) out.push_back(std::invoke(of, item));
  return out;
}

// The value of a key; nullptr where the map has none.
template <class Map, class Key>
auto* find_value(Map& map, const Key& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

template <class T>
constexpr int as_int(T value) {
  return static_cast<int>(value);
}
template <class T>
constexpr std::uint32_t as_uint32(T value) {
  return static_cast<std::uint32_t>(value);
}
template <class T>
constexpr std::uint64_t as_uint64(T value) {
  return static_cast<std::uint64_t>(value);
}
template <class T>
constexpr std::int64_t as_int64(T value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace halmark
