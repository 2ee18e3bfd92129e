#include "pages/serve/sweep/sweep_process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "core/json/json.hpp"
#include "core/text/error.hpp"

extern char** environ;

namespace halmark::pages {
namespace {

constexpr std::size_t lines_max = 12, line_bytes_max = 4096;

// Signals of a terminal reach the server, which passes on what it means: the child has a group of
// its own, and begins without what the server ignores or blocks.
pid_t spawned(std::vector<std::string>& arguments, int error_end) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_RDWR, 0);
  posix_spawn_file_actions_adddup2(&actions, error_end, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  sigdelset(&all, SIGKILL);
  sigdelset(&all, SIGSTOP);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words[0], &actions, &attributes, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw unfit("cannot start " + arguments[0] + ": " + std::strerror(error));
  return pid;
}

std::string outcome_of(int status, bool is_stopped) {
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  const int code = WEXITSTATUS(status);
  if (code == 0) return "complete";
  if (is_stopped && code == 130) return "stopped; resume continues where it was";
  return "exit code " + std::to_string(code);
}

}  // namespace

SweepProcess::SweepProcess(std::string name, std::vector<std::string> arguments)
    : name_(std::move(name)) {
  int ends[2] = {-1, -1};
  if (pipe2(ends, O_CLOEXEC) != 0) throw unfit("the system gives no pipe");
  try {
    pid_ = spawned(arguments, ends[1]);
  } catch (const Error&) {
    close(ends[0]);
    close(ends[1]);
    throw;
  }
  close(ends[1]);
  out_ = ends[0];
  fcntl(out_, F_SETFL, O_NONBLOCK);
}

SweepProcess::~SweepProcess() {
  stop();
  // A sample may take its wall cap to end; then it is left to its guard.
  for (int i = 0; i < 200 && is_running(); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  if (is_running()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, &status_, 0);
  }
  close(out_);
}

void SweepProcess::stop() {
  if (!is_running()) return;
  is_stopped_ = true;
  kill(pid_, SIGINT);
}

bool SweepProcess::is_running() {
  if (is_ended_) return false;
  read();
  is_ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  if (is_ended_) read();
  return !is_ended_;
}

void SweepProcess::read() {
  char buffer[16384];
  for (;;) {
    const ssize_t got = ::read(out_, buffer, sizeof buffer);
    if (got <= 0) return;
    partial_.append(buffer, static_cast<std::size_t>(got));
    for (std::size_t end; (end = partial_.find('\n')) != std::string::npos;) {
      take_line(partial_.substr(0, end));
      partial_.erase(0, end + 1);
    }
    if (partial_.size() > line_bytes_max) partial_.clear();
  }
}

void SweepProcess::take_line(const std::string& line) {
  if (line.starts_with('{')) {
    try {
      const Json said = parse_json(line, "progress");
      if (said.value("event", "") == "trial") {
        done_ = said.at("done").get<std::size_t>();
        total_ = said.at("total").get<std::size_t>();
        failed_ = said.at("failed").get<std::size_t>();
        subject_ = said.at("subject").get<std::string>();
        left_s_ = said.at("eta_s").is_number() ? said.at("eta_s").get<double>() : -1;
        return;
      }
    } catch (const std::exception&) {
      // A line that only looks like progress is shown as it is.
    }
  }
  if (line.empty()) return;
  lines_.push_back(printable(line));
  if (lines_.size() > lines_max) lines_.erase(lines_.begin());
}

Json SweepProcess::progress() {
  const bool runs = is_running();
  return {{"name", name_},
          {"is_running", runs},
          {"is_ours", true},
          {"done", done_},
          {"total", total_},
          {"failed", failed_},
          {"subject", subject_},
          {"left_s", left_s_},
          {"lines", lines_},
          {"outcome", runs ? "" : outcome_of(status_, is_stopped_)},
          {"can_resume", !runs && (is_stopped_ || status_ != 0)}};
}

}  // namespace halmark::pages
