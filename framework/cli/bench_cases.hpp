// What `bench` was asked to measure, as kernel cases.
#pragma once

#include <string>
#include <vector>

#include "cli/console/session.hpp"
#include "core/kernel_case.hpp"

namespace halmark::cli {

struct BenchOptions {
  std::string op, params, kernel, sweep;
  std::vector<std::string> dtypes, variants;
  std::string backend = "cpu", device = "0", mode = "rotate_const";
  int parts = 1, shards = 1, rounds = 3, sets = 4;
  double seconds = 0.2;
  bool keep = false;
  std::string sampler = "grid";  // of variants
  std::int64_t trials = 0;       // per problem; 0 = all variants
  std::uint64_t seed = 1;
};

// One per dtype of --op. Throws Error (exit 2) for an unknown op, parameter or dtype.
std::vector<KernelCase> cases_of(const BenchOptions& options);

// Those of --sweep, of --op or of all ops but collectives. Throws Error (exit 2) when there are
// none.
std::vector<KernelCase> sweep_questions(const BenchOptions& options, const LocalMachine& machine);

}  // namespace halmark::cli
