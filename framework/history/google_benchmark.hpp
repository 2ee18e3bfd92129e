// What Google Benchmark writes with --benchmark_out_format=json: one row per iteration entry.
#pragma once

#include <string>
#include <vector>

#include "history/series.hpp"

namespace halmark::history {

struct GoogleBenchmarkFile {
  std::string fingerprint;     // of what the file says of its machine: host, CPUs, build type
  std::vector<Series> series;  // by benchmark, in the order of the file
  // "14 of 16 entries taken; left out: 2 aggregates": their sum is what the file holds.
  std::string account;
};

// Families of one name are series of their own, "BM_a (2 of this name)" the second one.
// Throws Error (exit 2) for a file that is none, holds no times of repetitions, or times in a unit
// that there is not. An entry with `error_occurred` is a row with its message as the fault.
GoogleBenchmarkFile read_google_benchmark(const std::string& path);

}  // namespace halmark::history
