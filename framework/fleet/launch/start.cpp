// Programs of the user's own: with the whole environment, so that keys and passwords are found.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "core/text/error.hpp"
#include "fleet/launch/launch.hpp"

extern char** environ;

namespace halmark::fleet {
namespace {

struct Output {
  int code = 0;
  std::string text;  // of stdout and stderr
};

struct Pipe {
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
      throw Error(ExitCode::error, std::string("no pipe: ") + std::strerror(errno));
    }
  }
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  void close_end(std::size_t i) {
    if (ends.at(i) >= 0) ::close(ends.at(i));
    ends.at(i) = -1;
  }
  std::array<int, 2> ends{-1, -1};
};

void write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n <= 0) return;  // it has ended, and says why
    at += static_cast<std::size_t>(n);
  }
}

// Scripts are shorter than what a pipe holds, so that neither side waits for the other.
Output run_program(std::vector<std::string> words, const std::string& input) {
  Pipe in, out;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.ends[0], 0);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, out.ends[1], 2);
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
  out.close_end(1);
  in.close_end(0);
  write_all(in.ends[1], input);
  in.close_end(1);
  Output result;
  std::array<char, 4096> some{};
  for (ssize_t n = 0; (n = ::read(out.ends[0], some.data(), some.size())) > 0;) {
    result.text.append(some.data(), static_cast<std::size_t>(n));
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  result.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  while (!result.text.empty() && result.text.back() == '\n') result.text.pop_back();
  return result;
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
