// Events of a torch-profiler trace, one at a time. Sole user of simdjson: memory is that of one
// block of events, whatever the size of the file.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "profile/trace/byte_source.hpp"
#include "profile/trace/event_cutter.hpp"

namespace halmark::trace {

// One event as it stands in the file. Text is valid during the call that hands it over.
struct Event {
  char phase = 0;  // 'X' = complete; the others carry no duration
  std::string_view category, name;
  std::string_view process, thread;  // raw JSON of pid and tid: numbers or strings
  std::int64_t begin_ns = 0, duration_ns = 0;
  std::optional<std::uint64_t> correlation;  // links a launch and what ran on the device
  std::optional<std::uint64_t> external_id;  // the profiler's number of the launching operator
  std::optional<std::uint64_t> graph_node;   // of kernels of a replayed graph
  // Raw JSON arrays of record_shapes, one entry per argument; empty when not recorded.
  std::string_view input_dims, input_types, concrete_inputs;
};

struct ReadTotals {
  std::uint64_t bytes = 0;  // unpacked
  std::uint64_t events = 0;
};

// Throws Error (exit 2) that names file and byte for anything that is no well-formed trace.
ReadTotals read_events(ByteSource& source, const std::string& where,
                       const std::function<void(const Event&)>& take, const CutLimits& limits = {});

}  // namespace halmark::trace
