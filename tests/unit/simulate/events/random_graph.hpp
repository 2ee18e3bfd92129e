// Graphs of tasks at random, by seed.
#pragma once

#include "simulate/events/task_graph.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::events::test {

struct GraphSize {
  int tasks = 60, streams = 4, links = 6, hops_max = 3;
};

class RandomGraph {
 public:
  RandomGraph(std::uint64_t seed, GraphSize size) : random_(seed), size_(size) {
    for (int i = 0; i < size.streams; ++i) graph.add_stream();
    for (int i = 0; i < size.links; ++i) graph.add_link(log_uniform(1e8, 1e10));
    for (int i = 0; i < 2 * size.links; ++i) add_path();
    for (int i = 0; i < size.tasks; ++i) add_task(i);
  }
  TaskGraph graph;

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  double log_uniform(double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random_() >> 11) * 0x1p-53);
  }
  void add_path() {
    std::vector<Hop> hops;
    for (int hops_left = 1 + below(size_.hops_max); hops_left > 0; --hops_left) {
      hops.push_back({static_cast<LinkIndex>(below(size_.links)), below(3) == 0 ? 0.5 : 1.0});
    }
    graph.add_path(hops);
  }
  void add_task(int i) {
    const int kind = below(4);
    Task task{.kind = kind == 0 ? EventKind::kernel : EventKind::p2p,
              .actor = static_cast<ActorIndex>(i % 7),
              .duration_ps = picoseconds(log_uniform(1e-6, 1e-3))};
    if (kind == 0) {
      task.place = Place::on(static_cast<StreamIndex>(below(size_.streams)));
    } else if (kind < 3) {
      task.kind = EventKind::p2p;
      task.place = Place::over(static_cast<PathIndex>(below(2 * size_.links)));
      task.bytes = log_uniform(1e3, 1e7);
      if (below(3) == 0) task.duration_ps = 0;
    }
    const TaskIndex added = graph.add(task);
    for (int waits = below(3); waits > 0 && i > 0; --waits) {
      graph.wait(added, static_cast<TaskIndex>(i - 1 - below(std::min(i, 10))));
    }
  }
  std::mt19937_64 random_;
  GraphSize size_;
};

}  // namespace halmark::events::test
