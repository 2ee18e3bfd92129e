#include "tune/stored/stored_study.hpp"

#include "tune/stored/study_trials.hpp"

namespace halmark::tune {

std::size_t store_evaluations(StudyStore& store, const std::string& name, Phase phase,
                              std::span<const Evaluation> evaluations,
                              std::span<const Objective> objectives, const TrialTimes& times) {
  std::vector<const Evaluation*> members;
  for (const Evaluation& e : evaluations) {
    if (e.configuration.workload.phase == phase) members.push_back(&e);
  }
  if (members.empty()) return 0;
  return store_trials(store, study_of(name, objectives), members, objectives, {}, {}, times);
}

void store_run(StudyStore& store, const Sweep& sweep, std::span<const TuneProblem> problems,
               const TuneRun& run) {
  for (const TuneProblem& problem : problems) {
    const std::string name = sweep.name + ' ' + problem.name() + ' ' +
                             problem.hash().substr(0, 12) + ", run " + std::to_string(run.id);
    store_evaluations(store, name, *parse_phase(problem.name()), run.evaluations, sweep.objectives,
                      run.times);
  }
}

}  // namespace halmark::tune
