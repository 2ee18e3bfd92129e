#include "child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "core/text/error.hpp"

extern char** environ;

namespace halmark::bench {

double monotonic_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::nano>(now).count();
}

ChildRun run_program(std::vector<std::string> command, const std::string& out) {
  std::vector<char*> arguments;
  for (std::string& argument : command) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t pid = 0;
  const double begin_ns = monotonic_ns();
  const int failure = posix_spawn(&pid, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw unfit("cannot run " + command[0] + ": " + std::strerror(failure), "build it first");
  }
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  const double wall_ns = monotonic_ns() - begin_ns;
  return {wall_ns, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status)};
}

ScratchFolder::ScratchFolder(const std::filesystem::path& parent) {
  std::string name = (parent / "bench-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) {
    throw Error(ExitCode::error, "cannot make a folder", parent.string());
  }
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace halmark::bench
