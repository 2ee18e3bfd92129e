#include "simulate/events/max_min_links.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"

namespace halmark::events {
namespace {

// Rates that differ by less are the same: sums of shares have lost their last bits.
constexpr double same_rate = 1e-12;

}  // namespace

bool MaxMinLinks::Share::operator<(const Share& other) const {
  if (rate != other.rate) return rate > other.rate;
  return link > other.link;
}

MaxMinLinks::MaxMinLinks(const TaskGraph& graph, EventQueue& queue, LinkMeter& meter)
    : graph_(graph), queue_(queue), meter_(meter), links_(graph.links()) {
  for (const auto i : indices(links_)) {
    links_[i].bytes_per_ps = graph.bytes_per_s(static_cast<LinkIndex>(i)) / ps_per_s;
  }
}

std::span<const Hop> MaxMinLinks::path_of(TaskIndex task) const {
  return graph_.path(static_cast<PathIndex>(graph_.place(task).index()));
}

void MaxMinLinks::touch(TaskIndex task) {
  for (const Hop& hop : path_of(task)) {
    Link& link = links_[at(hop.link)];
    if (link.is_touched) continue;
    link.is_touched = true;
    touched_.push_back(hop.link);
  }
}

void MaxMinLinks::join(TaskIndex task, Picoseconds now) {
  if (slot_of_.empty()) slot_of_.assign(graph_.size(), no_slot);
  std::uint32_t slot = as_uint32(messages_.size());
  if (free_slots_.empty()) {
    messages_.emplace_back();
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
  }
  messages_[slot] = {.task = task, .left = graph_.bytes(task), .updated = now, .end = -1};
  slot_of_[at(task)] = slot;
  for (const Hop& hop : path_of(task)) {
    links_[at(hop.link)].tasks.push_back(task);
    meter_.enter(hop.link, now);
  }
  touch(task);
}

bool MaxMinLinks::pop(const QueueEntry& entry) {
  const auto task = static_cast<TaskIndex>(entry.index);
  const std::uint32_t slot = slot_of_[at(task)];
  if (slot == no_slot || messages_[slot].end != entry.time) return false;
  slot_of_[at(task)] = no_slot;
  free_slots_.push_back(slot);
  for (const Hop& hop : path_of(task)) {
    meter_.leave(hop.link, entry.time, graph_.bytes(task) * hop.weight);
  }
  touch(task);
  return true;
}

void MaxMinLinks::settle(Picoseconds now) {
  if (touched_.empty()) return;
  ++search_;
  for (const LinkIndex link : touched_) {
    links_[at(link)].is_touched = false;
    if (links_[at(link)].seen == search_) continue;
    find_affected(link);
    find_rates();
    apply_rates(now);
  }
  touched_.clear();
}

// Everything that shares a link with what shares a link with the first, and so on.
void MaxMinLinks::find_affected(LinkIndex first) {
  affected_links_.assign(1, first);
  affected_.clear();
  links_[at(first)].seen = search_;
  for (std::size_t i = 0; i < affected_links_.size(); ++i) {
    Link& link = links_[at(affected_links_[i])];
    link.left = link.bytes_per_ps;
    link.weights = 0;
    link.without_rate = 0;
    add_messages(affected_links_[i]);
  }
  for (const std::uint32_t slot : affected_) {
    const std::span<const Hop> hops = path_of(messages_[slot].task);
    rates_found_ += as_double(hops.size());
    for (const Hop& hop : hops) {
      links_[at(hop.link)].weights += hop.weight;
      ++links_[at(hop.link)].without_rate;
    }
  }
}

void MaxMinLinks::add_messages(LinkIndex index) {
  std::vector<TaskIndex>& tasks = links_[at(index)].tasks;
  std::erase_if(tasks, [&](TaskIndex task) { return slot_of_[at(task)] == no_slot; });
  for (const TaskIndex task : tasks) {
    const std::uint32_t slot = slot_of_[at(task)];
    Message& message = messages_[slot];
    if (message.seen == search_) continue;
    message.seen = search_;
    message.has_rate = false;
    affected_.push_back(slot);
    for (const Hop& hop : path_of(task)) {
      if (links_[at(hop.link)].seen == search_) continue;
      links_[at(hop.link)].seen = search_;
      affected_links_.push_back(hop.link);
    }
  }
}

// The link with the least share gives it to all that pass it, until everyone has a rate. Shares of
// the others only grow by that, so that a stale one in the heap is never too large.
void MaxMinLinks::find_rates() {
  shares_.clear();
  for (const LinkIndex index : affected_links_) {
    const Link& link = links_[at(index)];
    if (link.without_rate > 0) shares_.push_back({link.left / link.weights, index});
  }
  std::make_heap(shares_.begin(), shares_.end());
  while (!shares_.empty()) {
    std::pop_heap(shares_.begin(), shares_.end());
    const Share share = shares_.back();
    shares_.pop_back();
    Link& link = links_[at(share.link)];
    if (link.without_rate == 0) continue;
    const double rate = std::max(link.left, 0.0) / link.weights;
    if (rate > share.rate * (1 + same_rate)) {
      shares_.push_back({rate, share.link});
      std::push_heap(shares_.begin(), shares_.end());
      continue;
    }
    for (const TaskIndex task : link.tasks) {
      Message& message = messages_[slot_of_[at(task)]];
      if (!message.has_rate) give(message, share.rate);
    }
  }
}

void MaxMinLinks::give(Message& message, double rate) {
  message.has_rate = true;
  message.next_rate = rate;
  for (const Hop& hop : path_of(message.task)) {
    Link& link = links_[at(hop.link)];
    link.left -= rate * hop.weight;
    link.weights -= hop.weight;
    --link.without_rate;
  }
}

void MaxMinLinks::apply_rates(Picoseconds now) {
  for (const std::uint32_t slot : affected_) {
    Message& message = messages_[slot];
    if (std::abs(message.next_rate - message.rate) <= same_rate * message.rate) continue;
    message.left -= message.rate * as_double(now - message.updated);
    message.updated = now;
    message.rate = message.next_rate;
    message.end = time_after(now, message.left, message.rate);
    queue_.push({message.end, QueueEntry::Kind::last_byte, as_uint32(message.task)});
  }
  for (const LinkIndex link : affected_links_) {
    meter_.load(link, now, (links_[at(link)].bytes_per_ps - links_[at(link)].left) * ps_per_s);
  }
}

}  // namespace halmark::events
