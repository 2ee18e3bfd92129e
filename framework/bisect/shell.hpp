// Commands of a user and of git as contained processes: with a limit, ended at an interrupt, in the
// environment of this program.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "core/result.hpp"

namespace halmark::bisect {

struct ShellLimits {
  double seconds = 0;
  std::string option;  // that states it
  std::stop_token stop;
};

struct ShellFailure {
  std::string reason;  // "exit code 2: main.c:3: error: ..."
};

// The end of what it wrote to stdout (64 KiB). `words`: a program that PATH has, and its arguments:
// {"sh", "-c", LINE} of a line for the shell. `folder` exists. Throws Error (exit 130 or 143) when
// interrupted.
Result<std::string, ShellFailure> run_words(const std::vector<std::string>& words,
                                            const std::string& folder, const ShellLimits& limits);

}  // namespace halmark::bisect
