// One control group per contained process, where the machine lets us make one. Supports v2 with
// controllers, v2 without controllers beside a v1 memory hierarchy, and nothing at all.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/process/contained_process.hpp"
#include "host/process/file_descriptor.hpp"

namespace halmark {

// Where this process may create groups; empty = not writable or not mounted.
struct CgroupPlaces {
  std::string unified;  // folder for cgroup.kill
  bool has_memory_v2 = false;
  std::string memory_v1;  // folder for memory.limit_in_bytes
};
// Reads the mount table and tries; the answer is kept for the life of the process. Removes the
// groups of supervisors that were killed before they could, with the processes in them, and nothing
// else.
const CgroupPlaces& cgroup_places();

class ProcessCgroup {
 public:
  // Null when no group can be made. memory_limit_bytes 0 = no limit. The folders carry our pid and
  // start time, so that a later run can tell whose they were.
  static std::unique_ptr<ProcessCgroup> create(std::int64_t memory_limit_bytes);
  ~ProcessCgroup();  // removes the folders; they must be empty of processes
  ProcessCgroup(const ProcessCgroup&) = delete;
  ProcessCgroup& operator=(const ProcessCgroup&) = delete;

  // Descriptors to which the child writes "0" before exec.
  std::vector<int> join_fds() const;
  bool bounds_memory() const { return bounds_memory_; }
  void kill() const;
  // False: only memory is bounded here, kill does nothing and is_empty knows nothing.
  bool watches_processes() const { return !unified_.empty(); }
  bool is_empty() const;
  // Processes of the group that the kernel killed for memory, whatever ran out; nothing where the
  // group does not count.
  std::optional<std::int64_t> oom_kills() const;

 private:
  ProcessCgroup() = default;
  std::string unified_, memory_v1_;
  std::vector<FileDescriptor> joins_;
  bool bounds_memory_ = false;
};

}  // namespace halmark
