// A device of two levels, and work for it.
#pragma once

#include "core/device.hpp"
#include "core/work.hpp"

namespace halmark::test {

// Caches of 2 x 1 MB at 1e12 and memory at 1e10 bytes/s.
inline Device two_levels() {
  Device d;
  d.bandwidths.push_back(
      {.level = "l2", .threads = 1, .bytes_per_s = 1e12, .working_set_bytes = 1'000'000});
  d.bandwidths.push_back(
      {.level = "memory", .threads = 1, .bytes_per_s = 1e10, .working_set_bytes = 100'000'000});
  return d;
}

inline Work bf16_work(double flops, double constant_bytes, double other_bytes) {
  return {.matmul_flops = flops,
          .bytes_read = constant_bytes,
          .bytes_written = other_bytes,
          .constant_bytes = constant_bytes,
          .compute_dtype = Dtype::bf16};
}

}  // namespace halmark::test
