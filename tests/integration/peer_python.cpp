#include "peer_python.hpp"

#include <cstdlib>
#include <vector>

#include "process.hpp"

namespace halmark::integration {

std::optional<std::string> python_with(const std::string& modules) {
  const char* const named = std::getenv("HALMARK_PEER_PYTHON");
  const std::vector<std::string> candidates = {
      named != nullptr ? named : "", HALMARK_SOURCE_DIR "/build/venv/bin/python3", "python3"};
  for (const std::string& python : candidates) {
    if (python.empty()) continue;
    if (run({.arguments = {python, "-c", "import " + modules}}).exit_code == 0) return python;
  }
  return std::nullopt;
}

}  // namespace halmark::integration
