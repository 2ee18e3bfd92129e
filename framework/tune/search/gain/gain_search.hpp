// Chooses what a measured sweep measures next: the configurations, and further rounds of measured
// ones, from which the front is likely to gain most per second of measuring.
#pragma once

#include <string>
#include <vector>

#include "tune/evaluate/first_peaks.hpp"
#include "tune/evaluate/measured_evaluator.hpp"
#include "tune/search/gain/gain_field.hpp"
#include "tune/search/gain/kernel_belief.hpp"
#include "tune/search/gain/occasion.hpp"

namespace halmark::tune {

// Every decision is a function of the sweep, the peaks that the run began with and its rows: a run
// that is continued asks for the same kernels in the same order.
class GainSearch {
 public:
  // Of a plan that is chosen by gain.
  explicit GainSearch(MeasuredEvaluator& evaluator);

  // Batch by batch, until the budget or the configurations end, the loss is within the sweep's
  // regret (in the mean, and in nine of ten draws), or nothing that is left would change a front.
  // With a regret, rounds beyond those of the sweep are measured where they decide a front. Then
  // what stands on a front gets the rounds of the sweep, as far as the budget goes, and with a
  // regret what is best by the first objective two: what is deployed is not printed from one
  // process.
  void measure();

  // Of all that were measured, or failed, in the order of the problems.
  std::vector<Evaluation> evaluations() const;
  // What each batch cost and decided, as told while it was measured.
  const std::vector<std::string>& batches() const { return batches_; }
  // The loss that is left.
  const std::vector<std::string>& notes() const { return notes_; }
  // Of the front of each problem, in their order.
  const std::vector<double>& losses() const { return losses_; }

 private:
  struct Action {
    std::vector<std::size_t> occasions;  // one round more of each
    double seconds = 0, worth = 0;       // gain per second; 0 = no action
    bool is_first = false;               // of a configuration that was not measured
    std::size_t field = 0, place = 0;    // of it, in a believed field
  };
  struct Judged {
    std::vector<BelievedField> fields;  // in the order of the fields
    std::vector<DoubtOfField> doubts;   // likewise
  };
  // What a batch has taken so far.
  struct Taken {
    std::vector<bool> occasions;
    double left_s = 0;
    bool may_try = true;
  };

  void take_rows();
  Judged judged();
  bool may_repeat(const Occasion& occasion) const;
  double seconds_of(const Occasion& occasion) const;  // of one more round
  double seconds_of(std::span<const std::size_t> occasions) const;
  double seconds_left() const;
  bool is_measured(const GainField::Member& member) const;
  std::vector<std::size_t> occasions_at(const GainField::Member& member, int round,
                                        const std::vector<bool>& is_taken) const;
  double gain_least() const;
  void propose_first(const Judged& now, const Taken& taken, double reserved_s, Action& best) const;
  void propose_round(const Judged& now, const Taken& taken, double reserved_s, Action& best) const;
  std::vector<Action> choose(Judged& now) const;
  std::vector<Action> rounds_of_front(const Judged& now) const;
  std::vector<const GainField::Member*> finished_last(const Judged& now) const;
  int rounds_in_the_end() const;
  double rest_of_front_s(const Judged& now) const;
  void measure(std::span<const Action> batch);
  void measure(std::span<const std::size_t> occasions, int round);
  static std::vector<double> losses_of(const Judged& now);
  void note_batch(std::span<const Action> batch, double seconds, const Judged& now);
  void note_end(const Judged& now);
  bool is_within_regret(const Judged& now) const;
  std::size_t tried() const;

  MeasuredEvaluator& evaluator_;
  const Sweep& sweep_;
  FirstPeaks peaks_;
  KernelTable table_;
  std::vector<GainField> fields_;
  std::vector<BelievedKernel> kernels_;  // of the table
  std::vector<Occasion> occasions_;
  std::vector<bool> is_failed_;  // by kernel
  std::vector<std::string> batches_, notes_;
  std::vector<double> losses_;
};

}  // namespace halmark::tune
