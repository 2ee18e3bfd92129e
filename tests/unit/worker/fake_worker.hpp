// A worker with the fake plugin loaded, and what tests ask of it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "host/worker_client.hpp"

namespace halmark::test {

inline constexpr std::int64_t f32 = static_cast<std::int64_t>(Dtype::f32);

// m x k times k x n, all of f32.
Problem gemm(std::int64_t m, std::int64_t n, std::int64_t k);

// Its first device is open.
class FakeWorker {
 public:
  explicit FakeWorker(const std::string& script = "", std::int64_t arena_bytes = 0);
  Worker* operator->() { return worker_.get(); }
  Worker& operator*() { return *worker_; }

 private:
  SharedMemory arena_;
  std::unique_ptr<Worker> worker_;
};

protocol::Stage stage_of(std::int64_t id, const Problem& problem, CacheMode mode, int sets);
protocol::SampleRequest count_samples(std::int64_t id, std::int64_t n);

// The revealed output of `set` is the naive product of the inputs generated for `input_set`.
void expect_product(const Problem& given, const RevealAnswer& shown, int set, int input_set);

}  // namespace halmark::test
