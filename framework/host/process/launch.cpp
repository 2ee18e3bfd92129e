// The fork of a process that may have threads: between fork and exec only async-signal-safe calls
// are allowed, because another thread of the parent may hold any lock. All else is made before it,
// or by the guard, which is a program of its own.
#include "host/process/launch.hpp"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "host/process/guard_protocol.hpp"
#include "host/process/program.hpp"

namespace halmark {
namespace {

constexpr rlim_t open_files_max = 4096;
constexpr int exit_code_not_started = 127;

struct ChildPlan {
  const char* program = nullptr;
  char* const* arguments = nullptr;
  char* const* environment = nullptr;
  const cpu_set_t* cpus = nullptr;
  std::size_t cpu_bytes = 0;
  int log_fd = -1, protocol_fd = -1, control_fd = -1;
  const int* join_fds = nullptr;
  int join_count = 0;
  bool keep_core = false;
};

void limit(int resource, rlim_t value) {
  rlimit current{};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &current) != 0) return;
  current.rlim_max = std::min(current.rlim_max, value);
  current.rlim_cur = current.rlim_max;
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &current);
}

// Descriptors are first moved out of the way: any of them may have the number of another's target.
void place_descriptors(const ChildPlan& plan) {
  constexpr int joins_max = 4;
  const auto away = [](int fd) { return fd >= 0 ? ::fcntl(fd, F_DUPFD_CLOEXEC, 16) : -1; };
  const int null_fd = away(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const int log = away(plan.log_fd), socket = away(plan.protocol_fd);
  const int control = away(plan.control_fd);
  int joins[joins_max];
  const int join_count = std::min(plan.join_count, joins_max);
  for (int i = 0; i < join_count; ++i) joins[i] = away(plan.join_fds[i]);
  ::dup2(null_fd, STDIN_FILENO);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  if (socket >= 0) {
    ::dup2(socket, protocol::worker_descriptor);
  } else {
    ::close(protocol::worker_descriptor);
  }
  ::dup2(control, guard::control_descriptor);
  for (int i = 0; i < join_count; ++i) ::dup2(joins[i], guard::first_join_descriptor + i);
  const auto first_closed = static_cast<unsigned>(guard::first_join_descriptor + join_count);
  if (::syscall(SYS_close_range, first_closed, ~0u, 0u) != 0) {
    for (unsigned fd = first_closed; fd < open_files_max; ++fd) ::close(static_cast<int>(fd));
  }
}

// A session of its own: what a terminal or a shell sends to the supervisor's group does not end the
// guard, which is to outlive it.
[[noreturn]] void run_child(const ChildPlan& plan) {
  ::setsid();
  if (plan.cpus) ::sched_setaffinity(0, plan.cpu_bytes, plan.cpus);
  if (!plan.keep_core) limit(RLIMIT_CORE, 0);
  limit(RLIMIT_NOFILE, open_files_max);
  ::signal(SIGINT, SIG_IGN);  // the parent decides how an interrupted run ends
  ::signal(SIGPIPE, SIG_DFL);
  place_descriptors(plan);
  ::execve(plan.program, plan.arguments, plan.environment);
  ::_exit(exit_code_not_started);
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
    const auto count = as_size(cpus.cpus.back()) + 1;
    set = CPU_ALLOC(count);
    bytes = CPU_ALLOC_SIZE(count);
    CPU_ZERO_S(bytes, set);
    for (int cpu : cpus.cpus) CPU_SET_S(as_size(cpu), bytes, set);
  }
  CpuMask(const CpuMask&) = delete;
  CpuMask& operator=(const CpuMask&) = delete;
  ~CpuMask() {
    if (set) CPU_FREE(set);
  }
};

}  // namespace

Launched launch_guarded(const ProcessSpec& spec, std::vector<std::string> environment, int log_fd,
                        std::span<const int> joins, std::int64_t data_limit_bytes) {
  static_assert(guard::control_descriptor == protocol::worker_descriptor + 1);
  const std::string program = program_beside("halmark-guard");
  if (::access(program.c_str(), X_OK) != 0) {
    throw unfit("cannot run " + program, "build or install it beside halmark");
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw unfit("no socket pair can be made: " + std::string(std::strerror(errno)));
  }
  Launched out{.guard = -1, .control = FileDescriptor(ends[0])};
  const FileDescriptor theirs(ends[1]);
  std::vector<std::string> arguments = {program, std::to_string(joins.size()),
                                        std::to_string(data_limit_bytes),
                                        spec.protocol_fd >= 0 ? "1" : "0", spec.program};
  arguments.insert(arguments.end(), spec.arguments.begin(), spec.arguments.end());
  const auto argument_pointers = pointers(arguments);
  const auto environment_pointers = pointers(environment);
  const CpuMask mask(spec.cpus);
  const ChildPlan plan{.program = program.c_str(),
                       .arguments = argument_pointers.data(),
                       .environment = environment_pointers.data(),
                       .cpus = mask.set,
                       .cpu_bytes = mask.bytes,
                       .log_fd = log_fd,
                       .protocol_fd = spec.protocol_fd,
                       .control_fd = theirs.get(),
                       .join_fds = joins.data(),
                       .join_count = static_cast<int>(joins.size()),
                       .keep_core = spec.keep_core};
  out.guard = ::fork();
  if (out.guard < 0) {
    throw unfit("cannot start a worker process: " + std::string(std::strerror(errno)));
  }
  if (out.guard == 0) run_child(plan);
  return out;
}

}  // namespace halmark
