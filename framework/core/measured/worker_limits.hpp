// What a worker may take: seconds per phase, and memory. The limit that fires is named in the row.
#pragma once

#include <cstdint>
#include <optional>

namespace halmark {

struct WorkerLimits {
  double hello_s = 20;
  double load_s = 30;
  double open_s = 30;
  double query_s = 30;  // domains, supports, token, reveal, drop
  double create_s = 120;
  double pack_s = 120;
  double first_s = 60;
  double sample_margin_s = 10;  // beyond the wall cap of the request
  double probe_margin_s = 30;   // beyond windows x window_ms
  double join_s = 60;
  double close_s = 10;
  // Of the worker's own memory, shared arenas apart; nothing = what the run may use when it starts,
  // divided by the workers that run at once; 0 = no limit.
  std::optional<std::int64_t> memory_bytes;
};

// Limits that a user may set, by the name of the phase.
struct PhaseLimit {
  const char* name;
  double WorkerLimits::*seconds;
};
inline constexpr PhaseLimit phase_limits[] = {
    {"load", &WorkerLimits::load_s},
    {"open", &WorkerLimits::open_s},
    {"query", &WorkerLimits::query_s},
    {"create", &WorkerLimits::create_s},
    {"pack", &WorkerLimits::pack_s},
    {"first", &WorkerLimits::first_s},
    {"sample", &WorkerLimits::sample_margin_s},
    {"probe", &WorkerLimits::probe_margin_s},
    {"join", &WorkerLimits::join_s},
    {"close", &WorkerLimits::close_s},
};

}  // namespace halmark
