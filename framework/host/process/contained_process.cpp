// A guard stands between us and the process (guard_main.cpp): it tells how the process ended, and
// ends what that left behind, on request or when we are gone.
#include "host/process/contained_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "host/process/cgroup.hpp"
#include "host/process/descendants.hpp"
#include "host/process/guard_protocol.hpp"
#include "host/process/launch.hpp"
#include "host/process/leftovers.hpp"
#include "host/process/out_of_memory.hpp"

namespace halmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr off_t log_bytes_kept = 64 << 10;
constexpr off_t log_bytes_max = 4 << 20;
constexpr double start_s = 20;

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
      return "a guard (subreaper) outlives halmark; data-segment limit";
    case ContainmentLevel::hybrid:
      return "cgroup kill, memory limit by v1 where writable; a guard (subreaper) outlives halmark";
    case ContainmentLevel::cgroup_v2:
      return "cgroup v2 kill and memory limit; a guard (subreaper) outlives halmark";
  }
  return "";
}

std::string_view memory_limit_means() {
  const CgroupPlaces& places = cgroup_places();
  if (places.has_memory_v2) return "cgroup v2";
  if (!places.memory_v1.empty()) return "cgroup v1";
  return build_sanitizer[0] == '\0' ? "RLIMIT_DATA" : "none: a sanitizer build";
}

std::string ExitCause::text() const {
  if (signal == 0) return "exit code " + std::to_string(code);
  return "signal " + std::to_string(signal) + " (" + ::strsignal(signal) + ")";
}

std::unique_ptr<ContainedProcess> ContainedProcess::start(const ProcessSpec& spec) {
  if (::access(spec.program.c_str(), X_OK) != 0) {
    throw unfit("cannot run " + spec.program, "build or install it beside halmark");
  }
  [[maybe_unused]] static const int ended = end_leftovers();
  // Should a guard be killed, what it held comes to us.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  std::unique_ptr<ContainedProcess> process(new ContainedProcess);
  process->tag_ = new_containment_tag();
  process->is_launcher_ = spec.is_launcher;
  process->limit_bytes_ = spec.memory_limit_bytes;
  process->log_ = open_log(spec.log_path);
  process->cgroup_ = std::make_unique<Cgroup>();
  if (spec.use_cgroup) {
    process->cgroup_->group = ProcessCgroup::create(spec.memory_limit_bytes * spec.processes);
  }
  const ProcessCgroup* group = process->cgroup_->group.get();
  const std::vector<int> joins = group ? group->join_fds() : std::vector<int>();
  std::vector<std::string> environment{process->tag_};
  for (const auto& [key, value] : spec.environment) environment.push_back(key + "=" + value);
  // Sanitizers map terabytes of shadow memory; a limit would stop the child at once.
  const bool sanitized = build_sanitizer[0] != '\0';
  const bool limits_data = spec.limit_data && !sanitized && !(group && group->bounds_memory());
  process->oom_kills_at_start_ = kernel_oom_kills();
  Launched launched = launch_guarded(spec, std::move(environment), process->log_.get(), joins,
                                     limits_data ? spec.memory_limit_bytes : 0);
  process->guard_ = launched.guard;
  process->control_ = std::move(launched.control);
  const auto deadline = protocol::deadline_after(start_s);
  while (process->pid_ < 0 && process->has_guard_) {
    if (!process->take_note(deadline) && process->pid_ < 0) process->lose_guard();
  }
  if (process->pid_ < 0) throw unfit("the guard of a worker process could not start");
  return process;
}

ContainedProcess::~ContainedProcess() {
  if (guard_ > 0 && !settled_) kill_all();
  control_.reset();
  release_guard();
}

