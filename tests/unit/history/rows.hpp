// Series made up for tests.
#pragma once

#include <cmath>

#include "core/numeric/random.hpp"
#include "history/series.hpp"

namespace halmark::history::test {

// Standard normal, by Box and Muller; a function of both numbers alone.
inline double normal(std::uint64_t seed, std::uint64_t counter) {
  const double u = 1 - uniform_01(hash_u64(seed, 2 * counter));
  const double v = uniform_01(hash_u64(seed, 2 * counter + 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

inline SeriesRow row(std::int64_t run, int round, double ns) {
  return {.run = run, .round = round, .ns = ns, .build = "1 (aaaa)"};
}

// One run, a row per time.
inline Series series(const std::vector<double>& times_ns, std::int64_t run = 1) {
  Series out{.name = {.what = "gemm m=1 | - | cpu:0/1x1 | hot:1", .fingerprint = "machine"}};
  for (const double ns : times_ns) {
    out.rows.push_back(row(run, static_cast<int>(out.rows.size()), ns));
  }
  return out;
}

}  // namespace halmark::history::test
