// What a measured sweep asks for when it chooses by gain, from journals that have every row.
#include "tune/search/gain/gain_search.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/text/error.hpp"
#include "tests/stopped.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Its memory bounds every step.
Device slow_machine() {
  Device out;
  out.id = "cpu:0";
  out.is_measured = true;
  out.peaks.push_back({.path = "f32", .dtype = Dtype::f32, .threads = 2, .flops_per_s = 1e11});
  out.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1e9});
  return out;
}

// Every kernel takes `ratio` times its bound, a row `wall_s`.
void record(RecordedSweep& sweep, const Device& machine,
            const std::function<double(std::int64_t batch)>& ratio, double wall_s = 1) {
  const CaseBounds bounds({.device = &machine, .threads = 2});
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = ratio(k.batch) * bounds.of(k.kernel_case).bound.ns();
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
    m.wall_s = wall_s;
  });
}

std::set<std::int64_t> batches_of(const std::vector<Evaluation>& evaluations) {
  std::set<std::int64_t> out;
  for (const Evaluation& e : evaluations) out.insert(e.configuration.workload.batch);
  return out;
}

std::string chosen(const std::string& batches, const std::string& objectives,
                   const std::string& more) {
  return decode_sweep(batches, objectives, "sampler = \"auto\"\n" + more);
}

// By latency alone a step of 64 sequences cannot beat one that was measured: its bound is higher.
TEST(GainSearch, never_measures_what_its_bound_keeps_off_the_front) {
  const Device machine = slow_machine();
  RecordedSweep sweep(
      chosen("[1, 2, 64, 128]", "[\"latency\"]", "budget_s = 1e6\nregret = '1 %'\n"), machine);
  record(sweep, machine, [](std::int64_t) { return 1.05; });
  GainSearch search(sweep.evaluator());
  search.measure();
  const auto measured = batches_of(search.evaluations());
  EXPECT_TRUE(measured.contains(1));
  EXPECT_FALSE(measured.contains(64));
  EXPECT_FALSE(measured.contains(128));
  EXPECT_LE(search.losses().front(), 0.01);
}

// What stands on the front is measured in two processes in the end, what does not in one.
TEST(GainSearch, rounds_go_to_the_front) {
  const Device machine = slow_machine();
  RecordedSweep sweep(chosen("[1, 2, 4, 8]", "[\"latency\"]", "budget_s = 1e6\nregret = '1 %'\n"),
                      machine);
  record(sweep, machine, [](std::int64_t batch) { return batch == 1 ? 3.0 : 1.1; });
  GainSearch search(sweep.evaluator());
  search.measure();
  std::map<std::int64_t, std::set<int>> rounds;
  for (const Measurement& m : sweep.evaluator().rows()) {
    const auto own =
        std::ranges::find(sweep.kernels(), m.kernel_case, &RecordedKernel::kernel_case);
    rounds[own->batch].insert(m.round);
  }
  EXPECT_THAT(rounds.at(2), ElementsAre(0, 1)) << "three times a bound, batch 1 loses";
  EXPECT_THAT(rounds.at(1), ElementsAre(0));
}

// Two that cannot be told apart by three processes which scatter by a tenth, and one that is far
// behind.
TEST(GainSearch, a_regret_is_reached_by_rounds_beyond_those_of_the_sweep) {
  RecordedSweep sweep(chosen("[1, 2, 64]", "[\"latency\"]", "budget_s = 1e6\nregret = '1.5 %'\n"),
                      slow_machine());
  std::size_t number = 0;
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    const std::map<std::int64_t, double> ns = {{1, 1e5}, {2, 1.002e5}, {64, 1e6}};
    // Every other kernel of a step is fast when the ones beside it are slow.
    const bool is_slow = (number++ / RecordedSweep::recorded_rounds + m.round) % 2 == 0;
    m.duration_ns_median = ns.at(k.batch) * (is_slow ? 1.1 : 0.9);
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
  });
  std::vector<std::string> told;
  sweep.context().tell = [&](const std::string& line) { told.push_back(line); };
  GainSearch search(sweep.evaluator());
  search.measure();
  std::map<std::int64_t, int> last_round;
  for (const Measurement& m : sweep.evaluator().rows()) {
    const auto own =
        std::ranges::find(sweep.kernels(), m.kernel_case, &RecordedKernel::kernel_case);
    int& last = last_round.try_emplace(own->batch, 0).first->second;
    last = std::max(last, m.round);
  }
  EXPECT_LE(search.losses().front(), 0.015);
  EXPECT_GE(std::max(last_round[1], last_round[2]), sweep.plan().sweep().measure.rounds);
  EXPECT_LE(last_round[64], 0);
  EXPECT_EQ(told, search.batches());
}

