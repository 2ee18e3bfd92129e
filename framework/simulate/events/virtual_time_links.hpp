// Links that messages have for themselves: no path goes over another one as well. All messages on
// such a link have the same rate, so that their order of ending never changes: each is known by the
// bytes that everyone will have sent when it ends, and a change costs the logarithm of the messages
// (virtual time: Parekh and Gallager, 1993).
#pragma once

#include <vector>

#include "simulate/events/event_queue.hpp"
#include "simulate/events/link_meter.hpp"

namespace halmark::events {

class VirtualTimeLinks {
 public:
  // Refers to all three.
  VirtualTimeLinks(const TaskGraph& graph, EventQueue& queue, LinkMeter& meter);

  void join(TaskIndex task, LinkIndex link, double weight, Picoseconds now);
  // Appends the tasks whose last byte leaves now.
  void pop(const QueueEntry& entry, std::vector<TaskIndex>& out);
  // After everything that joins or leaves in an instant: the next end of each link that changed.
  void settle(Picoseconds now);

 private:
  struct Message {
    double ends_at;  // of Link::sent
    TaskIndex task;
    float weight;
    bool operator<(const Message& other) const;  // later
  };
  struct Link {
    double bytes_per_ps = 0;
    double weights = 0;  // of those on it
    double sent = 0;     // by each message that is there, since the link was empty
    Picoseconds updated = 0;
    Picoseconds next = -1;  // end that stands in the queue
    bool is_touched = false;
    std::vector<Message> heap;
  };
  void advance(Link& link, Picoseconds now);
  void touch(LinkIndex link);

  const TaskGraph& graph_;
  EventQueue& queue_;
  LinkMeter& meter_;
  std::vector<Link> links_;
  std::vector<LinkIndex> touched_;
};

}  // namespace halmark::events
