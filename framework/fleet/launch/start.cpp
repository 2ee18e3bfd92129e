// Programs of the user's own: with the whole environment, so that keys and passwords are found.
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/text/error.hpp"
#include "fleet/launch/launch.hpp"
#include "host/process/file_descriptor.hpp"

extern char** environ;

namespace halmark::fleet {
namespace {

struct Output {
  int code = 0;
  std::string text;  // of stdout and stderr
};

// A file in memory: unlike a pipe, it raises no SIGPIPE where a program ends without reading its
// input (sbatch that refuses its options), and is not waited for where something that was started
// keeps its output open.
FileDescriptor file_of(const std::string& text) {
  FileDescriptor file(::memfd_create("halmark-words", MFD_CLOEXEC));
  if (!file ||
      ::pwrite(file.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) {
    throw Error(ExitCode::error, std::string("no file in memory: ") + std::strerror(errno));
  }
  return file;
}

std::string text_of(const FileDescriptor& file) {
  std::string text;
  std::array<char, 4096> some{};
  for (ssize_t n = 0;
       (n = ::pread(file.get(), some.data(), some.size(), static_cast<off_t>(text.size()))) > 0;) {
    text.append(some.data(), static_cast<std::size_t>(n));
  }
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Output run_program(std::vector<std::string> words, const std::string& input) {
  const FileDescriptor in = file_of(input), out = file_of({});
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.get(), 0);
  posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, out.get(), 2);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const int failure =
      ::posix_spawnp(&pid, arguments.front(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    throw unfit("'" + words.front() + "' cannot be started: " + std::strerror(failure),
                "install it, or print what it would get with --print");
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0) {
    if (errno == EINTR) continue;
    throw Error(ExitCode::error, "'" + words.front() + "': " + std::strerror(errno));
  }
  return {.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128, .text = text_of(out)};
}

}  // namespace

Started submit_to_slurm(const LaunchRequest& request) {
  const Output out = run_program({"sbatch", "--parsable"}, slurm_script(request));
  if (out.code != 0) return {.place = "slurm", .detail = out.text};
  return {.place = "job " + out.text, .detail = "queued", .is_ok = true};
}

std::vector<Started> start_by_ssh(const LaunchRequest& request) {
  std::vector<Started> all;
  for (const std::string& host : request.hosts) {
    if (host.empty() || host.front() == '-') {
      throw refused("'" + host + "' is no host", "--ssh");  // ssh would take it as an option
    }
    const Output out = run_program({"ssh", "-o", "BatchMode=yes", host, ssh_line(request)}, {});
    all.push_back({.place = host,
                   .detail = out.code == 0 ? "pid " + out.text : out.text,
                   .is_ok = out.code == 0});
  }
  return all;
}

}  // namespace halmark::fleet
