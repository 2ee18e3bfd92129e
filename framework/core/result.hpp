// Result: a value, or the failure that took its place. Failures that become rows are results;
// what ends a command is thrown (core/text/error.hpp).
#pragma once

#include <optional>
#include <utility>

namespace halmark {

template <class T, class Failure>
struct Result {
  std::optional<T> value;
  Failure failure;  // default-constructed beside a value

  Result(T result) : value(std::move(result)) {}
  Result(Failure why) : failure(std::move(why)) {}

  explicit operator bool() const { return value.has_value(); }
  T& operator*() & { return *value; }
  const T& operator*() const& { return *value; }
  T&& operator*() && { return *std::move(value); }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
  T* get() { return value ? &*value : nullptr; }
  const T* get() const { return value ? &*value : nullptr; }
  const Failure* why() const { return value ? nullptr : &failure; }
};

// The value of a call that gives none.
struct Done {};

}  // namespace halmark
