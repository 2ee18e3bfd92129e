#include "simulate/events/virtual_time_links.hpp"

#include <algorithm>

#include "core/lists.hpp"

namespace halmark::events {

bool VirtualTimeLinks::Message::operator<(const Message& other) const {
  if (ends_at != other.ends_at) return ends_at > other.ends_at;
  return task > other.task;
}

VirtualTimeLinks::VirtualTimeLinks(const TaskGraph& graph, EventQueue& queue, LinkMeter& meter)
    : graph_(graph), queue_(queue), meter_(meter), links_(graph.links()) {
  for (const auto i : indices(links_)) {
    links_[i].bytes_per_ps = graph.bytes_per_s(static_cast<LinkIndex>(i)) / ps_per_s;
  }
}

void VirtualTimeLinks::advance(Link& link, Picoseconds now) {
  if (link.weights > 0) {
    link.sent += as_double(now - link.updated) * link.bytes_per_ps / link.weights;
  }
  link.updated = now;
}

void VirtualTimeLinks::touch(LinkIndex link) {
  if (links_[at(link)].is_touched) return;
  links_[at(link)].is_touched = true;
  touched_.push_back(link);
}

void VirtualTimeLinks::join(TaskIndex task, LinkIndex index, double weight, Picoseconds now) {
  Link& link = links_[at(index)];
  advance(link, now);
  link.weights += weight;
  link.heap.push_back({link.sent + graph_.bytes(task), task, static_cast<float>(weight)});
  std::push_heap(link.heap.begin(), link.heap.end());
  meter_.enter(index, now);
  touch(index);
}

void VirtualTimeLinks::pop(const QueueEntry& entry, std::vector<TaskIndex>& out) {
  Link& link = links_[entry.index];
  if (entry.time != link.next) return;
  link.next = -1;
  const auto index = static_cast<LinkIndex>(entry.index);
  advance(link, entry.time);
  // Times are rounded up to a picosecond: the first has ended whatever the sum says of it.
  const double reached = std::max(link.sent, link.heap.front().ends_at) * (1 + 1e-15);
  while (!link.heap.empty() && link.heap.front().ends_at <= reached) {
    std::pop_heap(link.heap.begin(), link.heap.end());
    const Message message = link.heap.back();
    link.heap.pop_back();
    link.weights -= message.weight;
    meter_.leave(index, entry.time, graph_.bytes(message.task) * message.weight);
    out.push_back(message.task);
  }
  if (link.heap.empty()) link.weights = link.sent = 0;
  touch(index);
}

void VirtualTimeLinks::settle(Picoseconds now) {
  for (const LinkIndex index : touched_) {
    Link& link = links_[at(index)];
    link.is_touched = false;
    meter_.load(index, now, link.heap.empty() ? 0 : link.bytes_per_ps * ps_per_s);
    if (link.heap.empty()) {
      link.next = -1;
      continue;
    }
    const double left = link.heap.front().ends_at - link.sent;
    const Picoseconds next = time_after(now, left * link.weights, link.bytes_per_ps);
    if (next == link.next) continue;
    link.next = next;
    queue_.push({next, QueueEntry::Kind::link, as_uint32(index)});
  }
  touched_.clear();
}

}  // namespace halmark::events
