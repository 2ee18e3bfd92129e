#include "cli/tune_validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "cli/console/interrupt.hpp"
#include "cli/console/terminal.hpp"
#include "cli/truth_check.hpp"

namespace halmark::cli {
namespace {

constexpr double carried_share = 0.97;  // of the step, by the kernels that are measured again
constexpr double stack_budget_s = 2;

// Evenly spread over the front, so that both ends and both phases are confronted with a run.
std::vector<std::size_t> chosen_points(const std::vector<std::size_t>& front, std::int64_t points) {
  const auto n = static_cast<std::int64_t>(front.size());
  if (points <= 0 || points >= n) return front;
  std::vector<std::size_t> out;
  for (std::int64_t i = 0; i < points; ++i) {
    out.push_back(front[static_cast<std::size_t>(points == 1 ? 0 : i * (n - 1) / (points - 1))]);
  }
  return out;
}

// The fewest kernels that make up `carried_share` of all executions' time.
std::vector<KernelCase> carrying_kernels(const Composer& composer, const LatencySource& source) {
  KernelTable table;
  const StepSum compiled = composer.compile(table);
  std::vector<double> ns(table.cases().size(), 0);
  for (const StepSum::Term& term : executions(compiled)) {
    const auto k = static_cast<std::size_t>(term.kernel);
    if (const auto latency = source.latency(table.cases()[k])) ns[k] += term.count * latency->ns;
  }
  double left = 0;
  std::vector<std::size_t> order(ns.size());
  for (std::size_t k = 0; k < ns.size(); ++k) {
    order[k] = k;
    left += ns[k] * carried_share;
  }
  std::ranges::sort(order, std::ranges::greater{}, [&](std::size_t k) { return ns[k]; });
  std::vector<KernelCase> out;
  for (std::size_t i = 0; i < order.size() && left > 0; ++i) {
    out.push_back(table.cases()[order[i]]);
    left -= ns[order[i]];
  }
  return out;
}

class FrontValidation {
 public:
  FrontValidation(const TunePlan& plan, const TuneContext& context, std::int64_t run,
                  std::span<const Measurement> rows)
      : plan_(plan), context_(context), run_(run), all_({}, bounding(*context.machine)) {
    for (const Measurement& row : rows) all_.add(row);
    for (const Measurement& row : context.store->run_measurements(run)) {
      next_round_ = std::max(next_round_, row.round + 1);
    }
  }

  // Seconds for the run of the stack and the two rounds around it.
  double predicted_s(const Evaluation& e) const {
    double seconds = predicted_check_s(*e.estimate);
    for (const KernelCase& k : carrying_kernels(plan_.composers.at(e.configuration), all_)) {
      for (const Measurement& row : all_.rows(k)) seconds += 2 * row.wall_s / rounds();
    }
    return seconds;
  }

  Validation validate(const Evaluation& e) {
    const Composer& composer = plan_.composers.at(e.configuration);
    const std::vector<KernelCase> cases = carrying_kernels(composer, all_);
    MeasuredSource near({}, bounding(*context_.machine));
    measure(cases, near);
    const StackRunResult whole = run_whole_stack(
        composer.graph(), plan_.placement(*context_.machine, e.configuration.parallel.devices()),
        {.plugin = context_.plugin,
         .seed = plan_.sweep.seed,
         .budget_s = stack_budget_s,
         .arenas = &arenas_});
    measure(cases, near);
    const Evaluation then = composer.compose([&](const KernelCase& k) {
      const auto latency = near.latency(k);
      return latency ? latency : all_.latency(k);
    });
    return confront(composer.graph(), then.estimate ? *then.estimate : *e.estimate, whole);
  }

 private:
  double rounds() const { return static_cast<double>(std::max(1, plan_.sweep.measure.rounds)); }

  void measure(const std::vector<KernelCase>& cases, MeasuredSource& into) {
    CampaignOptions options = campaign_options(plan_, context_, run_);
    options.rounds = 1;
    options.first_round = next_round_++;
    for (const Measurement& row : Campaign(std::move(options)).run(cases)) into.add(row);
  }

  const TunePlan& plan_;
  const TuneContext& context_;
  std::int64_t run_;
  MeasuredSource all_;
  std::vector<SharedMemory> arenas_;
  int next_round_ = 0;
};

}  // namespace

void validate_front(const TunePlan& plan, const TuneContext& context, TuneRun& run,
                    std::int64_t points, double budget_s) {
  std::map<std::string, Validation> known;
  for (Validation& v : context.store->validations(run.id)) {
    known.insert_or_assign(v.deployment_key, std::move(v));
  }
  Progress progress(*context.global, "validate");
  FrontValidation validation(plan, context, run.id, run.rows);
  const std::vector<std::size_t> chosen = chosen_points(run.front, points);
  double left_s = budget_s;
  for (std::size_t i = 0; i < chosen.size() && !interrupted(); ++i) {
    Evaluation& e = run.evaluations[chosen[i]];
    const std::string key = e.configuration.key();
    if (!known.contains(key)) {
      const double predicted_s = validation.predicted_s(e);
      if (predicted_s > left_s) {
        run.notes.push_back(
            fmt::format("not validated: {} would take {:.0f} s of the {:.0f} s left", key,
                        predicted_s, std::max(0.0, left_s)));
        continue;
      }
      const auto begin = std::chrono::steady_clock::now();
      Validation v = validation.validate(e);
      if (interrupted()) return;
      left_s -= std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      context.store->append(run.id, v);
      known.insert_or_assign(key, std::move(v));
    }
    const Validation& v = known.at(key);
    run.validations.push_back(v);
    if (has_latency(v.status)) {
      e.measured_ns = v.measured_ns;
      e.measured_interval_ns = v.measured_interval_ns;
    }
    progress.step(i + 1, chosen.size(), 0, key, -1);
  }
}

}  // namespace halmark::cli
