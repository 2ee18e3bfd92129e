// A worker that is a script: it answers right but for the fault that it is asked for.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "host/worker_client.hpp"
#include "tests/checkout.hpp"

namespace halmark::test {

inline WorkerOptions scripted(const std::string& fault) {
  WorkerOptions options;
  options.program = test::in_build("/tests/scripted_worker");
  options.environment["HALMARK_FAKE_HOST"] = fault;
  return options;
}

// Null, and a failure of the test, where it did not start.
inline std::unique_ptr<Worker> start(const WorkerOptions& options) {
  auto worker = Worker::start(options);
  if (!worker) {
    ADD_FAILURE() << worker.failure.reason;
    return nullptr;
  }
  return std::move(*worker);
}

// Of a `load` that must not succeed.
inline WorkerFailure load_failure(const WorkerOptions& options) {
  auto worker = start(options);
  if (!worker) return {};
  const auto plugin = worker->load("anything");
  EXPECT_FALSE(plugin);
  return plugin.failure;
}

}  // namespace halmark::test
