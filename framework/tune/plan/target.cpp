#include "tune/plan/target.hpp"

#include <algorithm>

namespace halmark::tune {

namespace {

constexpr std::int64_t ring_bytes_max = 512ll << 20;
// Before `peaks` has found it: enough on the machines seen so far.
constexpr std::int64_t plateau_prior_bytes = 256ll << 20;

}  // namespace

std::int64_t Target::ring_bytes(int ranks) const {
  const std::int64_t plateau = measured && measured->ring_plateau_bytes
                                   ? *measured->ring_plateau_bytes
                                   : plateau_prior_bytes;
  return std::min({plateau, ring_bytes_max, memory_bytes / 4 / ranks});
}

BoundingDevice Target::bounding() const {
  return {.device = measured ? &*measured : nullptr, .threads = cores};
}

StackPlacement Target::placement(int ranks) const {
  if (!is_shared()) return {.backend = backend, .parts = 1};
  return {.backend = backend,
          .device = device,
          .parts = std::min(ranks, cores),
          .ring_bytes = ring_bytes(ranks),
          .mode = in_stack ? CacheMode::in_stack : CacheMode::rotate_const,
          .winners = &winners};
}

DeviceFacts Target::facts(int ranks) const {
  if (!is_shared()) return {.measured = measured, .datasheet = datasheet};
  return {.measured = measured,
          .datasheet = datasheet,
          .shard = {.threads = std::max(1, cores / ranks), .parts = ranks}};
}

}  // namespace halmark::tune
