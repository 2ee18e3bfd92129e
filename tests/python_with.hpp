// A Python with a module, for tests that a third-party reader takes part in.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

#include "tests/checkout.hpp"

namespace halmark::test {

// That of HALMARK_PEER_PYTHON, else of the build folder, else the system's: the first that imports
// all of `modules` ("optuna, psycopg2"); nothing where none does.
inline std::optional<std::string> python_with(const std::string& modules) {
  const char* const named = std::getenv("HALMARK_PEER_PYTHON");
  for (const std::string& python :
       {std::string(named != nullptr ? named : ""), test::in_source("/build/venv/bin/python3"),
        std::string("/usr/bin/python3"), std::string("python3")}) {
    if (python.empty()) continue;
    const std::string test = '\'' + python + "' -c 'import " + modules + "' 2>/dev/null";
    if (std::system(test.c_str()) == 0) return python;
  }
  return std::nullopt;
}

}  // namespace halmark::test
