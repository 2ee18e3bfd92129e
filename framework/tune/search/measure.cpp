// Where the budget covers everything, all kernels of all phases are measured in the rounds of one
// campaign, so that rounds lie far apart and workers start once; the search then only looks at
// them. Otherwise each phase has the share of the budget that its configurations are of all, and
// its sampler decides batch by batch what is measured next.
#include "tune/search/measure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "tune/evaluate/agreement/night_run.hpp"
#include "tune/plan/forecast.hpp"
#include "tune/search/certainty.hpp"
#include "tune/search/front.hpp"
#include "tune/search/gain/gain_search.hpp"
#include "tune/search/loop.hpp"
#include "tune/search/priced_order.hpp"

namespace halmark::tune {

std::vector<std::string> notes_of(const TuneRun& run) {
  std::vector<std::string> out = run.notes;
  if (!run.kept.empty()) out.insert(out.begin(), run.kept);
  return out;
}

MeasuredSweep::MeasuredSweep(const TunePlan& plan, const MeasureContext& context,
                             const std::optional<CertifySettings>& certify)
    : plan_(plan),
      context_(context),
      certifier_(certify ? std::make_unique<CertifyChooser>(plan, *certify, context.stop)
                         : nullptr),
      evaluator_(plan, plan.composers(), context,
                 certifier_             ? static_cast<KernelChooser&>(*certifier_)
                 : plan.sweep().nightly ? static_cast<KernelChooser&>(known_kernels_)
                                        : all_kernels_) {
  if (!certifier_ || !certify->tells_stored) return;
  certifier_->know_rows([this] {
    std::vector<Measurement> rows = context_.store->run_measurements(evaluator_.run());
    // Another build of the plugin is another series.
    std::erase_if(rows, [this](const Measurement& m) {
      return !m.plugin_hash.empty() && m.plugin_hash != context_.plugin_hash;
    });
    return rows;
  });
}

// Where nobody named who proposes, what promises most by its bounds is tried first.
std::vector<Point> MeasuredSweep::first_points(const TuneProblem& problem) const {
  const bool is_priced = plan_.sweep().sampler == "auto" && plan_.forecast().is_whole;
  if (!is_priced || plan_.covers_everything()) return {};
  const FirstPeaks peaks(*context_.store, evaluator_.run(), plan_.target());
  return priced_order(problem, plan_.composers(), peaks);
}

void MeasuredSweep::search(const TuneProblem& problem, double until_s, TuneRun& run) {
  const bool is_whole = certifier_ || plan_.covers_everything() || plan_.sweep().sampler == "grid";
  const auto sampler = sampler_for(plan_, problem, first_points(problem));
  const auto trials = as_size(plan_.sweep().trials);
  // A batch is tried whatever the phases before have spent: none is left without a figure.
  const std::size_t before = run.evaluations.size();
  const SearchResult result = tune::run(
      problem, *sampler, evaluator_,
      {.budget = {.trials = trials, .batch = is_whole ? 0 : measured_batch},
       .should_stop =
           [&] {
             return evaluator_.is_interrupted() || (!is_whole && run.evaluations.size() > before &&
                                                    evaluator_.measured_s() >= until_s);
           },
       .steering = context_.steering},
      [&](const Point&, const Evaluation& e, const TrialTime& time) {
        run.evaluations.push_back(e);
        run.times.emplace(e.configuration.key(), time);
      });
  if (result.end != SearchEnd::stopped || evaluator_.is_interrupted()) return;
  run.notes.push_back(fmt::format(
      "{}: {} of {} configurations were tried by {} within the budget of {:.0f} s", problem.name(),
      result.told.size(), problem.space().size(), plan_.sweep().sampler, plan_.sweep().budget_s));
}

// What the certifier left unmeasured has no figures and no failure: it is no row.
void MeasuredSweep::keep_decided(TuneRun& run) const {
  std::set<Configuration> decided;
  for (const auto& [combination, configuration] : certifier_->steps().configurations) {
    if (certifier_->is_decided(combination)) decided.insert(configuration);
  }
  std::erase_if(run.evaluations,
                [&](const Evaluation& e) { return !decided.contains(e.configuration); });
  for (const auto& [combination, configuration] : certifier_->steps().configurations) {
    const auto* at = find_or_null(run.evaluations, configuration, &Evaluation::configuration);
    if (at) certifier_->check(combination, *at, evaluator_.source());
  }
}

// The minutes of a night are not exceeded for a front that is in doubt: other nights follow.
void MeasuredSweep::keep_measured(TuneRun& run) {
  const std::size_t dropped = drop_unmeasured(evaluator_, run.evaluations);
  if (dropped == 0) return;
  run.notes.push_back(
      fmt::format("{} of {} configurations have a kernel that was not measured this night", dropped,
                  dropped + run.evaluations.size()));
}

// Whatever may be on the front is to be confronted with a run, not only what the medians say.
void MeasuredSweep::add_possible_points(TuneRun& run) const {
  for (const CertifiedPoint& point : make_certificate(certifier_->certifier()).front) {
    const Configuration& c = certifier_->steps().configurations.at(point.configuration);
    const auto at = std::ranges::find(run.evaluations, c, &Evaluation::configuration);
    if (at == run.evaluations.end() || !at->estimate) continue;
    const auto index = as_size(at - run.evaluations.begin());
    if (std::ranges::find(run.front, index) == run.front.end()) run.front.push_back(index);
  }
}

void MeasuredSweep::settle(TuneRun& run) {
  if (!context_.store->rows<Evaluation>(run.id).empty()) return take_judged(run);
  SettledFront settled = settle_front(evaluator_, run.evaluations);
  if (!settled.note.empty()) run.notes.push_back(std::move(settled.note));
  run.untried = std::move(settled.untried);
  run.rivals = std::move(settled.rivals);
}

// What a finished run said of itself stands: its repeats are not begun again.
void MeasuredSweep::take_judged(TuneRun& run) {
  for (const Evaluation& known : context_.store->rows<Evaluation>(run.id)) {
    for (Evaluation& e : run.evaluations) {
      if (e.configuration == known.configuration) e = known;
    }
  }
  std::vector<Evaluation> again = run.evaluations;
  judge_front(evaluator_, again, run.rivals);
}

// What is shown was measured before, now, or both: whoever calls a command twice is told.
std::string MeasuredSweep::kept_text(std::int64_t run) const {
  if (!evaluator_.is_resumed()) return {};
  const std::string begun =
      fmt::format("run {}, begun {}", run, context_.store->run_info(run).started_utc);
  if (evaluator_.new_rows() == 0) {
    return "stored figures of " + begun +
           ": nothing was measured now; --rerun measures in a new run";
  }
  return fmt::format("{}, resumed: {} rows were stored, {} measured now", begun,
                     evaluator_.kept_rows(), evaluator_.new_rows());
}

// A configuration whose energy nobody knows is on no front that is of energy.
void MeasuredSweep::note_energy(TuneRun& run) const {
  if (!plan_.target().asks_energy) return;
  std::size_t without = 0, all = 0;
  std::string why;
  for (const Evaluation& e : run.evaluations) {
    if (!e.estimate) continue;
    ++all;
    if (e.estimate->energy) continue;
    ++without;
    if (why.empty()) why = e.estimate->energy_reason;
  }
  if (without == 0) return;
  run.notes.push_back(
      fmt::format("energy of {} of {} configurations is not known: {}", without, all, why));
}

void MeasuredSweep::finish(TuneRun& run) const {
  note_energy(run);
  run.kept = kept_text(run.id);
  run.rows.assign(evaluator_.rows().begin(), evaluator_.rows().end());
  run.front = step_front(run.evaluations, plan_.sweep().objectives);
  if (evaluator_.is_interrupted()) return;
  std::set<std::string> known;
  for (const Evaluation& e : context_.store->rows<Evaluation>(run.id)) {
    known.insert(e.configuration.key());
  }
  for (const Evaluation& e : run.evaluations) {
    if (!known.contains(e.configuration.key())) context_.store->append(run.id, e);
  }
  for (const Untried& u : run.untried) context_.store->append(run.id, u);
  if (const auto& nightly = plan_.sweep().nightly) {
    close_night(*context_.store, run.id, context_.machine_lines, night_build_,
                nightly->keep_samples_nights);
  }
}

// Kernels are measured together and before their turn: a trial took the time of its own.
void MeasuredSweep::note_times(TuneRun& run) {
  for (const Evaluation& e : run.evaluations) {
    if (const auto time = evaluator_.measured_when(e.configuration)) {
      run.times[e.configuration.key()] = *time;
    }
  }
  if (context_.steering != nullptr) run.notes.push_back(context_.steering->note());
}

// All of them at once, where that is what the sweep wants.
void MeasuredSweep::measure_kernels(TuneRun& run) {
  if (plan_.sweep().nightly) {
    const NightBuilds builds = builds_of_night(evaluator_);
    night_build_ = builds.now;
    run.notes = measure_night(evaluator_, builds);
  } else if (!certifier_ && plan_.covers_everything()) {
    evaluator_.source().require(plan_.forecast().kernels);
  }
}

void MeasuredSweep::search_by_gain(TuneRun& run) {
  GainSearch search(evaluator_);
  const TrialTime now = {std::chrono::system_clock::now(), std::chrono::system_clock::now()};
  search.measure();
  run.evaluations = search.evaluations();
  run.notes = search.notes();
  run.batches = search.batches();
  for (const Evaluation& e : run.evaluations) run.times.emplace(e.configuration.key(), now);
}

void MeasuredSweep::search_by_sampler(TuneRun& run) {
  measure_kernels(run);
  const auto all = as_double(plan_.configurations());
  double share = 0;
  for (const TuneProblem& problem : plan_.problems()) {
    share += as_double(problem.space().size()) / all;
    search(problem, share * plan_.sweep().budget_s, run);
  }
}

TuneRun MeasuredSweep::measure() {
  TuneRun run{.id = evaluator_.run(), .is_resumed = evaluator_.is_resumed()};
  const bool by_gain = !certifier_ && context_.steering == nullptr && plan_.is_chosen_by_gain();
  by_gain ? search_by_gain(run) : search_by_sampler(run);
  // In an order of their own, whoever proposed them.
  std::ranges::sort(run.evaluations, {}, &Evaluation::configuration);
  if (certifier_) keep_decided(run);
  if (plan_.sweep().nightly) {
    keep_measured(run);
  } else if (!evaluator_.is_interrupted() && !certifier_) {
    settle(run);
  }
  evaluator_.drop_arenas();
  note_times(run);
  finish(run);
  if (certifier_) add_possible_points(run);
  return run;
}

}  // namespace halmark::tune
