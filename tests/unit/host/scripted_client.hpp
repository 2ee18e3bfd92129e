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

// A test whose worker does not start is over.
inline std::unique_ptr<Worker> start(const WorkerOptions& options) {
  auto worker = Worker::start(options);
  if (!worker) throw std::runtime_error(worker.failure.reason);
  return std::move(*worker);
}

inline protocol::Stage some_stage() {
  return {.id = 1, .kernel = {}, .problem = {"copy", {{"bytes", 64}}}, .config = {}, .group = {}};
}

// Of a `load` that must not succeed.
inline WorkerFailure load_failure(const WorkerOptions& options) {
  const auto plugin = start(options)->load("anything");
  EXPECT_FALSE(plugin);
  return plugin.failure;
}

}  // namespace halmark::test