TEST(GainSearch, ends_with_the_budget_and_says_what_is_left) {
  const Device machine = slow_machine();
  RecordedSweep sweep(
      chosen("[1, 2, 3, 4, 5, 6, 7, 8]", "[\"latency\", \"throughput\"]", "budget_s = 1\n"),
      machine);
  // Of a configuration with three rounds: a third of the budget.
  const double rows = static_cast<double>(sweep.kernels().size()) / 8 * 3;
  record(
      sweep, machine, [](std::int64_t batch) { return 1.5 + static_cast<double>(batch % 3); },
      1.0 / 3 / rows);
  ASSERT_TRUE(sweep.plan().is_chosen_by_gain());
  GainSearch search(sweep.evaluator());
  search.measure();
  EXPECT_LE(sweep.evaluator().measured_s(), 1.5);
  EXPECT_LT(search.evaluations().size(), 8u);
  EXPECT_GT(search.losses().front(), 0);
  EXPECT_THAT(search.batches().front(), HasSubstr("batch 1: "));
  EXPECT_THAT(search.notes().back(), HasSubstr("of 8 configurations were measured"));
}

TEST(GainSearch, the_same_rows_are_asked_for_in_the_same_order) {
  const Device machine = slow_machine();
  RecordedSweep sweep(
      chosen("[1, 2, 4, 8]", "[\"latency\", \"throughput\"]", "budget_s = 1e6\nregret = '1 %'\n"),
      machine);
  record(sweep, machine, [](std::int64_t batch) { return 1.5 + static_cast<double>(batch % 3); });
  std::vector<std::vector<std::string>> orders;
  for (int time = 0; time < 2; ++time) {
    AllKernels all;
    MeasuredEvaluator evaluator(sweep.plan(), sweep.plan().composers(), sweep.context(), all);
    GainSearch(evaluator).measure();
    auto& order = orders.emplace_back();
    for (const Measurement& m : evaluator.rows()) {
      order.push_back(m.kernel_case.key() + std::to_string(m.round));
    }
    EXPECT_EQ(std::set(order.begin(), order.end()).size(), order.size()) << "nothing twice";
  }
  EXPECT_EQ(orders[0], orders[1]);
}

TEST(GainSearch, an_interruption_measures_nothing) {
  const Device machine = slow_machine();
  RecordedSweep sweep(chosen("[1, 2]", "[\"latency\"]", "budget_s = 1\nregret = '1 %'\n"), machine);
  record(sweep, machine, [](std::int64_t) { return 2.0; });
  sweep.context().stop = halmark::test::stopped();
  GainSearch search(sweep.evaluator());
  search.measure();
  EXPECT_THAT(search.evaluations(), IsEmpty());
  EXPECT_THAT(search.notes(), IsEmpty());
}

// A failed kernel is asked for once, and what needs it is no candidate any more.
TEST(GainSearch, what_failed_is_not_asked_for_again) {
  const Device machine = slow_machine();
  RecordedSweep sweep(chosen("[1, 2, 4]", "[\"latency\"]", "budget_s = 1e6\nregret = '1 %'\n"),
                      machine);
  const CaseBounds bounds({.device = &machine, .threads = 2});
  sweep.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = 1.1 * bounds.of(k.kernel_case).bound.ns();
    if (k.batch == 1) m.status = Status::wrong_result;
  });
  GainSearch search(sweep.evaluator());
  search.measure();
  const std::vector<Evaluation> evaluations = search.evaluations();
  ASSERT_EQ(batches_of(evaluations).count(1), 1u);
  EXPECT_EQ(std::ranges::count_if(evaluations, [](const auto& e) { return !e.estimate; }), 1);
  for (const Measurement& m : sweep.evaluator().rows()) {
    EXPECT_TRUE(m.status != Status::wrong_result || m.round == 0) << m.round;
  }
}

TEST(GainSearch, a_regret_that_nothing_heeds_is_refused_at_its_place) {
  struct Case {
    const char* more;
    const char* why;
  };
  for (const Case& c :
       {Case{"budget_s = 9\nregret = '1 %'\n", "sampler grid says what is measured"},
        Case{"sampler = 'auto'\nregret = '1 %'\n", "without a budget"},
        Case{"sampler = 'auto'\nbudget_s = 9\nregret = '1'\n", "no share of a front"},
        Case{"sampler = 'auto'\nbudget_s = 9\nregret = '80 %'\n", "no share of a front"}}) {
    try {
      RecordedSweep sweep(decode_sweep("[1, 2]", "[\"latency\"]", c.more));
      ADD_FAILURE() << c.more;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit_code(), ExitCode::refused);
      EXPECT_THAT(error.line(), HasSubstr(c.why));
      EXPECT_THAT(error.line(), HasSubstr("s.toml:"));
    }
  }
}

}  // namespace
}  // namespace halmark::tune
