// A compiler as a contained process: what it is given was written by anybody, and may never end.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/result.hpp"

namespace halmark::judge {

struct CompileLimits {
  double seconds = 60;                                // of each run of a compiler
  std::int64_t memory_bytes = std::int64_t{4} << 30;  // or less, where the run may not use that
};

// compile_failed, timed_out or out_of_memory, with the compiler's first error.
struct BuildFailure {
  Status status = Status::ok;
  std::string reason;
};

// The first of `names` that PATH has, or what the environment variable names; "" where there is
// none.
std::string find_compiler(const char* variable, const std::vector<std::string>& names);

// Its output up to the end. `program` is a path; `folder` is for its temporary files.
Result<std::string, BuildFailure> run_compiler(const std::string& program,
                                               const std::vector<std::string>& arguments,
                                               CompileLimits limits, const std::string& folder);

// The line that says what is wrong: the first with "error", else the last.
std::string first_error(const std::string& output);

}  // namespace halmark::judge
