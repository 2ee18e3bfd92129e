// A measured sweep from its plan to its front: the one call that `halmark tune` makes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/rival.hpp"
#include "core/chosen/untried.hpp"
#include "tune/certify/certify_chooser.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/night.hpp"

namespace halmark::tune {

struct TuneRun {
  std::int64_t id = 0;
  bool is_resumed = false;
  std::vector<Measurement> rows;
  std::vector<Evaluation> evaluations;
  std::vector<std::size_t> front;  // into evaluations; per phase, by latency
  std::vector<Validation> validations;
  std::vector<Untried> untried;  // of phases that the budget did not cover
  std::vector<std::string> notes;
  std::vector<std::string> batches;  // what each cost and decided, as it was told
  std::vector<Rival> rivals;         // of each phase, see judge_front
  TrialTimes times;                  // of the evaluations
  std::string kept;                  // what was measured before and shown now; "" = nothing
};

// For people: where the figures are from and what was done.
std::vector<std::string> notes_of(const TuneRun& run);

// One sweep while it is measured, and what is needed of it afterwards.
class MeasuredSweep {
 public:
  // Begins a run or finds the one that this plan began here. `certify`: prove the front instead of
  // measuring everything. All must outlive it.
  MeasuredSweep(const TunePlan& plan, const MeasureContext& context,
                const std::optional<CertifySettings>& certify);

  // Searches, settles the front, stores the evaluations unless interrupted.
  TuneRun measure();
  MeasuredEvaluator& evaluator() { return evaluator_; }
  // Null unless certified.
  const CertifyChooser* certifier() const { return certifier_.get(); }

 private:
  void measure_kernels(TuneRun& run);
  void note_times(TuneRun& run);
  std::vector<Point> first_points(const TuneProblem& problem) const;
  void search(const TuneProblem& problem, double until_s, TuneRun& run);
  void search_by_sampler(TuneRun& run);
  void search_by_gain(TuneRun& run);
  void keep_decided(TuneRun& run) const;
  void keep_measured(TuneRun& run);
  void add_possible_points(TuneRun& run) const;
  void settle(TuneRun& run);
  void take_judged(TuneRun& run);
  std::string kept_text(std::int64_t run) const;
  void note_energy(TuneRun& run) const;
  void finish(TuneRun& run) const;

  const TunePlan& plan_;
  const MeasureContext& context_;
  std::unique_ptr<CertifyChooser> certifier_;
  AllKernels all_kernels_;
  KnownKernels known_kernels_;  // of nights
  std::string night_build_;     // id of the kept build
  MeasuredEvaluator evaluator_;
};

}  // namespace halmark::tune
