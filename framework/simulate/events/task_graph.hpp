// What is to happen: tasks, what each waits for, and the stream or the links that it occupies.
// Arrays of plain values: a task takes 29 bytes here, a dependency 8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "core/numeric/cast.hpp"

namespace halmark::events {

// Whole picoseconds, so that parts of a path sum to its length exactly and what ends together ends
// in one instant; 64 bits last for 106 days.
using Picoseconds = std::int64_t;
// To the nearest. Throws Error (exit 2) of a time below 0, without end, or beyond a tenth of that.
Picoseconds picoseconds(double seconds);
constexpr double seconds_of(Picoseconds time) { return as_double(time) * 1e-12; }

enum class EventKind : std::uint8_t {
  boot,
  discover,
  probe,
  compile,
  plan,
  place,
  dispatch,
  kernel,
  collective,
  p2p,
  rebalance,
  evict,
  emit,
  done,
};
std::string_view kind_name(EventKind kind);

enum class TaskIndex : std::uint32_t {};
enum class StreamIndex : std::uint32_t {};
enum class LinkIndex : std::uint32_t {};
enum class PathIndex : std::uint32_t {};
enum class ActorIndex : std::uint32_t {};  // whose event it is; the caller knows who that is
inline constexpr TaskIndex no_task{0xffffffff};

template <class Index>
constexpr std::size_t at(Index index) {
  return as_size(index);
}

// One task at a time: by the time since when it could begin, or the lowest priority first. Those of
// one instant, or of one priority, in the order in which they were added.
enum class StreamOrder : std::uint8_t { fifo, priority };

// A link of a path, and its bytes per byte of the message: below 1 where a message is spread over
// many links, above it where a protocol adds to it.
struct Hop {
  LinkIndex link{};
  double weight = 1;
};

// What a task occupies: nothing, a stream alone, or the links of a path together with others.
class Place {
 public:
  enum class Kind : std::uint8_t { nowhere, stream, path };
  static constexpr Place nowhere() { return Place(0); }
  static constexpr Place on(StreamIndex stream) { return Place(1U << 30 | bits(at(stream))); }
  static constexpr Place over(PathIndex path) { return Place(2U << 30 | bits(at(path))); }
  constexpr Place() = default;
  constexpr Kind kind() const { return static_cast<Kind>(code_ >> 30); }
  constexpr std::uint32_t index() const { return bits(code_); }

 private:
  explicit constexpr Place(std::uint32_t code) : code_(code) {}
  static constexpr std::uint32_t bits(std::size_t index) {
    return static_cast<std::uint32_t>(index) & ((1U << 30) - 1);
  }
  std::uint32_t code_ = 0;
};

struct Task {
  EventKind kind = EventKind::kernel;
  ActorIndex actor{};
  Place place;
  // Nowhere and on a stream: how long. Over a path: from when the last byte left to its arrival.
  Picoseconds duration_ps = 0;
  double bytes = 0;           // of a message over a path
  std::int32_t priority = 0;  // on a stream of that order
};

class TaskGraph {
 public:
  StreamIndex add_stream(StreamOrder order = StreamOrder::fifo);
  // What passes at the same time shares it by max-min fairness. Throws Error (exit 2) of a rate
  // that is not above 0.
  LinkIndex add_link(double bytes_per_s);
  PathIndex add_path(std::span<const Hop> hops);  // at least one
  // Throws Error (exit 2) of a negative duration or count of bytes.
  TaskIndex add(const Task& task);
  // `task` begins when `before` has ended, in whatever order the two were added.
  void wait(TaskIndex task, TaskIndex before) { waits_.push_back({before, task}); }
  void reserve(std::size_t tasks, std::size_t waits);

  struct Wait {
    TaskIndex before{}, task{};
  };

  std::size_t size() const { return works_.size(); }
  std::size_t streams() const { return orders_.size(); }
  std::size_t links() const { return rates_.size(); }
  EventKind kind(TaskIndex task) const { return kinds_[at(task)]; }
  ActorIndex actor(TaskIndex task) const { return actors_[at(task)]; }
  Place place(TaskIndex task) const { return works_[at(task)].place; }
  Picoseconds duration_ps(TaskIndex task) const { return works_[at(task)].duration_ps; }
  double bytes(TaskIndex task) const { return works_[at(task)].bytes; }
  std::int32_t priority(TaskIndex task) const { return works_[at(task)].priority; }
  StreamOrder order(StreamIndex stream) const { return orders_[at(stream)]; }
  double bytes_per_s(LinkIndex link) const { return rates_[at(link)]; }
  std::size_t paths() const { return path_begin_.size() - 1; }
  std::span<const Hop> path(PathIndex path) const {
    return std::span(hops_).subspan(path_begin_[at(path)],
                                    path_begin_[at(path) + 1] - path_begin_[at(path)]);
  }
  std::span<const Wait> waits() const { return waits_; }

 private:
  // What the engine asks of a task, together: it comes to tasks in no order.
  struct Work {
    Picoseconds duration_ps;
    double bytes;
    Place place;
    std::int32_t priority;
  };
  std::vector<Work> works_;
  std::vector<EventKind> kinds_;
  std::vector<ActorIndex> actors_;
  std::vector<Wait> waits_;
  std::vector<StreamOrder> orders_;
  std::vector<double> rates_;
  std::vector<Hop> hops_;
  std::vector<std::uint32_t> path_begin_ = {0};
};

}  // namespace halmark::events
