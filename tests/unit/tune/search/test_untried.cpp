// What a sweep did not try counts: by what its kernels have in common with measured ones, and in
// ten seeds of a space whose exhaustive front is known.
#include "core/ranges.hpp"
#include "tune/search/untried.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "core/numeric/random.hpp"
#include "latency/case_bounds.hpp"
#include "plan/device/device_file.hpp"
#include "search/pareto/pareto.hpp"
#include "tests/unit/tune/recorded_sweep.hpp"
#include "tune/search/certainty.hpp"
#include "tune/search/priced_order.hpp"
#include "tune/stored/stored_report.hpp"

namespace halmark::tune {
namespace {

using test::decode_sweep;
using test::RecordedKernel;
using test::RecordedSweep;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Its memory bounds every step here, so that batches are near to each other.
Device slow_machine() {
  Device out;
  out.id = "cpu:0";
  out.is_measured = true;
  for (const auto& [path, dtype, speed] :
       {std::tuple("f32", Dtype::f32, 1.0), std::tuple("bf16", Dtype::bf16, 2.0),
        std::tuple("s8", Dtype::s8, 4.0)}) {
    out.peaks.push_back({.path = path, .dtype = dtype, .threads = 2, .flops_per_s = speed * 1e11});
  }
  out.bandwidths.push_back({.level = "memory", .threads = 2, .bytes_per_s = 1e9});
  return out;
}

// Every kernel takes `ratio` of it times its bound.
using Ratio = std::function<double(const RecordedKernel&)>;
std::int64_t record_ratios(RecordedSweep& sweep, const Device& machine, const Ratio& ratio,
                           double wall_s = 0) {
  const CaseBounds bounds({.device = &machine, .threads = 2});
  return sweep.record([&](const RecordedKernel& k, Measurement& m) {
    m.duration_ns_median = ratio(k) * bounds.of(k.kernel_case).bound.ns();
    m.duration_ns_interval = {m.duration_ns_median, m.duration_ns_median};
    m.wall_s = wall_s;
  });
}

std::vector<Evaluation> evaluated(RecordedSweep& sweep, const std::set<std::int64_t>& batches) {
  std::vector<Configuration> asked;
  for (const std::int64_t batch : batches) asked.push_back(sweep.configuration(batch));
  return sweep.evaluator().evaluate(asked);
}

const FrontStanding& standing_of(const std::vector<Evaluation>& all, std::int64_t batch) {
  return *std::ranges::find(all, batch, [](const Evaluation& e) {
            return e.configuration.workload.batch;
          })->standing;
}

// At three times its bound batch 8 loses against batch 1, at its bound it wins. Kernels like its
// own all took three times theirs, but of n tried steps no more than n / (n + 1) is claimed.
TEST(Untried, a_better_bound_leaves_n_of_n_plus_one_at_the_most) {
  const Device machine = slow_machine();
  RecordedSweep sweep(decode_sweep("[1, 2, 4, 8]", "[\"latency\"]"), machine);
  record_ratios(sweep, machine, [](const RecordedKernel&) { return 3.0; });
  std::vector<Evaluation> tried = evaluated(sweep, {1, 2, 4});
  const std::vector<Untried> untried = judge_front(sweep.evaluator(), tried);
  EXPECT_EQ(standing_of(tried, 1).front_class, FrontClass::possible);
  EXPECT_LE(standing_of(tried, 1).probability, 0.75);
  EXPECT_GE(standing_of(tried, 1).probability, 0.6);
  ASSERT_THAT(untried, SizeIs(1));
  EXPECT_EQ(untried[0].count, 1u);
  EXPECT_EQ(untried[0].reason, "");
  ASSERT_THAT(untried[0].could_enter, SizeIs(1));
  const UntriedConfiguration& u = untried[0].could_enter[0];
  EXPECT_EQ(u.configuration, sweep.configuration(8));
  EXPECT_LE(u.probability, 0.25);
  // Its bound, by the same kernels measured in another sweep.
  const std::vector<Evaluation> all = sweep.evaluations();
  EXPECT_NEAR(3 * u.step_ns / all.back().estimate->step_ns, 1, 1e-9);
  EXPECT_EQ(u.memory_bytes_total, all.back().estimate->memory_bytes_total);
}

// Batch 8 gives more tokens a second than batch 7 at its bound only if it is near its own, and
// nothing says so; than batch 7 at four times its bound as likely as not.
TEST(Untried, kernels_are_believed_to_be_like_those_that_were_measured) {
  const Device machine = slow_machine();
  std::vector<double> probabilities;
  for (const double of_seven : {1.0, 4.0}) {
    RecordedSweep sweep(decode_sweep("[1, 7, 8]", "[\"throughput\"]"), machine);
    record_ratios(sweep, machine,
                  [&](const RecordedKernel& k) { return k.batch == 7 ? of_seven : 4.0; });
    std::vector<Evaluation> tried = evaluated(sweep, {1, 7});
    const std::vector<Untried> untried = judge_front(sweep.evaluator(), tried);
    ASSERT_THAT(untried[0].could_enter, SizeIs(1));
    probabilities.push_back(untried[0].could_enter[0].probability);
  }
  EXPECT_LT(probabilities[0], 0.2);
  EXPECT_GT(probabilities[1], 0.3);
}

TEST(Untried, a_front_at_its_bounds_is_certain) {
  const Device machine = slow_machine();
  RecordedSweep sweep(decode_sweep("[1, 2, 4, 8]", "[\"latency\"]"), machine);
  record_ratios(sweep, machine, [](const RecordedKernel&) { return 1.0; });
  std::vector<Evaluation> tried = evaluated(sweep, {1, 2});
  const std::vector<Untried> untried = judge_front(sweep.evaluator(), tried);
  EXPECT_EQ(standing_of(tried, 1).front_class, FrontClass::certain);
  EXPECT_EQ(standing_of(tried, 1).probability, 1);
  ASSERT_THAT(untried, SizeIs(1));
  EXPECT_EQ(untried[0].count, 2u);
  EXPECT_THAT(untried[0].could_enter, IsEmpty());
}

TEST(Untried, what_needs_a_kernel_that_failed_cannot_enter) {
  const Device machine = slow_machine();
  RecordedSweep sweep(decode_sweep("[1, 8]", "[\"latency\"]"), machine);
  record_ratios(sweep, machine, [](const RecordedKernel&) { return 3.0; });
  std::vector<Evaluation> tried = evaluated(sweep, {1});
  const auto of_eight = std::ranges::find(sweep.kernels(), 8, &RecordedKernel::batch);
  sweep.evaluator().source().add(
      {.kernel_case = of_eight->kernel_case, .status = Status::wrong_result, .reason = "wrong"});
  const std::vector<Untried> untried = judge_front(sweep.evaluator(), tried);
  EXPECT_THAT(untried[0].could_enter, IsEmpty());
  EXPECT_EQ(standing_of(tried, 1).probability, 1);
}

TEST(Untried, without_peaks_it_is_counted_and_said_to_have_no_bound) {
  RecordedSweep sweep(decode_sweep("[1, 2, 4]", "[\"latency\"]"));
  sweep.record_times([](std::int64_t, int) { return 1000.0; });
  std::vector<Evaluation> tried = evaluated(sweep, {1, 2});
  const std::vector<Untried> untried = judge_front(sweep.evaluator(), tried);
  ASSERT_THAT(untried, SizeIs(1));
  EXPECT_EQ(untried[0].count, 1u);
  EXPECT_THAT(untried[0].reason, HasSubstr("no measured peaks"));
  EXPECT_EQ(standing_of(tried, 1).probability, 1) << "among those tried";
}

// By latency the smallest batch, by throughput the largest, in turn.
TEST(PricedOrder, each_objective_chooses_in_turn_and_later_peaks_change_nothing) {
  const Device machine = slow_machine();
  RecordedSweep sweep(
      decode_sweep("[1, 2, 3, 4, 5, 6]", "[\"latency\", \"throughput\"]", "sampler = \"auto\"\n"),
      machine);
  record_ratios(sweep, machine, [](const RecordedKernel&) { return 2.0; });
  const std::int64_t run = sweep.evaluator().run();
  const TuneProblem& problem = sweep.plan().problems().front();
  const auto batches = [&] {
    std::vector<std::int64_t> out;
    const FirstPeaks peaks(sweep.store(), run, sweep.plan().target());
    for (const Point& p : priced_order(problem, sweep.plan().composers(), peaks)) {
      out.push_back(problem.at(p).workload.batch);
    }
    return out;
  };
  EXPECT_THAT(batches(), ElementsAre(1, 6, 2, 5, 3, 4));
  Device refined = slow_machine();
  refined.bandwidths[0].bytes_per_s = 1e15;
  sweep.store().append(run, UsedPeaks{device_text(refined), 2});
  EXPECT_THAT(batches(), ElementsAre(1, 6, 2, 5, 3, 4));
}

TEST(PricedOrder, is_none_where_an_objective_has_no_bound) {
  EXPECT_EQ(
      why_unbounded(std::vector{Objective::latency, Objective::throughput, Objective::memory}), "");
  EXPECT_EQ(why_unbounded(std::vector{Objective::latency, Objective::energy}),
            "energy has no bound");
}

// Thirty configurations, of which six are within the budget with all of their rounds; a precision
// is some 1.3 to 3 times its bounds here, a kernel a sixth more or less.
constexpr const char* thirty =
    "name = \"s\"\nmodel = \"tiny\"\ndtypes = [\"f32\", \"bf16\", \"int8\"]\n"
    "strategies = [\"data\"]\nobjectives = [\"latency\", \"throughput\", \"memory\"]\n"
    "sampler = \"auto\"\nbudget_s = 1\n";
constexpr const char* ten_batches =
    "[[workload]]\nphase = \"decode\"\nbatch = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]\ncontext = "
    "128\n";

double uniform_of(std::uint64_t seed, const std::string& text) {
  std::uint64_t key = seed;
  for (const char c : text) key = hash_combine(key, static_cast<std::uint64_t>(c));
  return uniform_01(key);
}

class SeededSweep {
 public:
  explicit SeededSweep(std::uint64_t seed)
      : sweep_(thirty + ("seed = " + std::to_string(seed) + "\n") + ten_batches, machine_) {
    const double rows = static_cast<double>(sweep_.kernels().size()) / 30 * 3;
    record_ratios(
        sweep_, machine_,
        [&](const RecordedKernel& k) {
          const std::string dtypes = k.kernel_case.problem.text();
          const std::string kind = dtypes.find("s8") != std::string::npos     ? "s8"
                                   : dtypes.find("bf16") != std::string::npos ? "bf16"
                                                                              : "f32";
          return (1.3 + 1.7 * uniform_of(seed, kind)) *
                 (0.85 + 0.3 * uniform_of(seed, k.kernel_case.key()));
        },
        1.0 / 6 / rows);
  }
  RecordedSweep& sweep() { return sweep_; }
  std::vector<Evaluation> exhaustive() { return sweep_.evaluations(); }  // after a search

