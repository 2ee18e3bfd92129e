#include "simulate/events/simulation.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "simulate/events/event_queue.hpp"
#include "simulate/events/exclusive_streams.hpp"
#include "simulate/events/link_meter.hpp"
#include "simulate/events/max_min_links.hpp"
#include "simulate/events/virtual_time_links.hpp"

namespace halmark::events {
namespace {

// By task: those that wait for it, and how many it waits for.
class Dependencies {
 public:
  explicit Dependencies(const TaskGraph& graph)
      : nodes_(graph.size() + 1), followers_(graph.waits().size()) {
    for (const TaskGraph::Wait& wait : graph.waits()) {
      ++nodes_[at(wait.before) + 1].begin;
      ++nodes_[at(wait.task)].open;
    }
    for (std::size_t i = 1; i < nodes_.size(); ++i) nodes_[i].begin += nodes_[i - 1].begin;
    // Filling moves each begin to that of the next; one step back puts them right.
    for (const TaskGraph::Wait& wait : graph.waits()) {
      followers_[nodes_[at(wait.before)].begin++] = wait.task;
    }
    for (std::size_t i = nodes_.size(); i-- > 1;) nodes_[i].begin = nodes_[i - 1].begin;
    nodes_.front().begin = 0;
  }
  std::span<const TaskIndex> of(TaskIndex task) const {
    const std::uint32_t begin = nodes_[at(task)].begin;
    return std::span(followers_).subspan(begin, nodes_[at(task) + 1].begin - begin);
  }
  std::uint32_t& open(TaskIndex task) { return nodes_[at(task)].open; }
  // The first that still waits.
  std::size_t first_open() const {
    const auto found = std::ranges::find_if(nodes_, [](const Node& node) { return node.open > 0; });
    return as_size(found - nodes_.begin());
  }

 private:
  struct Node {
    std::uint32_t begin = 0, open = 0;
  };
  std::vector<Node> nodes_;
  std::vector<TaskIndex> followers_;
};

// Paths of one link, none of whose links is part of a longer path.
std::vector<char> lone_paths(const TaskGraph& graph) {
  std::vector<char> is_joined(graph.links(), 0), out(graph.paths(), 0);
  for (const auto i : indices(graph.paths())) {
    const auto hops = graph.path(static_cast<PathIndex>(i));
    if (hops.size() < 2) continue;
    for (const Hop& hop : hops) is_joined[at(hop.link)] = 1;
  }
  for (const auto i : indices(graph.paths())) {
    const auto hops = graph.path(static_cast<PathIndex>(i));
    out[i] = hops.size() == 1 && is_joined[at(hops.front().link)] == 0 ? 1 : 0;
  }
  return out;
}

class Simulation {
 public:
  Simulation(const TaskGraph& graph, const SimulationOptions& options)
      : graph_(graph),
        rates_max_(options.rates_max),
        dependencies_(graph),
        is_lone_path_(lone_paths(graph)),
        meter_(graph, out_, options.records_loads),
        streams_(graph),
        lone_(graph, queue_, meter_),
        joined_(graph, queue_, meter_) {
    out_.start_ps.assign(graph.size(), 0);
    out_.end_ps.assign(graph.size(), 0);
    out_.cause.assign(graph.size(), no_task);
  }

  EventList run() {
    for (const auto i : indices(graph_)) {
      const auto task = static_cast<TaskIndex>(i);
      if (dependencies_.open(task) == 0) ready_.push_back(task);
    }
    for (;;) {
      begin_ready();
      out_.is_complete = joined_.rates_found() <= rates_max_;
      if (!out_.is_complete) return std::move(out_);
      if (queue_.empty()) break;
      now_ = queue_.top().time;
      check_time();
      while (!queue_.empty() && queue_.top().time == now_) {
        const QueueEntry entry = queue_.top();
        queue_.pop();
        handle(entry);
      }
    }
    check_all_ended();
    return std::move(out_);
  }

