// Programs of this build, run as a user would run them; and a folder that goes away.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace halmark::bench {

struct ChildRun {
  double wall_ns = 0;  // from before the spawn to the exit seen by us
  int exit_code = 0;   // 128 + signal when a signal ended it
};

// stdout goes into `out`, which is made; stderr is ours. Throws Error (exit 5) when the program
// cannot be started.
ChildRun run_program(std::vector<std::string> command, const std::string& out = "/dev/null");

// Lies in the build tree: a temporary folder may be memory, where a durable write costs nothing.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

double monotonic_ns();

}  // namespace halmark::bench