 private:
  Device machine_ = slow_machine();
  RecordedSweep sweep_;
};

bool is_tried(const TuneRun& run, const Configuration& c) {
  return contains(run.evaluations, c, &Evaluation::configuration);
}

// Whoever would beat a point of the front, had it been tried, is named, and the point is not
// certain.
void expect_honest(const TuneRun& run, const std::vector<Evaluation>& exhaustive,
                   std::span<const Objective> objectives) {
  ASSERT_THAT(run.untried, SizeIs(1));
  const std::vector<UntriedConfiguration>& named = run.untried[0].could_enter;
  for (const std::size_t i : run.front) {
    const Evaluation& point = run.evaluations[i];
    const Objectives printed = minimised(*point.estimate, objectives);
    for (const Evaluation& e : exhaustive) {
      const bool is_better = dominates(minimised(*e.estimate, objectives), printed);
      if (!is_better || is_tried(run, e.configuration)) continue;
      EXPECT_LT(point.standing->probability, 1) << e.configuration.key();
      EXPECT_NE(point.standing->front_class, FrontClass::certain);
      EXPECT_NE(std::ranges::find(named, e.configuration, &UntriedConfiguration::configuration),
                named.end());
    }
    for (const UntriedConfiguration& u : named) {
      Estimate best;
      best.step_ns = u.step_ns;
      best.tokens_per_s = u.tokens_per_s;
      best.memory_bytes_total = u.memory_bytes_total;
      if (!dominates(minimised(best, objectives), printed)) continue;
      EXPECT_LT(point.standing->probability, 1) << u.configuration.key();
    }
  }
}

TEST(Untried, ten_seeds_try_the_fastest_within_the_budget_and_claim_no_certainty_too_many) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SeededSweep seeded(seed);
    RecordedSweep& sweep = seeded.sweep();
    ASSERT_FALSE(sweep.plan().covers_everything());
    const TuneRun run = MeasuredSweep(sweep.plan(), sweep.context(), {}).measure();
    EXPECT_LT(run.evaluations.size(), 30u);
    const std::vector<Evaluation> exhaustive = seeded.exhaustive();
    ASSERT_EQ(exhaustive.size(), 30u);
    const auto fastest = std::ranges::min_element(
        exhaustive, {}, [](const Evaluation& e) { return e.estimate->step_ns; });
    found += is_tried(run, fastest->configuration) ? 1 : 0;
    expect_honest(run, exhaustive, sweep.plan().problems().front().objectives());
  }
  EXPECT_EQ(found, 10);
}