 private:
  // All that nothing holds back any longer, in the order of the tasks.
  void begin_ready() {
    if (!std::ranges::is_sorted(ready_)) std::ranges::sort(ready_);
    for (const TaskIndex task : ready_) begin(task);
    ready_.clear();
    for (const ExclusiveStreams::Grant& grant : streams_.grants()) {
      // Since when it waited stands where its start will.
      Picoseconds& start = out_.start_ps[at(grant.task)];
      if (start < now_) out_.cause[at(grant.task)] = grant.before;
      start = now_;
      push_end(grant.task);
    }
    lone_.settle(now_);
    joined_.settle(now_);
  }

  void begin(TaskIndex task) {
    out_.start_ps[at(task)] = now_;
    const Place place = graph_.place(task);
    switch (place.kind()) {
      case Place::Kind::nowhere:
        push_end(task);
        return;
      case Place::Kind::stream:
        streams_.enqueue(task);
        return;
      case Place::Kind::path:
        break;
    }
    if (graph_.bytes(task) <= 0) {
      push_end(task);
    } else if (is_lone_path_[place.index()] != 0) {
      const Hop& hop = graph_.path(static_cast<PathIndex>(place.index())).front();
      lone_.join(task, hop.link, hop.weight, now_);
    } else {
      joined_.join(task, now_);
    }
  }

  void push_end(TaskIndex task) {
    queue_.push({now_ + graph_.duration_ps(task), QueueEntry::Kind::ends, as_uint32(task)});
  }

  void handle(const QueueEntry& entry) {
    const auto task = static_cast<TaskIndex>(entry.index);
    switch (entry.kind) {
      case QueueEntry::Kind::ends:
        end(task);
        return;
      case QueueEntry::Kind::last_byte:
        if (joined_.pop(entry)) arrive(task);
        return;
      case QueueEntry::Kind::link:
        break;
    }
    sent_.clear();
    lone_.pop(entry, sent_);
    for (const TaskIndex each : sent_) arrive(each);
  }

  void arrive(TaskIndex task) {
    if (graph_.duration_ps(task) > 0) {
      push_end(task);
    } else {
      end(task);
    }
  }

  void end(TaskIndex task) {
    out_.end_ps[at(task)] = now_;
    out_.makespan_ps = now_;
    ++ended_;
    const Place place = graph_.place(task);
    if (place.kind() == Place::Kind::stream) {
      streams_.release(static_cast<StreamIndex>(place.index()));
    }
    for (const TaskIndex follower : dependencies_.of(task)) {
      if (--dependencies_.open(follower) > 0) continue;
      out_.cause[at(follower)] = task;
      ready_.push_back(follower);
    }
  }

  void check_time() const {
    if (now_ < longest_ps) return;
    throw refused("a simulation of more than " + number_text(seconds_of(longest_ps)) + " s", {},
                  "check the bandwidths of its links and the times of its events");
  }

  void check_all_ended() const {
    if (ended_ == graph_.size()) return;
    const std::size_t index = dependencies_.first_open();
    throw refused("events of a simulation wait for each other in a circle: event " +
                      std::to_string(index) + " of kind " +
                      std::string(kind_name(graph_.kind(static_cast<TaskIndex>(index)))) +
                      " never begins",
                  {}, "nothing may depend on what comes after it");
  }

  const TaskGraph& graph_;
  double rates_max_;
  EventList out_;
  EventQueue queue_;
  Dependencies dependencies_;
  std::vector<char> is_lone_path_;
  LinkMeter meter_;
  ExclusiveStreams streams_;
  VirtualTimeLinks lone_;
  MaxMinLinks joined_;
  Picoseconds now_ = 0;
  std::size_t ended_ = 0;
  std::vector<TaskIndex> ready_, sent_;
};

}  // namespace

EventList timed(const TaskGraph& graph, const SimulationOptions& options) {
  return Simulation(graph, options).run();
}

}  // namespace halmark::events
