// A child process that cannot outlive us, escape its limits or leave descendants behind.
// Knows nothing of the protocol: worker_client.hpp speaks it, group.hpp starts several ranks.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/partition.hpp"
#include "host/process/file_descriptor.hpp"
#include "host/transport.hpp"

namespace halmark {

// How descendants are found and memory is bounded on this machine; halmark doctor shows it.
enum class ContainmentLevel { none, hybrid, cgroup_v2 };
ContainmentLevel containment_level();
std::string_view containment_text(ContainmentLevel level);
// What bounds the memory of a worker here: "cgroup v2", "cgroup v1", "RLIMIT_DATA".
std::string_view memory_limit_means();

using Environment = std::map<std::string, std::string>;

// The allow-list of our own environment (PATH HOME LANG TMPDIR LD_LIBRARY_PATH OMP_* GOMP_* OMPI_*
// HALMARK_FAKE_* and sanitizer options), then the settings that measuring needs where the caller
// made no other choice, then `named`, which wins.
Environment worker_environment(const CpuSet& cpus, const Environment& named);

struct ProcessSpec {
  std::string program;  // exact path
  std::vector<std::string> arguments;
  Environment environment;              // complete
  CpuSet cpus;                          // empty = as the parent
  int protocol_fd = -1;                 // becomes protocol::worker_descriptor in the child
  std::int64_t memory_limit_bytes = 0;  // of each of `processes`; 0 = none
  int processes = 1;                    // that share the control group
  bool limit_data = true;               // RLIMIT_DATA where no cgroup bounds memory
  std::string log_path;                 // stdout and stderr; "" = an unnamed temporary file
  bool keep_core = false;
  bool is_launcher = false;  // mpirun: exits with 128 + signal when a rank died of one
  bool use_cgroup = true;    // false: as on a machine that offers none
};

struct ExitCause {
  int code = 0;
  int signal = 0;  // 0 = exited
  bool killed_by_us = false;
  bool out_of_memory = false;  // the kernel killed it for memory, by what it counted
  std::string evidence;        // that counts: of a SIGKILL, who it may have come from
  std::string text() const;    // "signal 11 (Segmentation fault)", "exit code 3"
};

// Used by one thread. A guard process is the parent of the child: it ends all that the child left
// when we are gone, at whatever instant. Makes this process a child subreaper, so that what a
// killed guard held comes to us. The first start ends what killed supervisors left behind.
class ContainedProcess {
 public:
  // Throws Error (exit 5) when nothing could be started.
  static std::unique_ptr<ContainedProcess> start(const ProcessSpec& spec);
  ~ContainedProcess();  // kills what is left
  ContainedProcess(const ContainedProcess&) = delete;
  ContainedProcess& operator=(const ContainedProcess&) = delete;

  pid_t pid() const { return pid_; }
  bool running();
  // How the child ended, once it has; nothing when the deadline passes first.
  std::optional<ExitCause> wait(protocol::Deadline deadline);
  // SIGKILL to the child and every descendant, at once; waits up to 2 s for them, twice.
  // False when something sits in an uninterruptible call: the device is lost, nobody waits for it.
  bool kill_all();
  // After a clean exit: descendants that stayed are removed and the log is complete.
  void settle() { kill_all(); }

  // Data-segment limits are off for this process of the child's from now on: runtimes of devices
  // map far more than they use.
  static void lift_data_limit(pid_t pid);
  std::int64_t memory_limit_bytes() const { return limit_bytes_; }

  std::string log_tail();  // last 64 KiB of stdout and stderr
  // Keeps a flooding plugin from filling the disk: above 4 MiB the log is cut to its tail.
  void trim_log();

 private:
  struct Cgroup;
  ContainedProcess() = default;
  bool take_note(protocol::Deadline deadline);
  void note_exit(int code, int status);
  void lose_guard();
  void release_guard();
  bool clear(protocol::Deadline deadline);
  bool sweep();  // without a guard: kills and reaps what is found; true when nothing is left

  pid_t pid_ = -1, guard_ = -1;
  FileDescriptor control_;  // of the guard
  bool has_guard_ = true, has_cleared_ = false;
  FileDescriptor log_;
  std::string log_kept_;
  std::string tag_;  // unique environment entry by which escaped descendants are recognised
  std::unique_ptr<Cgroup> cgroup_;
  std::int64_t limit_bytes_ = 0;
  std::optional<std::int64_t> oom_kills_at_start_;
  std::map<pid_t, std::uint64_t> known_;  // descendants not yet gone, with their start
  std::optional<ExitCause> exit_;
  bool is_launcher_ = false;
  bool killed_ = false;
  bool settled_ = false;
};

}  // namespace halmark
