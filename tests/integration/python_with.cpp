#include "python_with.hpp"

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "process.hpp"

namespace halmark::integration {

std::optional<std::string> python_with(const std::string& modules) {
  std::vector<std::string> candidates = {HALMARK_SOURCE_DIR "/build/venv/bin/python3",
                                         "/usr/bin/python3", "python3"};
  if (const char* named = std::getenv("HALMARK_TEST_PYTHON")) candidates = {named};
  for (const std::string& python : candidates) {
    if (python.front() == '/' && !std::filesystem::exists(python)) continue;
    Launch launch;
    launch.arguments = {python, "-c", "import " + modules};
    if (run(launch).exit_code == 0) return python;
  }
  return std::nullopt;
}

}  // namespace halmark::integration
