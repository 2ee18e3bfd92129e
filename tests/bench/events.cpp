// The event engine: a training step with one event per layer pass, collective and transfer of every
// device, beside a bare loop over a priority queue.
#include <sys/resource.h>

#include <chrono>
#include <queue>

#include "figures.hpp"
#include "simulate/events/simulation.hpp"

namespace halmark::bench {
namespace {

using events::EventKind;
using events::Picoseconds;
using events::Place;
using events::TaskGraph;
using events::TaskIndex;

constexpr std::size_t tp = 8, pp = 16, micro_batches = 16, layers = 5;

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double peak_bytes() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

// Durations differ by device and layer, so that not everything ends at once.
Picoseconds jittered(Picoseconds mean, std::uint64_t key) {
  key = (key + 0x9e3779b97f4a7c15ULL) * 0xbf58476d1ce4e5b9ULL;
  return mean + static_cast<Picoseconds>((key >> 40) % static_cast<std::uint64_t>(mean / 8));
}

// A replica: stages of `tp` devices, each with a stream, a link to its peers, and an adapter in
// either direction.
class Replica {
 public:
  explicit Replica(TaskGraph& graph) : graph_(graph) {
    for (std::size_t i = 0; i < pp * tp; ++i) {
      streams_.push_back(graph.add_stream());
      const events::LinkIndex peers = graph.add_link(450e9);
      peers_.push_back(graph.add_path(std::vector<events::Hop>{{peers}}));
      out_.push_back(graph.add_link(50e9));
      in_.push_back(graph.add_link(50e9));
    }
  }

  // Forward through all stages and back, for every micro-batch.
  void add_step() {
    for (std::size_t batch = 0; batch < micro_batches; ++batch) {
      std::vector<TaskIndex> arrived;
      for (std::size_t stage = 0; stage < pp; ++stage)
        arrived = add_stage(stage, arrived, stage + 1);
      for (std::size_t stage = pp; stage-- > 0;) arrived = add_stage(stage, arrived, stage - 1);
    }
  }

 private:
  // All layers of a stage, and the transfer of what they give to the next one where there is one.
  std::vector<TaskIndex> add_stage(std::size_t stage, std::vector<TaskIndex> after,
                                   std::size_t next) {
    for (std::size_t half = 0; half < 2 * layers; ++half) after = add_half_layer(stage, after);
    if (next >= pp) return after;
    std::vector<TaskIndex> out;
    for (std::size_t i = 0; i < tp; ++i) {
      const std::size_t from = stage * tp + i, to = next * tp + i;
      const auto path = graph_.add_path(std::vector<events::Hop>{{out_[from]}, {in_[to]}});
      out.push_back(graph_.add({.kind = EventKind::p2p,
                                .actor = static_cast<events::ActorIndex>(from),
                                .place = Place::over(path),
                                .duration_ps = 2'000'000,
                                .bytes = 4e6}));
      graph_.wait(out.back(), after[i]);
    }
    return out;
  }

  // A kernel on every device, and their all-reduce when all have ended.
  std::vector<TaskIndex> add_half_layer(std::size_t stage, const std::vector<TaskIndex>& after) {
    std::vector<TaskIndex> kernels, out;
    for (std::size_t i = 0; i < tp; ++i) {
      const std::size_t device = stage * tp + i;
      kernels.push_back(graph_.add({.kind = EventKind::kernel,
                                    .actor = static_cast<events::ActorIndex>(device),
                                    .place = Place::on(streams_[device]),
                                    .duration_ps = jittered(400'000'000, graph_.size())}));
      if (!after.empty()) graph_.wait(kernels.back(), after[i]);
    }
    const TaskIndex all = graph_.add({.kind = EventKind::dispatch});
    for (const TaskIndex kernel : kernels) graph_.wait(all, kernel);
    for (std::size_t i = 0; i < tp; ++i) {
      const std::size_t device = stage * tp + i;
      out.push_back(graph_.add({.kind = EventKind::collective,
                                .actor = static_cast<events::ActorIndex>(device),
                                .place = Place::over(peers_[device]),
                                .duration_ps = 10'000'000,
                                .bytes = 3e7}));
      graph_.wait(out.back(), all);
    }
    return out;
  }

  TaskGraph& graph_;
  std::vector<events::StreamIndex> streams_;
  std::vector<events::PathIndex> peers_;
  std::vector<events::LinkIndex> out_, in_;
};

TaskGraph step_of(std::size_t replicas) {
  TaskGraph graph;
  const std::size_t per_replica = pp * micro_batches * 2 * (layers * 2 * (2 * tp + 1) + tp);
  graph.reserve(replicas * per_replica, replicas * per_replica * 2);
  for (std::size_t i = 0; i < replicas; ++i) Replica(graph).add_step();
  return graph;
}

// Nothing but the order of as many events, as many of them pending as there are devices.
double bare_seconds(std::size_t count, std::size_t pending) {
  struct Entry {
    Picoseconds time;
    std::uint32_t index;
    bool operator<(const Entry& other) const { return time > other.time; }
  };
  const double begin = seconds_now();
  std::priority_queue<Entry> queue;
  for (std::size_t i = 0; i < pending; ++i) queue.push({jittered(400'000'000, i), 0});
  Picoseconds last = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Entry entry = queue.top();
    queue.pop();
    last = entry.time;
    queue.push({entry.time + jittered(400'000'000, i), static_cast<std::uint32_t>(i)});
  }
  const double seconds = seconds_now() - begin;
  if (last == 0) note("nothing was ordered");
  return seconds;
}

void measure(Figures& figures) {
  const double small_ns = [] {
    const TaskGraph graph = step_of(8);
    double best = 1e300;
    for (int i = 0; i < 3; ++i) {
      const double begin = seconds_now();
      timed(graph);
      best = std::min(best, (seconds_now() - begin) * 1e9 / static_cast<double>(graph.size()));
    }
    return best;
  }();
  const double before_bytes = peak_bytes();
  const double begin = seconds_now();
  const TaskGraph graph = step_of(80);
  const double built = seconds_now();
  const events::EventList list = timed(graph);
  const double end = seconds_now();
  const auto count = static_cast<double>(graph.size());
  const double bytes = peak_bytes();
  note(std::to_string(graph.size()) + " events, " + std::to_string(graph.waits().size()) +
       " dependencies, makespan " + std::to_string(events::seconds_of(list.makespan_ps)) + " s");
  figures.at_least("events_per_second", count / (end - built) / 1e6, "M/s", 2);
  figures.at_most("events_over_bare_queue",
                  (end - built) / bare_seconds(graph.size(), 80 * pp * tp), "x", 8);
  figures.at_most("event_bytes", (bytes - before_bytes) / count, "B", 150);
  figures.at_most("event_cost_at_ten_times_as_many", (end - built) * 1e9 / count / small_ns, "x",
                  2.5);
  figures.at_most("step_tp8_pp16_dp80", end - begin, "s", 5);
  figures.at_most("step_tp8_pp16_dp80_memory", bytes / (1 << 20), "MiB", 4096);
}

}  // namespace
}  // namespace halmark::bench

int main() { return halmark::bench::run(halmark::bench::measure); }
