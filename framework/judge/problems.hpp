// The problems that a source is judged on, and what its plugin must know of each: the plugin has no
// contracts, so that the host writes them down for it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "judge/entry.hpp"

namespace halmark::judge {

// A source is written for types and flags; sizes are what it must take as they come.
bool are_alike(const OpContract& contract, const Params& params, const Params& asked);

// The contract's shapes (1, primes, tile +- 1) in the dtypes and flags of `asked`, which is
// complete. The correctness gate looks at every element of them.
std::vector<Problem> conformance_problems(const OpContract& contract, const Problem& asked);

// What `halmark_judged.hpp` reads: the problems, their small twins, and their launches where the
// source states them.
struct CarriedText {
  std::string kernel;  // its name in the plugin
  std::string source;  // the file's name
  std::string launch;  // of OpenCL, as launch_statement gives it
};
std::string carried_text(const OpContract& contract, std::span<const Problem> problems,
                         const CarriedText& names);

// "halmark: global = n/4, m; local = 16, 16" of a comment of the source; "" where there is none.
std::string launch_statement(const std::string& source);

// Work-items of a problem: each dimension is sizes multiplied (rows*cols), divided by what one item
// computes (/4, rounded up), and padded to a multiple of the work-group. Without a statement: one
// item per element of the first output, the work-group as the driver has it.
struct LaunchRange {
  std::vector<std::int64_t> global, local;  // local may be empty
};
// Throws Error (exit 2) with the statement and what it does not know.
LaunchRange launch_range(const std::string& statement, const OpContract& contract,
                         const Params& params);

}  // namespace halmark::judge
