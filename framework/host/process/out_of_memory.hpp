// Evidence of who ended a process that died of SIGKILL: memory, or somebody.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace halmark {

// Processes that the kernel has killed for memory since it started; nothing where it does not
// count.
std::optional<std::int64_t> kernel_oom_kills();

// What a worker writes into its log when it dies of a bad address and has no memory left.
inline constexpr std::string_view out_of_memory_mark = "halmark-worker: no memory is left\n";

struct OomEvidence {
  std::optional<std::int64_t> in_group;          // of the process's own memory group: decisive
  std::optional<std::int64_t> at_start, at_end;  // of the whole machine, around its life
  std::int64_t limit_bytes = 0;                  // in force; 0 = none
};
struct OomVerdict {
  bool is_out_of_memory = false;
  std::string text;  // what was counted, as part of a sentence
};
OomVerdict judge_kill(const OomEvidence& evidence);

}  // namespace halmark
