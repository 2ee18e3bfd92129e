#include "host/process/contained_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <random>

#include "core/text/error.hpp"
#include "core/version.hpp"
#include "host/process/cgroup.hpp"
#include "host/process/descendants.hpp"

namespace halmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr off_t log_bytes_kept = 64 << 10;
constexpr off_t log_bytes_max = 4 << 20;
constexpr rlim_t open_files_max = 4096;
constexpr int exit_code_not_started = 127;

// Everything the child needs, made before the fork: after it only async-signal-safe calls are
// allowed, because another thread of the parent may hold any lock.
struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const cpu_set_t* cpus = nullptr;
  std::size_t cpu_bytes = 0;
  int log_fd = -1, protocol_fd = -1;
  const int* join_fds = nullptr;
  std::size_t join_count = 0;
  rlim_t address_space = 0;  // 0 = unlimited
  bool keep_core = false;
  pid_t parent = 0;
};

void limit(int resource, rlim_t value) {
  rlimit current{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &current) != 0) return;
  current.rlim_max = std::min(current.rlim_max, value);
  current.rlim_cur = current.rlim_max;
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &current);
}

void raise_oom_score() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  [[maybe_unused]] const auto written = ::write(fd, "500", 3);
  ::close(fd);
}

// Descriptors are first moved out of the way: any of them may have the number of another's target.
void place_descriptors(const ChildPlan& plan) {
  const int null_fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int log = ::fcntl(plan.log_fd, F_DUPFD_CLOEXEC, 16);
  const int null_high = ::fcntl(null_fd, F_DUPFD_CLOEXEC, 16);
  const int socket = plan.protocol_fd >= 0 ? ::fcntl(plan.protocol_fd, F_DUPFD_CLOEXEC, 16) : -1;
  ::dup2(null_high, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  unsigned first_closed = 3;
  if (socket >= 0) {
    ::dup2(socket, protocol::worker_descriptor);
    first_closed = static_cast<unsigned>(protocol::worker_descriptor) + 1;
  }
  if (::syscall(SYS_close_range, first_closed, ~0u, 0u) != 0) {
    for (unsigned fd = first_closed; fd < open_files_max; ++fd) ::close(static_cast<int>(fd));
  }
}

[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setsid();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.parent) ::_exit(exit_code_not_started);  // it died before the prctl
  for (std::size_t i = 0; i < plan.join_count; ++i) {
    [[maybe_unused]] const auto joined = ::write(plan.join_fds[i], "0", 1);
  }
  raise_oom_score();
  if (plan.cpus) ::sched_setaffinity(0, plan.cpu_bytes, plan.cpus);
  if (!plan.keep_core) limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, open_files_max);
  if (plan.address_space > 0) limit(RLIMIT_AS, plan.address_space);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGINT, SIG_IGN);  // the parent decides how an interrupted run ends
  ::signal(SIGPIPE, SIG_DFL);
  place_descriptors(plan);
  ::execve(plan.program, plan.arguments, plan.environment);
  ::_exit(exit_code_not_started);
}

std::string random_name() {
  std::random_device device;
  constexpr char digits[] = "0123456789abcdef";
  std::string name;
  for (int i = 0; i < 16; ++i) name += digits[device() & 15];
  return name;
}

FileDescriptor open_log(const std::string& path) {
  constexpr int flags = O_RDWR | O_APPEND | O_CLOEXEC;
  if (!path.empty()) {
    FileDescriptor fd(::open(path.c_str(), flags | O_CREAT, 0600));
    if (!fd) throw Error(ExitCode::error, "cannot write the worker log", path);
    return fd;
  }
  const char* folder = std::getenv("TMPDIR");
  FileDescriptor fd(::open(folder && *folder ? folder : "/tmp", flags | O_TMPFILE, 0600));
  if (!fd) {
    fd = FileDescriptor(::memfd_create("halmark-log", MFD_CLOEXEC));
    if (fd) ::fcntl(fd.get(), F_SETFL, O_APPEND);
  }
  if (!fd) throw unfit("no temporary file can be made for a worker's output", "set TMPDIR");
  return fd;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

struct CpuMask {
  cpu_set_t* set = nullptr;
  std::size_t bytes = 0;
  explicit CpuMask(const CpuSet& cpus) {
    if (cpus.cpus.empty()) return;
    const auto count = static_cast<std::size_t>(cpus.cpus.back()) + 1;
    set = CPU_ALLOC(count);
    bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set);
    for (int cpu : cpus.cpus) CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
  }
  CpuMask(const CpuMask&) = delete;
  CpuMask& operator=(const CpuMask&) = delete;
  ~CpuMask() {
    if (set) CPU_FREE(set);
  }
};

