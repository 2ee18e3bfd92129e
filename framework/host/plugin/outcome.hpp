// What a request to a worker came to: a value, or a failure that is ready to become a row.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/measurement.hpp"

namespace halmark {

struct WorkerFailure {
  Status status = Status::worker_lost;
  std::string reason;
  std::string phase;  // what was running: load, open, create, pack, first, warm, sample, ...
  int signal = 0;
  bool worker_is_gone = true;  // false: the worker answered and can go on
};

template <class T>
struct Outcome {
  std::optional<T> value;
  WorkerFailure failure;
  Outcome(T result) : value(std::move(result)) {}
  Outcome(WorkerFailure why) : failure(std::move(why)) {}
  explicit operator bool() const { return value.has_value(); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

struct Done {};

}  // namespace halmark
