// halmark-guard: stands between halmark and one worker, and outlives both. As a child subreaper it
// inherits whatever the worker leaves behind, whatever sessions, groups or environments that has,
// so that nothing is left when halmark is killed at any instant. Does nothing else, and sleeps.
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "host/process/guard_protocol.hpp"

namespace {

using namespace halmark::guard;

constexpr int exit_misused = 2;
constexpr int exit_not_started = 127;

void send_note(const Note& note) {
  [[maybe_unused]] const auto sent =
      ::send(control_descriptor, &note, sizeof note, MSG_NOSIGNAL | MSG_DONTWAIT);
}

void write_once(const char* path, const char* text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = ::write(fd, text, std::strlen(text));
  ::close(fd);
}

// Only the soft limit: the supervisor lifts it again for devices whose runtimes need more.
void limit_data(rlim_t bytes) {
  rlimit current{};
  if (bytes == 0 || ::getrlimit(RLIMIT_DATA, &current) != 0) return;
  if (current.rlim_max == RLIM_INFINITY || bytes < current.rlim_max) current.rlim_cur = bytes;
  ::setrlimit(RLIMIT_DATA, &current);
}

struct Plan {
  int joins = 0;
  rlim_t data_limit = 0;
  bool has_protocol = false;
  char** program = nullptr;
};

[[noreturn]] void become_worker(const Plan& plan, pid_t guard) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != guard) ::_exit(exit_not_started);  // it died before the prctl
  for (int i = 0; i < plan.joins; ++i) {
    [[maybe_unused]] const auto joined = ::write(first_join_descriptor + i, "0", 1);
  }
  // The most there is: whatever this run's own value is, and it may be 1000 in a container, memory
  // that ends takes a worker, which is a row.
  write_once("/proc/self/oom_score_adj", "1000");
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  limit_data(plan.data_limit);
  ::execv(plan.program[0], plan.program);
  ::_exit(exit_not_started);
}

struct Process {
  pid_t pid = 0, parent = 0;
};

std::vector<Process> all_processes() {
  std::vector<Process> out;
  DIR* folder = ::opendir("/proc");
  if (folder == nullptr) return out;
  while (const dirent* entry = ::readdir(folder)) {
    char* end = nullptr;
    const long pid = std::strtol(entry->d_name, &end, 10);
    if (pid <= 0 || *end != '\0') continue;
    char path[64], text[1024];
    std::snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) continue;
    const ssize_t count = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (count <= 0) continue;
    text[count] = '\0';
    // The name is in parentheses and may hold anything, parentheses too; state and parent follow.
    const char* name_end = std::strrchr(text, ')');
    char state = 0;
    int parent = 0;
    if (name_end != nullptr && std::sscanf(name_end + 1, " %c %d", &state, &parent) == 2) {
      out.push_back({static_cast<pid_t>(pid), parent});
    }
  }
  ::closedir(folder);
  return out;
}

// Every descendant of this process: as their subreaper it is above all of them.
void kill_descendants() {
  const std::vector<Process> all = all_processes();
  std::vector<pid_t> above = {::getpid()};
  for (std::size_t i = 0; i < above.size(); ++i) {
    for (const Process& process : all) {
      if (process.parent != above[i]) continue;
      ::kill(process.pid, SIGKILL);
      above.push_back(process.pid);
    }
  }
}

class Guard {
 public:
  explicit Guard(pid_t worker, int signals) : worker_(worker), signals_(signals) {}

  int run() {
    while (true) {
      reap();
      if (is_killing_ && has_cleared()) {
        if (is_alone_) return 0;
        send_note({NoteKind::cleared, 0, 0, 0});
        is_killing_ = false;
      }
      if (is_killing_) kill_descendants();
      listen(is_killing_ ? 1 : -1);
    }
  }

 private:
  // Orphans come to us; the worker's end is told once.
  void reap() {
    while (true) {
      siginfo_t info{};
      if (::waitid(P_ALL, 0, &info, WEXITED | WNOHANG) != 0) {
        has_children_ = errno != ECHILD;
        return;
      }
      has_children_ = true;
      if (info.si_pid == 0) return;
      if (info.si_pid == worker_)
        send_note({NoteKind::ended, worker_, info.si_code, info.si_status});
    }
  }
  bool has_cleared() const { return !has_children_; }

  void listen(int timeout_ms) {
    pollfd entries[2] = {{signals_, POLLIN, 0}, {is_alone_ ? -1 : control_descriptor, POLLIN, 0}};
    if (::poll(entries, 2, timeout_ms) <= 0) return;
    if (entries[0].revents != 0) {
      signalfd_siginfo seen[8];
      [[maybe_unused]] const auto drained = ::read(signals_, seen, sizeof seen);
    }
    if (entries[1].revents == 0) return;
    char request = 0;
    const ssize_t count = ::recv(control_descriptor, &request, 1, MSG_DONTWAIT);
    if (count == 1) {
      is_killing_ = true;
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      is_killing_ = is_alone_ = true;
    }
  }

  pid_t worker_;
  int signals_;
  bool is_killing_ = false, is_alone_ = false, has_children_ = true;
};

void let_go_of_descriptors(const Plan& plan) {
  const int null_fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd < 3; ++fd) ::dup2(null_fd, fd);
  ::close(null_fd);
  if (plan.has_protocol) ::close(control_descriptor - 1);
  for (int i = 0; i < plan.joins; ++i) ::close(first_join_descriptor + i);
  [[maybe_unused]] const int moved = ::chdir("/");  // or the folder could not be unmounted
}

}  // namespace

int main(int argc, char** argv) {
  if (argc <= 1 + arguments_before_program || ::fcntl(control_descriptor, F_GETFD) < 0) {
    ::dprintf(STDERR_FILENO, "halmark-guard is started by halmark; run halmark instead\n");
    return exit_misused;
  }
  const Plan plan{.joins = std::atoi(argv[1]),
                  .data_limit = std::strtoull(argv[2], nullptr, 10),
                  .has_protocol = argv[3][0] == '1',
                  .program = argv + 1 + arguments_before_program};
  for (int fd = control_descriptor; fd < first_join_descriptor + plan.joins; ++fd) {
    ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  }
  sigset_t all, child;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::sigemptyset(&child);
  ::sigaddset(&child, SIGCHLD);
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t self = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) return exit_not_started;
  if (worker == 0) become_worker(plan, self);
  send_note({NoteKind::started, worker, 0, 0});
  let_go_of_descriptors(plan);
  return Guard(worker, signals).run();
}