bool wait_readable(int fd, const protocol::Deadline& deadline) {
  while (true) {
    int timeout_ms = -1;
    if (deadline) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(*deadline - Clock::now());
      timeout_ms = static_cast<int>(std::clamp<long long>(left.count(), 0, 1 << 30));
    }
    pollfd entry{fd, POLLIN, 0};
    const int count = ::poll(&entry, 1, timeout_ms);
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno != EINTR) return false;
  }
}

}  // namespace

struct ContainedProcess::Cgroup {
  std::unique_ptr<ProcessCgroup> group;
};

ContainmentLevel containment_level() {
  const CgroupPlaces& places = cgroup_places();
  if (!places.unified.empty() && places.has_memory_v2) return ContainmentLevel::cgroup_v2;
  if (!places.unified.empty()) return ContainmentLevel::hybrid;
  return ContainmentLevel::none;
}

std::string_view containment_text(ContainmentLevel level) {
  switch (level) {
    case ContainmentLevel::none:
      return "process group, subreaper sweep and address-space limit";
    case ContainmentLevel::hybrid:
      return "cgroup kill, memory limit by v1 where writable";
    case ContainmentLevel::cgroup_v2:
      return "cgroup v2 kill and memory limit";
  }
  return "";
}

std::string ExitCause::text() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

std::unique_ptr<ContainedProcess> ContainedProcess::start(const ProcessSpec& spec) {
  if (::access(spec.program.c_str(), X_OK) != 0) {
    throw unfit("cannot run " + spec.program, "build or install it beside halmark");
  }
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::unique_ptr<ContainedProcess> process(new ContainedProcess);
  process->tag_ = "HALMARK_CONTAINED=" + random_name();
  process->is_launcher_ = spec.is_launcher;
  process->log_ = open_log(spec.log_path);
  process->cgroup_ = std::make_unique<Cgroup>();
  if (spec.use_cgroup) process->cgroup_->group = ProcessCgroup::create(spec.memory_limit_bytes);

  std::vector<std::string> arguments{spec.program};
  arguments.insert(arguments.end(), spec.arguments.begin(), spec.arguments.end());
  std::vector<std::string> environment{process->tag_};
  for (const auto& [key, value] : spec.environment) environment.push_back(key + "=" + value);
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const CpuMask mask(spec.cpus);
  const ProcessCgroup* group = process->cgroup_->group.get();
  const std::vector<int> joins = group ? group->join_fds() : std::vector<int>();

  ChildPlan plan;
  plan.program = spec.program.c_str();
  plan.arguments = argument_pointers.data();
  plan.environment = environment_pointers.data();
  plan.cpus = mask.set;
  plan.cpu_bytes = mask.bytes;
  plan.log_fd = process->log_.get();
  plan.protocol_fd = spec.protocol_fd;
  plan.join_fds = joins.data();
  plan.join_count = joins.size();
  plan.keep_core = spec.keep_core;
  plan.parent = ::getpid();
  // Sanitizers reserve terabytes of address space; a limit would stop the child at once.
  const bool sanitized = build_sanitizer[0] != '\0';
  if (spec.memory_limit_bytes > 0 && spec.limit_address_space && !sanitized &&
      !(group && group->bounds_memory())) {
    plan.address_space = static_cast<rlim_t>(spec.memory_limit_bytes);
  }

  const pid_t pid = ::fork();
  if (pid < 0) throw unfit("cannot start a worker process: " + std::string(std::strerror(errno)));
  if (pid == 0) run_child(plan);
  process->pid_ = pid;
  // The child is not reaped before we do it, so its number cannot be reused here.
  process->pidfd_ = FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!process->pidfd_) throw unfit("this kernel has no pidfd (Linux 5.3 or newer is needed)");
  return process;
}

