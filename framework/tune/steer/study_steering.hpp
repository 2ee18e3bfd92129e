// A sweep whose configurations others propose: trials of a study, so that any sampler of Optuna, or
// a person who enqueues, steers what is measured or priced.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "framework/study/proposals.hpp"
#include "tune/plan/plan.hpp"
#include "tune/search/loop.hpp"

namespace halmark::tune {

struct ProposalChoice {
  std::string location;  // of the storage; "" = a sampler proposes
  std::string study;     // "" = the only one there, or one of the sweep's name
  double wait_s = 60;    // without a proposal, then the search ends
};

// Lets the sweep be steered where the choice says so. Throws Error (exit 2) for a sweep that
// chooses otherwise: with a sampler that was named, by night, or by proof.
void steer(Sweep& sweep, const ProposalChoice& choice);

class StudySteering : public Steering {
 public:
  // Opens the study or makes it, with the objectives of the plan. Throws Error (exit 2) for a plan
  // of several problems, and for a study with other objectives.
  StudySteering(const ProposalChoice& choice, const TunePlan& plan);

  // Claims what is proposed, evaluates each configuration once, and tells each trial its values in
  // the units of its study. Ends with the budget, when nothing was proposed for wait_s, or when the
  // study says that nothing follows. What was claimed and not evaluated is given back. Throws Error
  // (exit 4) where nothing could be evaluated.
  SearchResult run(const TuneProblem& problem, Evaluator& evaluator, const LoopOptions& options,
                   const Sink& sink) override;

  // "24 trials of study 's' at sqlite:///s.db, 2 refused (trial 3: 'tp' cannot be 5)"
  std::string note() const override;

 private:
  bool wait(const LoopOptions& options, std::chrono::steady_clock::time_point deadline);
  void answer(const TuneProblem& problem, Evaluator& evaluator,
              const std::vector<Proposal>& proposals, const Sink& sink,
              std::vector<Told>& told_so_far);
  ProposalOutcome outcome_of(const TuneProblem& problem, const Proposal& proposal,
                             const Evaluation& evaluation) const;
  void require_some() const;

  ProposalChoice choice_;
  TuneProblem problem_;
  std::unique_ptr<StudyStore> store_;
  std::optional<Proposals> proposals_;
  std::map<std::string, Evaluation> known_;  // by key of the configuration
  std::size_t answered_ = 0;
};

// Null where a sampler proposes.
std::unique_ptr<Steering> steering_of(const ProposalChoice& choice, const TunePlan& plan);

}  // namespace halmark::tune
