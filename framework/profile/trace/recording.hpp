// Recording: what attribution needs of a trace, packed. Views, flows, counters and the
// interpreter's own frames are counted and dropped, so that memory is a fraction of the file.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profile/trace/event_reader.hpp"
#include "profile/trace/operator_class.hpp"

namespace halmark::trace {

// Each distinct text once. Throws Error (exit 2) beyond 64 MiB of them.
class TextTable {
 public:
  std::uint32_t intern(std::string_view text);
  const std::string& operator[](std::uint32_t index) const { return texts_[index]; }
  std::size_t size() const { return texts_.size(); }

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> index_;
  std::size_t bytes_ = 0;
};

// In this order where they begin and end together: the first encloses the others.
enum class SpanKind : std::uint8_t { annotation, module, function, op, launch };

inline constexpr std::uint32_t absent = 0xffffffff;

// 32 bytes: a trace of gigabytes has millions.
struct Span {
  std::int64_t begin_ns = 0, end_ns = 0;
  std::uint32_t detail = absent;       // op: its arguments; launch: its correlation
  std::uint32_t external_id = absent;  // op
  std::uint32_t name = 0;
  std::uint32_t order : 29 = 0;  // in the file, for what begins and ends together
  std::uint32_t kind : 3 = 0;
};
static_assert(sizeof(Span) == 32);

struct DeviceEvent {
  std::int64_t begin_ns = 0, duration_ns = 0;
  std::uint32_t correlation = absent, external_id = absent;
  std::uint32_t name = 0;
  std::uint32_t graph_node = absent;
};

struct Thread {
  std::string name;        // process/thread as in the trace
  std::deque<Span> spans;  // sorted once the file is read: outer before inner
};

struct Recording {
  std::string where;
  TextTable names;
  TextTable arguments;                 // dims, types and values of operators with a formula
  std::vector<OperatorClass> classes;  // per name; of those that operators have
  std::vector<Thread> threads;
  std::deque<DeviceEvent> device_events;
  ReadTotals totals;
  std::uint64_t operators = 0;  // all, views included
  // Every event of the file is in one of these: by category those that are read and those that are
  // not, and what has no duration (flows, counters, metadata).
  std::map<std::string, std::uint64_t, std::less<>> read_events, unread_events;
  std::uint64_t undated_events = 0;
  bool has_launches = false, has_modules = false, has_shapes = false;
};

Recording record(ByteSource& source, const std::string& where, const CutLimits& limits = {});

}  // namespace halmark::trace
