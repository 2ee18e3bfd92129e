#include "tune/steer/study_steering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"
#include "core/text/url.hpp"
#include "study/storage/open.hpp"
#include "tune/stored/study_trials.hpp"

namespace halmark::tune {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t claimed_trials = 64;  // claimed at once where the evaluator does not say
constexpr auto pause_first = std::chrono::milliseconds(20),
               pause_max = std::chrono::milliseconds(250);

// The only study of the storage, unless one is named or has the sweep's name.
std::string study_name(StudyStore& store, const ProposalChoice& choice, const Sweep& sweep) {
  if (!choice.study.empty()) return choice.study;
  auto names = mapped(store.list(), [&](const StudySummary& study) { return study.info.name; });
  if (names.empty() || contains(names, sweep.name)) return sweep.name;
  if (names.size() == 1) return names.front();
  throw refused(fmt::format("{} studies are there", names.size()), std::string(store.location()),
                "name one with --proposals-study: '" + names.front() + "', '" + names[1] + "'...");
}

// The store's words for a place may be what was typed, password included.
std::string shown(const ProposalChoice& choice) { return without_password(choice.location); }

}  // namespace

void steer(Sweep& sweep, const ProposalChoice& choice) {
  if (choice.location.empty()) {
    if (sweep.sampler != proposals_sampler) return;
    throw refused("the sampler proposals takes what a study holds", sweep.sampler_where,
                  "name it: --proposals sqlite:///FILE");
  }
  if (!sweep.sampler_where.empty() && sweep.sampler_where.starts_with("--")) {
    throw refused("--sampler and --proposals both say who proposes", {}, "leave one out");
  }
  if (sweep.nightly) {
    throw refused("a sweep with [nightly] chooses for itself what a night measures", sweep.file,
                  "steer a sweep without it");
  }
  sweep.sampler = proposals_sampler;
}

StudySteering::StudySteering(const ProposalChoice& choice, const TunePlan& plan)
    : choice_(choice), problem_(plan.problems().front()) {
  if (plan.problems().size() > 1) {
    throw refused(fmt::format("a study steers one kind of step, and this sweep has {} and {}",
                              plan.problems()[0].name(), plan.problems()[1].name()),
                  plan.sweep().file, "leave the workloads of one phase out");
  }
  store_ = open_study_store(choice.location, StudyAccess::or_create);
  const std::string name = study_name(*store_, choice, plan.sweep());
  proposals_.emplace(*store_, study_of(name, problem_.objectives()), problem_.description(),
                     problem_.space(), !problem_.levels().empty());
}

// Until there may be something to claim; false when there will not be.
bool StudySteering::wait(const LoopOptions& options, Clock::time_point deadline) {
  auto pause = pause_first;
  while (Clock::now() < deadline) {
    if (options.should_stop && options.should_stop()) return false;
    if (proposals_->has_some()) return true;
    // What was proposed before the end was said is evaluated: hence the second look.
    if (proposals_->is_over()) return proposals_->has_some();
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, pause_max);
  }
  return false;
}

ProposalOutcome StudySteering::outcome_of(const TuneProblem& problem, const Proposal& proposal,
                                          const Evaluation& evaluation) const {
  const Told told = told_of(problem, proposal.point, evaluation);
  ProposalOutcome out{.verdict = {.trial = proposal.trial,
                                  .outcome = told.outcome,
                                  .violations = told.violations,
                                  .reason = told.reason},
                      .user = trial_attributes(evaluation)};
  if (!told.objectives.empty()) {
    out.verdict.values = study_values(evaluation, problem.objectives());
  } else if (evaluation.status == Status::refused) {
    // What does not fit teaches a sampler more than what merely failed.
    out.verdict.outcome = TrialOutcome::infeasible;
    out.verdict.violations = {1};
  }
  return out;
}

void StudySteering::answer(const TuneProblem& problem, Evaluator& evaluator,
                           const std::vector<Proposal>& proposals, const Sink& sink,
                           std::vector<Told>& told_so_far) {
  std::vector<Point> points;
  std::set<std::string> asked;
  for (const Proposal& p : proposals) {
    const std::string key = problem.at(p.point).key();
    if (!known_.contains(key) && asked.insert(key).second) points.push_back(p.point);
  }
  const std::vector<TimedEvaluation> found = evaluate_points(problem, evaluator, points);
  for (const auto i : indices(found)) {
    const auto& [evaluation, time] = found[i];
    // Stopped before its turn: given back with what else was not told.
    if (evaluation.status == Status::cancelled) continue;
    known_.emplace(evaluation.configuration.key(), evaluation);
    sink(points[i], evaluation, time);
  }
  std::vector<ProposalOutcome> outcomes;
  for (const Proposal& p : proposals) {
    const auto* it = find_value(known_, problem.at(p.point).key());
    if (!it) continue;
    outcomes.push_back(outcome_of(problem, p, *it));
    told_so_far.push_back(told_of(problem, p.point, *it));
  }
  proposals_->tell(outcomes);
  answered_ += outcomes.size();
}

SearchResult StudySteering::run(const TuneProblem& problem, Evaluator& evaluator,
                                const LoopOptions& options, const Sink& sink) {
  const std::size_t batch = options.budget.batch == 0 ? claimed_trials : options.budget.batch;
  const std::size_t trials = options.budget.trials;
  const auto is_stopped = [&] { return options.should_stop && options.should_stop(); };
  const auto patience =
      std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(choice_.wait_s));
  Clock::time_point deadline = Clock::now() + patience;
  SearchResult out{.told = {}, .end = SearchEnd::budget};
  while (trials == 0 || out.told.size() < trials) {
    if (is_stopped()) break;
    const std::size_t wanted = trials == 0 ? batch : std::min(batch, trials - out.told.size());
    const std::vector<Proposal> proposals = proposals_->claim(wanted);
    if (proposals.empty()) {
      if (wait(options, deadline)) continue;
      out.end = SearchEnd::exhausted;
      break;
    }
    answer(problem, evaluator, proposals, sink, out.told);
    deadline = Clock::now() + patience;
  }
  proposals_->release();
  if (is_stopped()) {
    out.end = SearchEnd::stopped;
  } else {
    require_some();
  }
  return out;
}

void StudySteering::require_some() const {
  if (answered_ > 0) return;
  const std::string where = shown(choice_) + ", study '" + proposals_->info().name + "'";
  const std::vector<std::string>& refused = proposals_->refused();
  if (!refused.empty()) {
    throw Error(ExitCode::partial,
                fmt::format("nothing that was proposed could be taken: {}", refused.front()), where,
                "the study's attribute halmark:space has every parameter with its values");
  }
  throw Error(
      ExitCode::partial, fmt::format("nothing was proposed within {:g} s", choice_.wait_s), where,
      "study.enqueue_trial({...}) proposes; its attribute halmark:space has the parameters");
}

std::string StudySteering::note() const {
  std::string out = fmt::format("proposals: {} trials of study '{}' at {}", answered_,
                                proposals_->info().name, shown(choice_));
  const std::vector<std::string>& refused = proposals_->refused();
  if (!refused.empty()) {
    out += fmt::format(", {} refused ({}{})", refused.size(), refused.front(),
                       refused.size() > 1 ? ", ..." : "");
  }
  return out;
}

std::unique_ptr<Steering> steering_of(const ProposalChoice& choice, const TunePlan& plan) {
  if (choice.location.empty()) return nullptr;
  return std::make_unique<StudySteering>(choice, plan);
}

}  // namespace halmark::tune