ContainedProcess::~ContainedProcess() {
  if (pid_ > 0) kill_all();
}

void ContainedProcess::note_exit() {
  siginfo_t info{};
  if (::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid != pid_) {
    return;
  }
  ExitCause cause;
  if (info.si_code == CLD_EXITED) {
    cause.code = info.si_status;
  } else {
    cause.signal = info.si_status;
  }
  if (is_launcher_ && cause.code > 128 && cause.code <= 128 + SIGRTMAX) {
    cause.signal = cause.code - 128;
    cause.code = 0;
  }
  const ProcessCgroup* group = cgroup_->group.get();
  cause.out_of_memory = group && group->oom_kills() > 0;
  cause.killed_by_us = killed_ && cause.signal == SIGKILL && !cause.out_of_memory;
  exit_ = cause;
}

bool ContainedProcess::running() {
  if (!exit_) note_exit();
  return !exit_;
}

std::optional<ExitCause> ContainedProcess::wait(protocol::Deadline deadline) {
  if (!exit_ && wait_readable(pidfd_.get(), deadline)) note_exit();
  return exit_;
}

void ContainedProcess::find_more() {
  for (const Descendant& descendant : find_descendants(pid_, tag_)) {
    if (descendant.pid != pid_) known_.emplace(descendant.pid, descendant.start_ticks);
  }
}

// The leader stays a zombie until the end: its number then still names its session and group.
bool ContainedProcess::sweep() {
  find_more();
  for (auto next = known_.begin(); next != known_.end();) {
    const auto [pid, start_ticks] = *next;
    if (start_ticks_of(pid) == start_ticks) {
      ::kill(pid, SIGKILL);
      ::waitpid(pid, nullptr, WNOHANG);  // orphans came to us; others are reaped by their parent
    }
    next = start_ticks_of(pid) == start_ticks ? std::next(next) : known_.erase(next);
  }
  return known_.empty();
}

bool ContainedProcess::kill_all() {
  if (settled_) return true;
  if (!exit_) note_exit();
  killed_ = killed_ || !exit_;
  const ProcessCgroup* group = cgroup_->group.get();
  // The usual end costs no search of /proc: it left by itself and its group says that nobody
  // stayed.
  if (exit_ && group && group->watches_processes() && group->is_empty()) {
    ::waitpid(pid_, nullptr, WNOHANG);
    settled_ = true;
    return true;
  }
  // Before the kill: a process that is dying has no environment left by which to recognise it.
  find_more();
  if (!exit_) {
    ::syscall(SYS_pidfd_send_signal, pidfd_.get(), SIGKILL, nullptr, 0);
    ::kill(-pid_, SIGKILL);
  }
  if (group) group->kill();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto give_up = Clock::now() + std::chrono::seconds(2);
    wait(give_up);
    while (Clock::now() < give_up) {
      if (sweep() && exit_ && (!group || group->is_empty())) {
        ::waitpid(pid_, nullptr, WNOHANG);
        settled_ = true;
        return true;
      }
      if (!exit_) note_exit();
      ::poll(nullptr, 0, 1);  // killed processes need a moment to become zombies
    }
    if (group) group->kill();
  }
  return false;
}

std::string ContainedProcess::log_tail() {
  struct stat status {};
  if (::fstat(log_.get(), &status) != 0) return log_kept_;
  const off_t begin = std::max<off_t>(0, status.st_size - log_bytes_kept);
  std::string tail(static_cast<std::size_t>(status.st_size - begin), '\0');
  const ssize_t count = ::pread(log_.get(), tail.data(), tail.size(), begin);
  tail.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  std::string text = log_kept_ + tail;
  if (text.size() > static_cast<std::size_t>(log_bytes_kept)) {
    text.erase(0, text.size() - static_cast<std::size_t>(log_bytes_kept));
  }
  return text;
}

void ContainedProcess::trim_log() {
  struct stat status {};
  if (::fstat(log_.get(), &status) != 0 || status.st_size <= log_bytes_max) return;
  log_kept_ = log_tail();
  // The child appends, so it goes on at the new end.
  [[maybe_unused]] const int cut = ::ftruncate(log_.get(), 0);
}

}  // namespace halmark
