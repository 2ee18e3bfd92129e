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
  std::int64_t memory_limit_bytes = 0;  // 0 = none
  bool limit_address_space = true;      // RLIMIT_AS where no cgroup bounds memory; never for GPUs
  std::string log_path;                 // stdout and stderr; "" = an unnamed temporary file
  bool keep_core = false;
  bool is_launcher = false;  // mpirun: exits with 128 + signal when a rank died of one
  bool use_cgroup = true;    // false: as on a machine that offers none
};

struct ExitCause {
  int code = 0;
  int signal = 0;  // 0 = exited
  bool killed_by_us = false;
  bool out_of_memory = false;  // the kernel killed it for its memory limit
  std::string text() const;    // "signal 11 (Segmentation fault)", "exit code 3"
};

// Owned by one thread, which must outlive it: PR_SET_PDEATHSIG fires when the *thread* that forked
// ends. Makes this process a child subreaper, so that orphans of the child come back to it.
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
  // SIGKILL to the child, its group and every descendant, at once; waits up to 2 s for them, twice.
  // False when something sits in an uninterruptible call: the device is lost, nobody waits for it.
  bool kill_all();
  // After a clean exit: descendants that stayed are removed and the log is complete.
  void settle() { kill_all(); }

  std::string log_tail();  // last 64 KiB of stdout and stderr
  // Keeps a flooding plugin from filling the disk: above 4 MiB the log is cut to its tail.
  void trim_log();

 private:
  struct Cgroup;
  ContainedProcess() = default;
  void find_more();
  bool sweep();  // kills and reaps what is known; true when nothing is left
  void note_exit();

  pid_t pid_ = -1;
  FileDescriptor pidfd_;
  FileDescriptor log_;
  std::string log_kept_;
  std::string tag_;  // unique environment entry by which escaped descendants are recognised
  std::unique_ptr<Cgroup> cgroup_;
  std::map<pid_t, std::uint64_t> known_;  // descendants not yet gone, with their start
  std::optional<ExitCause> exit_;
  bool is_launcher_ = false;
  bool killed_ = false;
  bool settled_ = false;
};

}  // namespace halmark
