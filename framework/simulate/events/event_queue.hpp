// What happens next: a heap of four children a node over plain entries.
#pragma once

#include <algorithm>
#include <vector>

#include "simulate/events/task_graph.hpp"

namespace halmark::events {

// Entries are never taken back: one that a later one replaced no longer agrees with its owner's
// time, and is passed over when its turn comes.
struct QueueEntry {
  enum class Kind : std::uint32_t { ends, last_byte, link };
  Picoseconds time = 0;
  Kind kind = Kind::ends;
  std::uint32_t index = 0;  // a task, or a link

  bool operator<(const QueueEntry& other) const {
    if (time != other.time) return time < other.time;
    return sequence() < other.sequence();
  }
  std::uint64_t sequence() const {
    return std::uint64_t{static_cast<std::uint32_t>(kind)} << 32 | index;
  }
};

class EventQueue {
 public:
  bool empty() const { return heap_.empty(); }
  const QueueEntry& top() const { return heap_.front(); }

  void push(const QueueEntry& entry) {
    std::size_t hole = heap_.size();
    heap_.push_back(entry);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / fan_out;
      if (!(entry < heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = entry;
  }

  void pop() {
    const QueueEntry last = heap_.back();
    heap_.pop_back();
    if (heap_.empty()) return;
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * fan_out + 1;
      if (first >= heap_.size()) break;
      const std::size_t end = std::min(first + fan_out, heap_.size());
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (heap_[child] < heap_[least]) least = child;
      }
      if (!(heap_[least] < last)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = last;
  }

 private:
  static constexpr std::size_t fan_out = 4;
  std::vector<QueueEntry> heap_;
};

}  // namespace halmark::events
