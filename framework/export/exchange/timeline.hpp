// What ran when, or would: slices on tracks, for viewers of traces.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "core/measured/measurement.hpp"
#include "report/report.hpp"

namespace halmark::exports {

using SliceNote = std::pair<std::string, std::variant<std::string, double, std::int64_t>>;

struct Slice {
  std::string name, category;
  double begin_ns = 0, duration_ns = 0;
  std::vector<SliceNote> notes;  // finite
  std::vector<Slice> inside;     // within it, in order, none over another
};

struct TimelineTrack {
  std::string name;
  std::vector<Slice> slices;  // in order, none over another
};

// The tracks of one process of the viewer; all begin at 0.
struct TimelineGroup {
  std::string name;
  std::vector<TimelineTrack> tracks;
};

// The rows of a run in the order in which they were measured, each as long as its trial took: what
// the time of the run went into. A database keeps how long trials and their parts took and not when
// they began, so each begins where the one before ends.
TimelineGroup measuring_timeline(std::span<const Measurement> rows);

// The kernels of a run, a track for each op: one execution of each behind the other.
TimelineGroup kernel_timeline(const RunReport& report);

// A group for each point: one step and its operators, as the layers have them, each as long as all
// its executions; of a served load one request. Operators are known of measured points.
std::vector<TimelineGroup> front_timeline(const SearchedFront& front);

}  // namespace halmark::exports