// The report of the stored run says the same, whoever makes it, and a second look adds nothing.
TEST(Untried, is_stored_once_and_reported) {
  SeededSweep searched(3);
  RecordedSweep& sweep = searched.sweep();
  const TuneRun run = MeasuredSweep(sweep.plan(), sweep.context(), {}).measure();
  EXPECT_EQ(sweep.store().rows<Untried>(run.id), run.untried);
  const TuneRun again = MeasuredSweep(sweep.plan(), sweep.context(), {}).measure();
  EXPECT_EQ(again.id, run.id);
  EXPECT_EQ(again.evaluations.size(), run.evaluations.size())
      << "the same points in the same order";
  EXPECT_EQ(sweep.store().rows<Untried>(run.id), run.untried);
  const RunReport report = stored_report(sweep.store(), run.id, {});
  EXPECT_EQ(report.untried, run.untried);
}

// A grid leaves out whole workloads: they were not tried either.
TEST(Untried, counts_what_a_grid_was_trimmed_by) {
  const Device machine = slow_machine();
  const auto plan_of = [&](const std::string& budget) {
    return decode_sweep("[1, 2, 3, 4, 5, 6, 7, 8]", "[\"latency\"]", "budget_s = " + budget + "\n");
  };
  RecordedSweep whole(plan_of("10000"), machine);
  ASSERT_THAT(whole.plan().left_out(), IsEmpty());
  const double half_s = whole.plan().forecast().seconds / 2;
  RecordedSweep sweep(plan_of(std::to_string(half_s)), machine);
  ASSERT_FALSE(sweep.plan().left_out().empty());
  record_ratios(sweep, machine, [](const RecordedKernel&) { return 2.0; });
  const TuneRun run = MeasuredSweep(sweep.plan(), sweep.context(), {}).measure();
  ASSERT_LT(run.evaluations.size(), 8u);
  ASSERT_THAT(run.untried, SizeIs(1));
  EXPECT_EQ(run.untried[0].count, 8 - run.evaluations.size());
}

}  // namespace
}  // namespace halmark::tune