// One note of the guard, if it comes in time.
bool ContainedProcess::take_note(protocol::Deadline deadline) {
  if (!has_guard_ || !wait_readable(control_.get(), deadline)) return false;
  guard::Note note;
  const ssize_t count = ::recv(control_.get(), &note, sizeof note, MSG_DONTWAIT);
  if (count == sizeof note) {
    if (note.kind == guard::NoteKind::started) pid_ = note.pid;
    if (note.kind == guard::NoteKind::ended && !exit_) note_exit(note.code, note.status);
    if (note.kind == guard::NoteKind::cleared) has_cleared_ = true;
    return true;
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  lose_guard();
  return false;
}

// Its end is the worker's, by the parent-death signal.
void ContainedProcess::lose_guard() {
  has_guard_ = false;
  if (pid_ > 0 && !exit_) {
    note_exit(CLD_KILLED, SIGKILL);
    exit_->evidence = "its guard was killed";
  }
}

void ContainedProcess::release_guard() {
  if (guard_ <= 0) return;
  const auto give_up = Clock::now() + std::chrono::seconds(2);
  while (::waitpid(guard_, nullptr, WNOHANG) == 0 && Clock::now() < give_up) {
    ::poll(nullptr, 0, 1);
  }
  guard_ = -1;
}

void ContainedProcess::note_exit(int code, int status) {
  ExitCause cause;
  (code == CLD_EXITED ? cause.code : cause.signal) = status;
  if (is_launcher_ && cause.code > 128 && cause.code <= 128 + SIGRTMAX) {
    cause.signal = cause.code - 128;
    cause.code = 0;
  }
  const ProcessCgroup* group = cgroup_->group.get();
  const OomVerdict verdict = judge_kill({.in_group = group ? group->oom_kills() : std::nullopt,
                                         .at_start = oom_kills_at_start_,
                                         .at_end = kernel_oom_kills(),
                                         .limit_bytes = limit_bytes_});
  // A group's own count also tells of a child of the process; the machine's says nothing of one
  // that was not killed, or that we killed.
  const bool is_own_count = group && group->oom_kills();
  cause.out_of_memory =
      verdict.is_out_of_memory && (is_own_count || (cause.signal == SIGKILL && !killed_));
  cause.killed_by_us = killed_ && cause.signal == SIGKILL && !cause.out_of_memory;
  cause.evidence = verdict.text;
  exit_ = cause;
}

bool ContainedProcess::running() {
  while (!exit_ && take_note(protocol::deadline_after(0))) {
  }
  return !exit_;
}

std::optional<ExitCause> ContainedProcess::wait(protocol::Deadline deadline) {
  while (!exit_ && take_note(deadline)) {
  }
  return exit_;
}

void ContainedProcess::lift_data_limit(pid_t pid) {
  rlimit limits{};
  if (::prlimit(pid, RLIMIT_DATA, nullptr, &limits) != 0) return;
  limits.rlim_cur = limits.rlim_max;
  ::prlimit(pid, RLIMIT_DATA, &limits, nullptr);
}

// What a guard that was killed can no longer find: by the tag, or below who carries it.
bool ContainedProcess::sweep() {
  for (const Descendant& descendant : find_descendants(pid_, tag_)) {
    known_.emplace(descendant.pid, descendant.start_ticks);
  }
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

// True when the guard says that nothing is left, or, without one, when nothing is found.
bool ContainedProcess::clear(protocol::Deadline deadline) {
  has_cleared_ = false;
  if (has_guard_ && ::send(control_.get(), &guard::kill_request, 1, MSG_NOSIGNAL) != 1) {
    lose_guard();
  }
  while (has_guard_ && !has_cleared_ && take_note(deadline)) {
  }
  while (!has_guard_ && Clock::now() < *deadline) {
    if (sweep()) return true;
    ::poll(nullptr, 0, 1);
  }
  return has_cleared_;
}

bool ContainedProcess::kill_all() {
  if (settled_) return true;
  killed_ = running() || killed_;
  const ProcessCgroup* group = cgroup_->group.get();
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto deadline = protocol::deadline_after(2);
    if (group && (!exit_ || attempt > 0)) group->kill();
    if (!clear(deadline)) continue;
    wait(deadline);
    while (group && !group->is_empty() && Clock::now() < *deadline) {
      group->kill();
      ::poll(nullptr, 0, 1);  // killed processes need a moment to leave their group
    }
    if (!exit_ || (group && !group->is_empty())) continue;
    settled_ = true;
    control_.reset();
    has_guard_ = false;
    release_guard();
    return true;
  }
  return false;
}

std::string ContainedProcess::log_tail() {
  struct stat status {};
  if (::fstat(log_.get(), &status) != 0) return log_kept_;
  const off_t begin = std::max<off_t>(0, status.st_size - log_bytes_kept);
  std::string tail(as_size(status.st_size - begin), '\0');
  const ssize_t count = ::pread(log_.get(), tail.data(), tail.size(), begin);
  tail.resize(count > 0 ? as_size(count) : 0);
  std::string text = log_kept_ + tail;
  if (text.size() > as_size(log_bytes_kept)) {
    text.erase(0, text.size() - as_size(log_bytes_kept));
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
