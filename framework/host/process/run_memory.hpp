// How much memory this run may use: the one figure from which arenas, working sets and limits of
// workers are cut, so that all of it together stays below what the machine and its control groups
// allow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace halmark {

struct RunMemory {
  std::int64_t machine_bytes = 0;
  std::int64_t limit_bytes = 0;  // the machine's memory, or the tightest limit of a control group
  // What is left now: the machine's available memory, or less below the limit of a control group
  // above this process. Page cache that can be dropped counts as free, swap does not count.
  std::int64_t free_bytes = 0;
  std::string limited_by;          // folder of the group with that limit; "" = the machine
  bool kills_whole_group = false;  // out of memory, that group ends with all of its processes

  // Kept free for this process itself and for what nobody foresees: a sixteenth of the limit, at
  // least 48 MiB and at most 1 GiB.
  std::int64_t reserve_bytes() const;
  // In addition to what is held already.
  std::int64_t may_use_bytes() const;
  // At the most, whatever is in use now: what a configuration may need. The machine's memory where
  // no group limits it.
  std::int64_t at_most_bytes() const;
  // Of one worker, where nobody states its limit: its share of what may be used. Never less than a
  // worker needs to start.
  std::int64_t worker_bytes(int workers_at_once) const;
  // "3412 MiB of 4096 MiB (limit of /sys/fs/cgroup; 428 MiB in use, 256 MiB kept free)"
  std::string text() const;
};

// Read anew. `root` stands in front of every path (for tests; "" = this machine).
RunMemory run_memory(const std::string& root = "");

using ReadMemory = std::function<RunMemory()>;

}  // namespace halmark
