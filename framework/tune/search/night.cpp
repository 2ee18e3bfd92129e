// Rounds lie as far apart as the night is long, and each begins and ends with the sentinels: a
// machine that moved shows in them, whatever else changed.
#include "tune/search/night.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double planned_share = 0.9;   // forecasts err; the rest of the night absorbs it
constexpr double duet_share = 0.25;     // of a night that runs another build than those before
constexpr double sentinel_moved = 0.1;  // probes of one state of the memory scatter by 8 %

std::vector<KernelCase> ordered(const MeasuredEvaluator& evaluator,
                                const std::vector<KernelCase>& sentinels) {
  std::vector<KernelCase> out = evaluator.plan().forecast().kernels;
  std::erase_if(
      out, [&](const KernelCase& k) { return std::ranges::find(sentinels, k) != sentinels.end(); });
  const MeasureContext& context = evaluator.context();
  return context.night.order ? context.night.order(out, evaluator.run()) : out;
}

// As many of the first as are expected to fit; one at least.
std::size_t count_within(const TunePlan& plan, std::span<const KernelCase> kernels,
                         double budget_s) {
  const std::vector<double> seconds = case_seconds(plan, kernels);
  double sum = 0;
  for (const auto i : indices(seconds)) {
    sum += seconds[i];
    if (sum > budget_s && i > 0) return i;
  }
  return seconds.size();
}

// Medians of a sentinel over the rounds: how far the night's largest is from its smallest.
std::vector<std::string> moved_sentinels(const std::map<std::string, std::vector<double>>& times) {
  std::vector<std::string> out;
  for (const auto& [key, ns] : times) {
    const auto [low, high] = std::ranges::minmax(ns);
    if (ns.size() < 2 || high <= low * (1 + sentinel_moved)) continue;
    out.push_back(
        fmt::format("the machine moved during this night: sentinel {} took {:.3g} us at "
                    "best and {:.3g} us at worst",
                    key, low / 1e3, high / 1e3));
  }
  return out;
}

class NightRounds {
 public:
  NightRounds(MeasuredEvaluator& evaluator, double budget_s)
      : evaluator_(evaluator),
        end_(Clock::now() +
             std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget_s))) {
  }

  // The sentinels are measured whatever is left: they are few, and the end of a night counts.
  void sentinels(std::span<const KernelCase> cases, int round) {
    if (cases.empty() || evaluator_.is_interrupted()) return;
    for (const Measurement& row :
         evaluator_.measure_rounds(cases, round, 1, Clock::time_point::max())) {
      evaluator_.source().add(row);
      if (has_latency(row.status)) {
        sentinel_ns_[row.kernel_case.problem.text()].push_back(row.duration_ns_median);
      }
    }
  }
  std::size_t kernels(std::span<const KernelCase> cases, int round) {
    if (is_over()) return 0;
    const auto rows = evaluator_.measure_rounds(cases, round, 1, end_);
    for (const Measurement& row : rows) evaluator_.source().add(row);
    return rows.size();
  }
  std::vector<std::string> notes() const { return moved_sentinels(sentinel_ns_); }

 private:
  bool is_over() const { return Clock::now() >= end_ || evaluator_.is_interrupted(); }

  MeasuredEvaluator& evaluator_;
  Clock::time_point end_;
  std::map<std::string, std::vector<double>> sentinel_ns_;
};

}  // namespace

std::vector<std::string> measure_night(MeasuredEvaluator& evaluator, const NightBuilds& builds) {
  const TunePlan& plan = evaluator.plan();
  const std::vector<KernelCase> sentinels =
      night_cases(plan.sweep(), plan.sweep().nightly->sentinels);
  const std::vector<KernelCase> kernels = ordered(evaluator, sentinels);
  const double night_s = plan.sweep().budget_s;
  const bool has_open = !open_cases(evaluator, builds, kernels).empty();
  const double duets_s = has_open ? duet_share * night_s : 0;
  const double budget_s = night_s - duets_s;
  const std::size_t count = count_within(plan, kernels, planned_share * budget_s);
  const std::span<const KernelCase> chosen = std::span(kernels).first(count);
  NightRounds night(evaluator, budget_s - evaluator.kept_s());
  const int rounds = plan.sweep().measure.rounds;
  std::size_t rows = 0;
  for (int round = 1; round <= rounds; ++round) {
    night.sentinels(sentinels, round);
    rows += night.kernels(chosen, round);
  }
  night.sentinels(sentinels, rounds + 1);
  std::vector<std::string> out = night.notes();
  if (count < kernels.size()) {
    out.push_back(
        fmt::format("{} of {} kernels were measured within {:.3g} min: moved ones first, "
                    "then those unseen for longest; the rest waits for another night",
                    count, kernels.size(), night_s / 60));
  }
  const std::size_t wanted = count * as_size(rounds);
  if (rows < wanted && !evaluator.is_interrupted()) {
    out.push_back(fmt::format("the night ended {} rows short of {} rounds", wanted - rows, rounds));
  }
  std::vector<KernelCase> first = open_cases(evaluator, builds, chosen);
  const auto& moved_first = evaluator.context().night.moved_first;
  if (moved_first && !first.empty()) first = moved_first(first, evaluator.run());
  std::ranges::move(measure_night_duets(evaluator, builds, first, duets_s),
                    std::back_inserter(out));
  return out;
}

std::size_t drop_unmeasured(MeasuredEvaluator& evaluator, std::vector<Evaluation>& evaluations) {
  return std::erase_if(evaluations, [&](const Evaluation& e) {
    const Composers::Entry& entry = evaluator.composers().of(e.configuration);
    return entry.composer && std::ranges::any_of(entry.composer->kernels(), [&](const auto& k) {
             return evaluator.source().rows(k).empty();
           });
  });
}

}  // namespace halmark::tune
