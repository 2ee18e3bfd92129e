// Trials that others propose and this process evaluates: what `study.enqueue_trial` left waiting,
// and what a sampler of Optuna asked and marked. The study belongs to who proposes; here trials are
// claimed, and their outcomes stored.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "framework/study/lease.hpp"
#include "framework/study/outcome.hpp"
#include "search/space/space.hpp"
#include "study/values.hpp"

namespace halmark {

// Of the study, written here: parameters as Optuna's distributions, constants, constraints.
inline constexpr std::string_view space_attribute = "halmark:space";
// Of a trial, written by who asked it with study.ask: true = it is to be evaluated here.
inline constexpr std::string_view evaluate_attribute = "halmark:evaluate";
// Of the study, written by who proposes: true = nothing follows what waits.
inline constexpr std::string_view stop_attribute = "halmark:stop";

struct Proposal {
  int trial = 0;  // its number
  Point point;
};

struct ProposalOutcome {
  StudyVerdict verdict;
  Attributes user = {};
};

class Proposals {
 public:
  // Opens the study of `wanted.name`, or makes it with these directions; writes space_attribute.
  // `is_constrained`: outcomes may have values and break a constraint, see ConstraintForm. Throws
  // Error (exit 2) where the study has other directions. Store and space must outlive it.
  Proposals(StudyStore& store, const StudyInfo& wanted, const SpaceDescription& description,
            const Space& space, bool is_constrained = false);

  // At most `count` trials, in the order of their numbers, from now on running here; other
  // processes, Optuna's included, get none of them. A parameter that has one value alone need not
  // be given, an inactive one is not looked at. What is no point of the space fails with its
  // reason, what breaks a constraint is infeasible with it: neither is returned. A trial whose
  // process is known to be gone, or that was given back, is claimed again, once.
  std::vector<Proposal> claim(std::size_t count);

  // Stored as complete, or with the reason as failed or infeasible, the amount as its constraint:
  // pruned where the study has one objective, failed where it has several and there are no values.
  // A trial that is not running here any more is left as it is.
  void tell(std::span<const ProposalOutcome> outcomes);

  // Gives back what was claimed and not told.
  void release();

  // Whether there may be something to claim. Takes no lock.
  bool has_some();
  // Whether stop_attribute is set.
  bool is_over();

  const StudyInfo& info() const { return info_; }
  // "trial 3: 'tp' cannot be 5", of what claim refused.
  const std::vector<std::string>& refused() const { return refused_; }

 private:
  struct Reading {
    Point point;
    std::optional<StudyVerdict> refusal = {};
  };

  TrialChange change_of(const StudyVerdict& verdict, std::int64_t id) const;
  void look();
  void learn(const TrialRow& row);
  Reading read(const TrialRow& row) const;
  static std::optional<LeaseVerdict> judged(StudyTransaction& transaction, const TrialRow& row);
  TrialChange claim_of(const TrialRow& row, const Reading& reading,
                       const LeaseVerdict& lease) const;
  std::vector<TrialParam> params_of(const Point& point) const;

  StudyStore& store_;
  const Space& space_;
  StudyInfo info_;
  std::string worker_;
  TrialCursor cursor_;
  ConstraintForm constraints_;
  std::map<std::string, ParamValue> constants_;
  // As the study's rows have them, else as the space has them: one study may not hold both.
  std::map<std::string, std::shared_ptr<const ParamDistribution>> distributions_;
  std::set<std::string> known_;                       // names whose distribution is the study's own
  std::map<int, TrialRow> candidates_;                // by number
  std::map<int, TrialRow> running_on_other_workers_;  // running for another worker
  std::map<int, std::int64_t> mine_;                  // ids by number
  std::vector<std::string> refused_;
  std::chrono::steady_clock::time_point next_look_{};
};

}  // namespace halmark
