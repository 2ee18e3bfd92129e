// Links that messages pass together with other links. When one joins or leaves, the rates of all
// that it meets directly or through others are found anew, by progressive filling (Bertsekas and
// Gallager, Data Networks, 6.5.2); nobody else is looked at.
#pragma once

#include <vector>

#include "simulate/events/event_queue.hpp"
#include "simulate/events/link_meter.hpp"

namespace halmark::events {

class MaxMinLinks {
 public:
  // Refers to all three.
  MaxMinLinks(const TaskGraph& graph, EventQueue& queue, LinkMeter& meter);

  void join(TaskIndex task, Picoseconds now);
  // Whether the last byte of the entry's task leaves now.
  bool pop(const QueueEntry& entry);
  // After everything that joins or leaves in an instant: rates and ends of those affected.
  void settle(Picoseconds now);
  // Hops whose messages' rates were found, so far.
  double rates_found() const { return rates_found_; }

 private:
  struct Message {
    TaskIndex task = no_task;
    std::uint32_t seen = 0;  // in which search for those affected
    bool has_rate = false;   // in that search
    double left = 0, rate = 0, next_rate = 0;
    Picoseconds updated = 0, end = 0;
  };
  struct Link {
    double bytes_per_ps = 0;
    std::vector<TaskIndex> tasks;  // some of them have left
    std::uint32_t seen = 0;
    bool is_touched = false;
    // While rates are found: what is left for messages without one, their weights and number.
    double left = 0, weights = 0;
    std::uint32_t without_rate = 0;
  };
  struct Share {
    double rate;
    LinkIndex link;
    bool operator<(const Share& other) const;  // larger
  };
  std::span<const Hop> path_of(TaskIndex task) const;
  void touch(TaskIndex task);
  void find_affected(LinkIndex first);
  void add_messages(LinkIndex link);
  void find_rates();
  void give(Message& message, double rate);
  void apply_rates(Picoseconds now);

  static constexpr std::uint32_t no_slot = 0xffffffff;
  const TaskGraph& graph_;
  EventQueue& queue_;
  LinkMeter& meter_;
  std::vector<Link> links_;
  std::vector<Message> messages_;  // those under way, and free slots
  std::vector<std::uint32_t> free_slots_;
  std::vector<std::uint32_t> slot_of_;  // by task
  std::vector<LinkIndex> touched_;
  std::uint32_t search_ = 0;
  double rates_found_ = 0;
  std::vector<LinkIndex> affected_links_;
  std::vector<std::uint32_t> affected_;  // slots
  std::vector<Share> shares_;
};

}  // namespace halmark::events
