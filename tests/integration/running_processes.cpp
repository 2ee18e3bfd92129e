#include "running_processes.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace halmark::integration {
namespace {

namespace fs = std::filesystem;

// Of all processes that are not zombies.
std::vector<RunningProcess> running() {
  std::vector<RunningProcess> out;
  std::error_code gone;
  for (const auto& entry : fs::directory_iterator("/proc", gone)) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file(entry.path() / "stat");
    std::string text;
    if (!std::getline(file, text)) continue;
    // The name in parentheses may contain anything; the fields behind it are plain.
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    RunningProcess p{.pid = std::stoi(name)};
    std::string state, skipped;
    fields >> state >> p.parent;
    for (int i = 5; i < 22; ++i) fields >> skipped;
    fields >> p.start;
    if (state != "Z" && state != "X") out.push_back(p);
  }
  return out;
}

}  // namespace

std::vector<RunningProcess> descendants_of(pid_t root) {
  const std::vector<RunningProcess> all = running();
  std::vector<pid_t> parents = {root};
  std::vector<RunningProcess> out;
  for (std::size_t i = 0; i < parents.size(); ++i) {
    for (const RunningProcess& p : all) {
      if (p.parent != parents[i]) continue;
      out.push_back(p);
      parents.push_back(p.pid);
    }
  }
  return out;
}

bool is_running(const RunningProcess& wanted) {
  return std::ranges::any_of(running(), [&](const RunningProcess& p) {
    return p.pid == wanted.pid && p.start == wanted.start;
  });
}

}  // namespace halmark::integration
