#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <stdexcept>

namespace halmark::integration {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Ends {
  int read = -1, write = -1;
};

Ends make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error(std::strerror(errno));
  return {ends[0], ends[1]};
}

Ends make_terminal(int columns) {
  winsize size{};
  size.ws_col = static_cast<unsigned short>(columns);
  size.ws_row = 24;
  Ends out;
  if (openpty(&out.read, &out.write, nullptr, nullptr, &size) != 0) {
    throw std::runtime_error(std::strerror(errno));
  }
  fcntl(out.read, F_SETFD, FD_CLOEXEC);
  fcntl(out.write, F_SETFD, FD_CLOEXEC);
  return out;
}

// Between fork and exec only what is safe there.
[[noreturn]] void become(const std::vector<char*>& arguments, const std::vector<char*>& environment,
                         const char* folder, int in, int out, int err) {
  setpgid(0, 0);
  dup2(in >= 0 ? in : open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  // A handler of the test program must not survive in the child as an ignored signal.
  for (const int number : {SIGPIPE, SIGINT, SIGTERM}) signal(number, SIG_DFL);
  if (*folder != '\0' && chdir(folder) != 0) _exit(126);
  execvpe(arguments.front(), arguments.data(), environment.data());
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

std::vector<std::string> merged(const std::map<std::string, std::string>& added) {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    if (!added.contains(text.substr(0, text.find('=')))) out.push_back(text);
  }
  for (const auto& [name, value] : added) out.push_back(name + '=' + value);
  return out;
}

// Appends what is there; false at the end of the stream. A terminal whose other side is closed
// answers EIO.
bool drain(int fd, std::string& text) {
  std::array<char, 65536> buffer{};
  const ssize_t n = read(fd, buffer.data(), buffer.size());
  if (n > 0) text.append(buffer.data(), static_cast<std::size_t>(n));
  return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

}  // namespace

Process::Process(const Launch& launch) : deadline_s_(now_s() + launch.limit_s) {
  std::vector<std::string> arguments = launch.arguments;
  std::vector<std::string> environment = merged(launch.environment);
  const std::vector<char*> argv = pointers(arguments), envp = pointers(environment);
  const Ends out = launch.stdout_columns > 0 ? make_terminal(launch.stdout_columns) : make_pipe();
  const Ends err =
      launch.terminal_columns > 0 ? make_terminal(launch.terminal_columns) : make_pipe();
  // Before there is a child: a quick one would write while this end still reads.
  if (launch.closes_stdout) close(out.read);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error(std::strerror(errno));
  if (pid_ == 0) become(argv, envp, launch.folder.c_str(), launch.input, out.write, err.write);
  setpgid(pid_, pid_);
  close(out.write);
  close(err.write);
  out_ = launch.closes_stdout ? -1 : out.read;
  err_ = err.read;
}

Process::~Process() {
  if (!is_reaped_) {
    signal_group(SIGKILL);
    reap(true);
  }
  for (const int fd : {out_, err_}) {
    if (fd >= 0) close(fd);
  }
}

int Process::left_ms() const {
  return static_cast<int>(std::clamp((deadline_s_ - now_s()) * 1000, 0.0, 1e6));
}

bool Process::pump(int timeout_ms) {
  std::array<pollfd, 2> fds = {pollfd{out_, POLLIN, 0}, pollfd{err_, POLLIN, 0}};
  if (out_ < 0 && err_ < 0) return false;
  if (poll(fds.data(), fds.size(), timeout_ms) <= 0) return true;
  if (fds[0].revents != 0 && !drain(out_, outcome_.out)) {
    close(out_);
    out_ = -1;
  }
  if (fds[1].revents != 0 && !drain(err_, outcome_.err)) {
    close(err_);
    err_ = -1;
  }
  return true;
}

bool Process::await_lines(const std::string& text, std::size_t count) {
  const auto seen = [&] {
    std::size_t n = 0;
    std::istringstream lines(outcome_.err);
    for (std::string line; std::getline(lines, line) && !lines.eof();) {
      n += line.find(text) != std::string::npos ? 1 : 0;
    }
    return n;
  };
  while (seen() < count) {
    if (left_ms() == 0 || !pump(left_ms())) return seen() >= count;
  }
  return true;
}

void Process::signal(int number) const { kill(pid_, number); }

void Process::signal_group(int number) const { kill(-pid_, number); }

void Process::reap(bool block) {
  int status = 0;
  rusage used{};
  if (is_reaped_ || wait4(pid_, &status, block ? 0 : WNOHANG, &used) != pid_) return;
  for (const timeval& part : {used.ru_utime, used.ru_stime}) {
    outcome_.cpu_s += static_cast<double>(part.tv_sec) + 1e-6 * static_cast<double>(part.tv_usec);
  }
  outcome_.resident_kib = used.ru_maxrss;
  is_reaped_ = true;
  if (WIFEXITED(status)) outcome_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) outcome_.signal = WTERMSIG(status);
}

Outcome Process::wait() {
  while (left_ms() > 0 && pump(left_ms())) {
  }
  if (left_ms() == 0) {
    outcome_.timed_out = true;
    signal_group(SIGKILL);
  }
  reap(true);
  return outcome_;
}

Outcome run(const Launch& launch) { return Process(launch).wait(); }

std::optional<std::string> found_program(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string full = folder + '/' + name;
    if (access(full.c_str(), X_OK) == 0) return full;
  }
  return std::nullopt;
}

std::optional<std::string> found_browser() {
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    if (auto found = found_program(name)) return found;
  }
  return std::nullopt;
}

}  // namespace halmark::integration
