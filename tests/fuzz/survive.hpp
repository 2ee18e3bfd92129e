// What every fed reader may do with its input: read it, or refuse it.
#pragma once

#include <stdexcept>
#include <string>

#include "core/text/error.hpp"

namespace halmark::fuzz {

// A refusal is one line and exit code 2; every other exception passes through and ends the fuzzer.
template <class Action>
void survive(Action action) {
  try {
    action();
  } catch (const Error& error) {
    if (error.exit_code() != ExitCode::refused) throw;
    if (error.line().find('\n') != std::string::npos || error.line().empty()) {
      throw std::logic_error("a refusal is not one line");
    }
  }
}

}  // namespace halmark::fuzz
