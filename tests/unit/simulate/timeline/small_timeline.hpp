// Two devices: a kernel on each, an exchange over a link, a kernel behind it.
#pragma once

#include "simulate/timeline/timeline_of.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate::test {

using events::EventKind;
using events::Place;
using events::TaskIndex;

struct SmallGraph {
  events::TaskGraph graph;
  std::vector<std::uint32_t> labels;

  TaskIndex add(const events::Task& task, std::uint32_t label) {
    labels.push_back(label);
    return graph.add(task);
  }
};

// In ms: device 0 computes 0..2, device 1 0..3; 1 GB over 1 GB/s from device 1 is 3..1003 and
// arrives at 1004; device 0 computes until 1009. `reversed`: the last task is added first.
inline SmallGraph small_graph(bool reversed = false) {
  SmallGraph out;
  const auto first = out.graph.add_stream(), second = out.graph.add_stream();
  const events::LinkIndex link = out.graph.add_link(1e9);
  const events::PathIndex path = out.graph.add_path(std::vector<events::Hop>{{link}});
  const auto kernel = [&](events::StreamIndex stream, std::uint32_t actor, double ms,
                          std::uint32_t label) {
    return out.add({.actor = static_cast<events::ActorIndex>(actor),
                    .place = Place::on(stream),
                    .duration_ps = events::picoseconds(ms * 1e-3)},
                   label);
  };
  TaskIndex last{};
  if (reversed) last = kernel(first, 0, 5, 1);
  kernel(first, 0, 2, 0);
  const TaskIndex other = kernel(second, 1, 3, 0);
  const TaskIndex sent = out.add({.kind = EventKind::p2p,
                                  .actor = static_cast<events::ActorIndex>(1),
                                  .place = Place::over(path),
                                  .duration_ps = events::picoseconds(1e-3),
                                  .bytes = 1e9},
                                 2);
  if (!reversed) last = kernel(first, 0, 5, 1);
  out.graph.wait(sent, other);
  out.graph.wait(last, sent);
  return out;
}

inline TimelineNames names_of(const SmallGraph& small) {
  return {.actors = {"node0.device0", "node0.\"device1\""},
          .streams = {"node0.device0 compute", "node0.device1 compute"},
          .links = {"node0.device1 -> node0.device0"},
          .labels = {"layer 0 norm", "layer 1 norm", "activations"},
          .label_of = small.labels,
          .flops = {10, 20, 0},
          .bytes = {100, 200, 5}};
}

inline Timeline small_timeline(bool reversed = false) {
  const SmallGraph small = small_graph(reversed);
  return timeline_of(small.graph, timed(small.graph), names_of(small));
}

}  // namespace halmark::simulate::test
