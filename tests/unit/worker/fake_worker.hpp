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

// Without a plugin.
std::unique_ptr<Worker> bare_worker();

protocol::Stage stage_of(std::int64_t id, const Problem& problem, CacheMode mode, int sets);
inline protocol::Stage small_stage(std::int64_t id = 1) {
  return stage_of(id, gemm(2, 2, 2), CacheMode::hot, 1);
}
inline protocol::SequenceRequest sequence_of(std::vector<protocol::SequenceStep> steps,
                                             std::int64_t repeat, std::int64_t warmup = 0) {
  return {.steps = std::move(steps), .repeat = repeat, .warmup = warmup, .barrier = {}};
}
inline protocol::ProbeRequest probe_of(protocol::ProbeKind kind, int windows = 100,
                                       std::int64_t working_set_bytes = 0) {
  return {.kind = kind,
          .path = {},
          .isa = {},
          .windows = windows,
          .window_ms = 0.5,
          .working_set_bytes = working_set_bytes,
          .barrier = {}};
}
protocol::SampleRequest count_samples(std::int64_t id, std::int64_t n);

// The revealed output of `set` is the naive product of the inputs generated for `input_set`.
void expect_product(const Problem& given, const RevealAnswer& shown, int set, int input_set);

}  // namespace halmark::test
