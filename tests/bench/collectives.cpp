// Harness overhead of collectives: what a campaign would record over the same MPI calls in a bare
// loop. Two groups of ranks live side by side on the same CPUs, one sleeps while the other is
// timed, they take turns, and the figure is the median of the ratios: what the machine does
// meanwhile meets both.
#include <algorithm>
#include <string>
#include <string_view>

#include "bare_mpi.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"
#include "figures.hpp"
#include "host/group.hpp"
#include "host/machine.hpp"
#include "kernels/collective.hpp"
#include "measure/campaign/shard_sampling.hpp"
#include "tests/checkout.hpp"

namespace halmark::bench {
namespace {

constexpr int ranks = 2;
constexpr int pairs_of_groups = 2;  // pages and lanes of shared memory differ between processes
constexpr int turns = 7;
constexpr std::int64_t samples = 40;
constexpr std::int64_t kib = 1 << 10, mib = 1 << 20;

struct Case {
  const char* op;
  BareCall call;
  std::int64_t message_bytes;  // as nccl-tests counts them
};

constexpr Case cases[] = {
    {"all_reduce", BareCall::all_reduce, 64 * kib},
    {"all_reduce", BareCall::all_reduce, mib},
    {"all_reduce", BareCall::all_reduce, 16 * mib},
    {"all_gather", BareCall::all_gather, 64 * kib},
    {"all_gather", BareCall::all_gather, mib},
    {"reduce_scatter", BareCall::reduce_scatter, 64 * kib},
    {"reduce_scatter", BareCall::reduce_scatter, mib},
    {"all_to_all", BareCall::all_to_all, 64 * kib},
    {"all_to_all", BareCall::all_to_all, mib},
    {"broadcast", BareCall::broadcast, 64 * kib},
    {"broadcast", BareCall::broadcast, mib},
    {"send_recv", BareCall::send_recv, 64 * kib},
    {"send_recv", BareCall::send_recv, mib},
};

std::string size_text(std::int64_t bytes) {
  return bytes >= mib ? std::to_string(bytes / mib) + "MiB" : std::to_string(bytes / kib) + "KiB";
}

std::string name_of(const Case& c) {
  return "collective_" + std::string(c.op) + "_" + size_text(c.message_bytes);
}

Problem problem_of(const Case& c) {
  const bool gathers = c.call == BareCall::all_gather;
  return complete_problem({c.op,
                           {{"bytes", gathers ? c.message_bytes / ranks : c.message_bytes},
                            {"ranks", ranks},
                            {"dtype", static_cast<std::int64_t>(Dtype::f32)}}});
}

template <class T>
T value_of(Outcome<T> outcome) {
  if (!outcome) throw Error(ExitCode::error, outcome.failure.phase + ": " + outcome.failure.reason);
  return std::move(*outcome);
}

std::unique_ptr<Crew> start_crew() {
  const CaseGroup group{.backend = "cpu",
                        .device = "0",
                        .parts = ranks,
                        .shards_at_once = ranks,
                        .is_collective = true};
  return value_of(Crew::start({.group = group,
                               .plugin_path = test::in_build("/lib/halmark/plugins/hm_cpu.so"),
                               .needs_group = true}));
}

// One case staged in the crew; what a trial does between staging and dropping.
class StagedCase {
 public:
  StagedCase(Crew& crew, const Problem& problem) : crew_(crew) {
    for (auto& outcome : crew.stage({.id = id, .problem = problem, .mode = CacheMode::hot})) {
      first_ns_ = std::max(first_ns_, value_of(std::move(outcome)).one_time.first_ns);
    }
  }
  StagedCase(const StagedCase&) = delete;
  StagedCase& operator=(const StagedCase&) = delete;
  ~StagedCase() { crew_.drop(id); }

  ShardSeries sample() {
    protocol::SampleRule rule;
    rule.stop = protocol::Stop::count;
    rule.count = samples;
    return value_of(sample_shards(crew_, id, rule, 15, first_ns_));
  }

 private:
  static constexpr std::int64_t id = 1;
  Crew& crew_;
  double first_ns_ = 0;
};

struct Turns {
  std::vector<double> ratios, harness_ns, bare_ns;
};

double median_ns(const ShardSeries& series) {
  std::vector<double> ns;
  for (const Sample& sample : series.merged.samples) ns.push_back(sample_ns(sample));
  if (ns.empty()) throw Error(ExitCode::error, "no sample of the ranks overlapped");
  return median(ns);
}

void take_turns(Crew& crew, BareMpi& bare, const Case& c, Turns& out) {
  const Problem problem = problem_of(c);
  const auto operands = find_contract(c.op)->operands(problem.params);
  StagedCase staged(crew, problem);
  std::int64_t repeat = staged.sample().repeat;
  const auto bare_ns = [&] {
    return median(bare.time({.call = c.call,
                             .source_bytes = operands[0].bytes(),
                             .target_bytes = operands[1].bytes(),
                             .warm_up = 5 * repeat,
                             .samples = samples,
                             .repeat = repeat}));
  };
  for (int turn = 0; turn < turns; ++turn) {
    // Who goes first alternates, so that a drift favours nobody.
    const double before = turn % 2 == 0 ? 0 : bare_ns();
    const ShardSeries series = staged.sample();
    repeat = series.repeat;
    const double harness = median_ns(series);
    const double of_bare = turn % 2 == 0 ? bare_ns() : before;
    out.harness_ns.push_back(harness);
    out.bare_ns.push_back(of_bare);
    out.ratios.push_back(harness / of_bare);
  }
}

void report(Figures& figures, const Case& c, const Turns& result) {
  const Work work = find_contract(c.op)->work(problem_of(c).params);
  const double harness_ns = median(result.harness_ns);
  const Interval interval = median_interval(result.ratios).interval;
  note(name_of(c) + ": harness " + std::to_string(harness_ns * 1e-3) + " us, bare " +
       std::to_string(median(result.bare_ns) * 1e-3) + " us, busbw " +
       std::to_string(collective_bandwidth(work, harness_ns)->bus * 1e-9) + " GB/s, ratio " +
       std::to_string(interval.low) + " .. " + std::to_string(interval.high));
  figures.at_most(name_of(c) + "_ratio", median(result.ratios), "ratio", 1.03);
}

void measure(Figures& figures) {
  const std::string mpirun = find_mpirun();
  const int units = Topology::of_machine().processing_units();
  if (mpirun.empty() || units < ranks) {
    for (const Case& c : cases) {
      figures.absent(name_of(c) + "_ratio", "absent", "ratio", "<=1.03",
                     mpirun.empty() ? "mpirun is not installed (apt: openmpi-bin)"
                                    : "two ranks need two CPUs");
    }
    return;
  }
  std::vector<Turns> results(std::size(cases));
  for (int pair = 0; pair < pairs_of_groups; ++pair) {
    BareMpi bare(mpirun, cut(ranks));
    const auto crew = start_crew();
    for (std::size_t i = 0; i < results.size(); ++i) {
      take_turns(*crew, bare, cases[i], results[i]);
      note("groups " + std::to_string(pair + 1) + " of " + std::to_string(pairs_of_groups) + ": " +
           name_of(cases[i]) + " done");
    }
    crew->quit();
  }
  for (std::size_t i = 0; i < results.size(); ++i) report(figures, cases[i], results[i]);
}

}  // namespace
}  // namespace halmark::bench

int main(int argc, char** argv) {
  using namespace halmark;
  if (argc > 1 && std::string_view(argv[1]) == bench::bare_mpi_argument) {
    return bench::serve_bare_mpi(argc, argv);
  }
  return bench::run(bench::measure);
}
