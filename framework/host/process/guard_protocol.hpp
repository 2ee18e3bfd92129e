// Between a contained process's supervisor and its guard: notes over a socket pair. Plain C++,
// since the guard links nothing of this project.
#pragma once

#include <cstdint>

namespace halmark::guard {

// The guard's argument list: JOINS DATA_LIMIT HAS_PROTOCOL PROGRAM [ARGUMENT ...]. JOINS: how many
// descriptors of cgroup.procs follow the control socket; DATA_LIMIT: RLIMIT_DATA in bytes, 0 =
// none; HAS_PROTOCOL: 1 when descriptor 3 is the worker's.
inline constexpr int arguments_before_program = 3;
inline constexpr int control_descriptor = 4;
inline constexpr int first_join_descriptor = 5;

enum class NoteKind : std::int32_t {
  started = 1,  // pid
  ended = 2,    // code and status, as waitid(2) has them
  cleared = 3,  // nothing that the process started is left
};

struct Note {
  NoteKind kind = NoteKind::started;
  std::int32_t pid = 0, code = 0, status = 0;
};

// The one request: end everything. A closed socket is the same request, and the last.
inline constexpr char kill_request = 'k';

}  // namespace halmark::guard
