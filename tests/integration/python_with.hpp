// A Python with a module, for tests that a third-party reader takes part in.
#pragma once

#include <optional>
#include <string>

namespace halmark::integration {

// That of HALMARK_TEST_PYTHON, else of the build folder, else the system's; nothing where none can
// import all of `modules` ("optuna, psycopg2").
std::optional<std::string> python_with(const std::string& modules);

}  // namespace halmark::integration
