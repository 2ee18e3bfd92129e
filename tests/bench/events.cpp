// The event engine: a training step with one event per layer pass, collective and transfer of every
// device, beside a bare loop over a priority queue.
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <queue>

#include "figures.hpp"
#include "simulate/events/simulation.hpp"
#include "simulate/schedule/step_lowering.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

using events::Picoseconds;
using events::TaskGraph;

constexpr int tp = 8, pp = 16, micro_batches = 16;

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

// GPT-3 on tp 8, pp 16 and `replicas` replicas, micro-batches of one sequence, gradients reduced
// behind every layer: an event for each part of a layer between two collectives, each collective
// and each transfer, on every device.
class TrainingStep {
 public:
  explicit TrainingStep(int replicas)
      : step_(price_step(
            load_model("gpt-3-175b", {std::filesystem::path(test::in_source()) / "configs/models"}),
            configuration(replicas), std::nullopt, {.training = TrainingPlan{}})),
        site_(levels(replicas)),
        grid_(step_.graph.configuration.parallel),
        programs_(schedule::stage_programs(step_, {.grain = schedule::Grain::layer})),
        times_(step_, programs_,
               {[](std::size_t op) { return drawn(op); },
                [](const Problem&, const Work&, std::int64_t) { return drawn(0); }}) {
    times_.begin_run(1,
                     1);  // every device draws its own times, so that not everything ends at once
  }

  schedule::LoweredStep lowered() const {
    return schedule::lower_step(programs_, grid_, site_, times_, {});
  }

 private:
  static Latency drawn(std::size_t op) {
    const double ns = 2e4 + 1e3 * static_cast<double>(op);
    return {.ns = ns, .low_ns = ns, .high_ns = 1.125 * ns};
  }
  static Configuration configuration(int replicas) {
    return {.model = "gpt-3-175b",
            .parallel = {.dp = replicas, .tp = tp, .pp = pp},
            .precision = Precision::uniform("bf16", Dtype::bf16),
            .workload = {.phase = Phase::training,
                         .batch = micro_batches * replicas,
                         .new_tokens = 2048,
                         .context = 2048,
                         .micro_batch = 1}};
  }
  static simulate::FabricLevels levels(int replicas) {
    return {.levels = {{.ranks = tp, .latency_s = 1e-6, .bytes_per_s = 450e9},
                       {.ranks = pp * replicas, .latency_s = 5e-6, .bytes_per_s = 50e9}}};
  }

  PricedStep step_;
  schedule::Site site_;
  schedule::DeviceGrid grid_;
  schedule::Programs programs_;
  schedule::KernelTimes times_;
};

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
    const TaskGraph graph = TrainingStep(8).lowered().graph;
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
  const schedule::LoweredStep lowered = TrainingStep(80).lowered();
  const TaskGraph& graph = lowered.graph;
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
