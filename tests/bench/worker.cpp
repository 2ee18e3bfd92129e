// What a worker costs: one round trip of the smallest request that succeeds, and the way from
// nothing to an open device, alone and as a group under MPI.
#include "child.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "host/group.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

const std::string plugin_path = test::in_build("/lib/halmark/plugins/hm_cpu.so");
constexpr int starts = 20, group_starts = 5, round_trips = 5000;
constexpr int ranks = 2;

template <class T>
T value_of(Outcome<T> outcome) {
  if (!outcome) throw Error(ExitCode::error, outcome.failure.phase + ": " + outcome.failure.reason);
  return std::move(*outcome);
}

std::unique_ptr<Worker> ready_worker() {
  WorkerOptions options;
  options.place = {.backend = "cpu"};
  auto worker = value_of(Worker::start(options));
  value_of(worker->load(plugin_path));
  value_of(worker->open(0));
  return worker;
}

std::vector<std::unique_ptr<Worker>> ready_group() {
  WorkerOptions options;
  options.place = {.backend = "cpu"};
  auto workers = value_of(start_group(options, ranks));
  for (const auto& worker : workers) {
    value_of(worker->load(plugin_path));
    value_of(worker->open(0));
  }
  const auto token = value_of(workers.front()->token());
  for (int rank = 0; rank < ranks; ++rank) {
    workers[static_cast<std::size_t>(rank)]->begin_join({token.hex, rank, ranks});
  }
  for (const auto& worker : workers) value_of(worker->finish_join());
  return workers;
}

void round_trip(Figures& figures) {
  const auto worker = ready_worker();
  std::vector<double> ns;
  for (int i = 0; i < round_trips; ++i) {
    const double begin_ns = monotonic_ns();
    const auto answer = worker->token();
    ns.push_back(monotonic_ns() - begin_ns);
    if (!answer && answer.failure.worker_is_gone) value_of(answer);
  }
  worker->quit();
  figures.at_most("worker_round_trip", median(ns) * 1e-3, "us", 20);
}

void start_to_ready(Figures& figures) {
  std::vector<double> ns;
  for (int i = 0; i < starts; ++i) {
    const double begin_ns = monotonic_ns();
    const auto worker = ready_worker();
    ns.push_back(monotonic_ns() - begin_ns);
    worker->quit();
  }
  figures.at_most("worker_start_to_ready", median(ns) * 1e-6, "ms", 50);
}

void group_start(Figures& figures) {
  if (find_mpirun().empty()) {
    return figures.absent("worker_group_start_to_ready", "absent", "ms", "", "no mpirun in PATH");
  }
  std::vector<double> ns;
  for (int i = 0; i < group_starts; ++i) {
    const double begin_ns = monotonic_ns();
    const auto workers = ready_group();
    ns.push_back(monotonic_ns() - begin_ns);
    for (const auto& worker : workers) worker->quit();
  }
  figures.report("worker_group_start_to_ready", median(ns) * 1e-6, "ms");
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    round_trip(figures);
    start_to_ready(figures);
    group_start(figures);
  });
}
