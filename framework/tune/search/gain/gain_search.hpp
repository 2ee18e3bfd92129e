// Chooses what a measured sweep measures next: the configurations, and further rounds of measured
// ones, from which the front is likely to gain most per second of measuring.
#pragma once

#include <string>
#include <vector>

#include "tune/evaluate/first_peaks.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/gain/gain_field.hpp"
#include "tune/search/gain/kernel_belief.hpp"

namespace halmark::tune {

// Every decision is a function of the sweep, the peaks that the run began with and its rows: a run
// that is continued asks for the same kernels in the same order.
class GainSearch {
 public:
  // Of a plan that is chosen by gain.
  explicit GainSearch(MeasuredEvaluator& evaluator);

  // Batch by batch, until the budget or the configurations end, the expected loss is within the
  // sweep's regret, or nothing that is left would change a front. Then the rounds of the sweep for
  // what stands on a front, as far as the budget goes: what is deployed is not printed from one
  // process.
  void measure();

  // Of all that were measured, or failed, in the order of the problems.
  std::vector<Evaluation> evaluations() const;
  // What each batch cost and decided, and the loss that is left.
  const std::vector<std::string>& notes() const { return notes_; }
  // Of the front of each problem, in their order.
  const std::vector<double>& losses() const { return losses_; }

 private:
  struct Action {
    std::size_t field = 0, place = 0;  // of a believed field
    int round = 0;                     // which is measured of those of its kernels that lack it
    std::vector<std::size_t> kernels;
    double seconds = 0, worth = 0;  // gain per second; 0 = no action
  };
  using Judged = std::vector<BelievedField>;  // in the order of the fields

  Judged judged();
  void take_rows();
  double seconds_of(std::span<const std::size_t> kernels) const;
  double seconds_left() const;
  std::vector<std::size_t> kernels_at(const GainField::Member& member, int round,
                                      const std::vector<bool>& is_chosen) const;
  int rounds_of(const GainField::Member& member) const;
  Action best_action(const Judged& now, const std::vector<bool>& is_chosen, double left_s,
                     bool may_try) const;
  std::vector<Action> choose(Judged& now) const;
  double rest_of_front_s(const Judged& now) const;
  void measure(std::span<const Action> batch);
  void measure(std::span<const std::size_t> kernels, int round);
  std::vector<std::size_t> unfinished(const Judged& now, int round) const;
  bool complete();  // false: every round of the front was measured
  static std::vector<double> losses_of(const Judged& now);
  void note_batch(std::span<const Action> batch, double seconds);
  void note_change(const Judged& now);
  void note_end();
  bool is_within_regret(const Judged& now) const;
  std::size_t tried() const;

  MeasuredEvaluator& evaluator_;
  const Sweep& sweep_;
  FirstPeaks peaks_;
  KernelTable table_;
  std::vector<GainField> fields_;
  std::vector<BelievedKernel> kernels_;  // of the table
  std::vector<double> seconds_;          // of one round of each, as predicted
  std::vector<int> rounds_;              // that each was measured
  std::vector<bool> is_failed_;
  double predicted_s_ = 0;  // of what was measured
  std::vector<std::string> notes_;
  std::vector<double> losses_;
};

}  // namespace halmark::tune
