// The last word on a row that has samples: validity first, then its bound.
#pragma once

#include <functional>
#include <string_view>

#include "core/measured/measurement.hpp"
#include "core/work.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/gate/validity.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {

struct RowJudging {
  Crew& crew;       // that took the samples
  RunPeaks* peaks;  // of this machine, for quarantine; null = none
  ValidityThresholds thresholds;
  std::function<void()> free_memory;  // before a fresh probe: it needs what is staged no longer
  int shard = 0;                      // of the crew: one that executed the row's kernel
  bool is_in_host_memory = false;     // what the row's kernel reads and writes
  // A time that no bound was asked of is not ok.
  bool asks_bound = false;
};
// What the reason of such a row begins with.
inline constexpr std::string_view unbounded_reason = "no bound: ";

// Whether operands lie in memory that the worker itself maps.
bool is_in_host_memory(const protocol::Staged& staged);

// Sets status and reason. A time below its bound is quarantined only if a fresh probe by the same
// workers does not explain it; the peaks may have been those of a slower minute.
void judge_row(Measurement& row, const Work& work, const RowJudging& judging);

}  // namespace halmark
