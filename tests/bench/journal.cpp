// What keeping results costs: a durable row, and the front of ten thousand points.
#include <random>

#include "child.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "journal/store.hpp"
#include "rate.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr std::size_t batch_rows = 64;
constexpr std::size_t points = 10'000;

Measurement row_of(int round) {
  Measurement row;
  const auto f32 = static_cast<std::int64_t>(Dtype::f32);
  row.kernel_case.problem = {"gemm",
                             {{"m", 16},
                              {"n", 1024},
                              {"k", 1024},
                              {"src_dtype", f32},
                              {"wei_dtype", f32},
                              {"dst_dtype", f32}}};
  row.kernel_case.backend = "cpu";
  row.round = round;
  row.status = Status::ok;
  row.phase = "sample";
  row.implementation = {"brgemm:avx512_core", "avx512_core", "oneDNN", "2.6.3"};
  row.duration_ns_median = 1e5;
  row.duration_ns_interval = {0.9e5, 1.1e5};
  row.duration_ns_min = 0.9e5;
  for (int i = 0; i < 30; ++i) row.samples.push_back({1e5 + i, 2e5, std::nullopt, i % 4});
  return row;
}

void rows(Figures& figures) {
  const ScratchFolder folder(test::in_build());
  const auto store = open_store((folder.path() / "bench.db").string());
  const std::int64_t run = store->begin_run({.command = "bench", .fingerprint = "bench"});
  int round = 0;
  const double one_s = seconds_per_call("row", [&] { store->append(run, row_of(round++)); });
  const double many_s = seconds_per_call("rows", [&] {
    std::vector<Measurement> batch;
    for (std::size_t i = 0; i < batch_rows; ++i) batch.push_back(row_of(round++));
    store->append(run, batch);
  });
  figures.report("journal_durable_row", one_s * 1e6, "us");
  figures.report("journal_durable_row_of_64", many_s * 1e6 / batch_rows, "us");
  const auto stored = store->run_measurements(run).size();
  if (stored != static_cast<std::size_t>(round) || !store->damaged().empty()) {
    throw Error(ExitCode::incorrect, "the journal keeps " + std::to_string(stored) + " of " +
                                         std::to_string(round) + " rows");
  }
}

std::vector<Objectives> random_points(bool all_on_front) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<Objectives> out;
  for (std::size_t i = 0; i < points; ++i) {
    const double a = uniform(random), b = uniform(random);
    // On the plane a + b + c = 2 no point dominates another.
    out.push_back({a, b, all_on_front ? 2 - a - b : uniform(random)});
  }
  return out;
}

void front(Figures& figures, const std::string& name, bool all_on_front) {
  const std::vector<Objectives> given = random_points(all_on_front);
  std::size_t size = 0;
  const double front_s = seconds_per_call(name, [&] { size = non_dominated(given).size(); });
  if (size == 0 || (all_on_front && size != points)) {
    throw Error(ExitCode::incorrect, name + " has " + std::to_string(size) + " points");
  }
  figures.at_most(name, front_s * 1e3, "ms", 50);
}

}  // namespace
}  // namespace halmark::bench

int main() {
  using namespace halmark::bench;
  return run([](Figures& figures) {
    rows(figures);
    front(figures, "front_of_10000x3_random", false);
    front(figures, "front_of_10000x3_all_on_it", true);
  });
}
