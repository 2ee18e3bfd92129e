// What a request to a worker came to: a value, or a failure that is ready to become a row.
#pragma once

#include <string>

#include "core/measured/measurement.hpp"
#include "core/result.hpp"

namespace halmark {

struct WorkerFailure {
  Status status = Status::worker_lost;
  std::string reason;
  std::string phase;  // what was running: load, open, create, pack, first, warm, sample, ...
  int signal = 0;
  bool worker_is_gone = true;  // false: the worker answered and can go on
};

template <class T>
using Outcome = Result<T, WorkerFailure>;

}  // namespace halmark
