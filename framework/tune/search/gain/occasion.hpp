// What is measured at once and what it costs, and in which of it the doubt of a front lies.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "model/pricing/step_sum.hpp"
#include "tune/search/gain/gain_field.hpp"
#include "tune/search/gain/kernel_belief.hpp"

namespace halmark::tune {

// The kernels of one stack, or one in a loop of its own: who measures one of them measures all, in
// one process and one state of the machine.
struct Occasion {
  std::vector<std::size_t> kernels;  // of the table
  double predicted_s = 0;            // of one round
  double measured_s = 0;             // of all its rounds
  int rounds = 0;
};
// `seconds`: of one round of each kernel, as predicted. Sets `occasion` of each kernel to an index.
std::vector<Occasion> occasions_of(std::vector<BelievedKernel>& kernels,
                                   std::span<const double> seconds);

// How much of the expected loss one further round of each occasion would take away. A measured
// configuration that may belong on the front is kept off it by one that seems better: the variance
// of the difference of their steps comes from the occasions in which their kernels were measured,
// and a round more of one takes 1 / (rounds + 1) of its share.
class DoubtOfField {
 public:
  // `medians`: times of all kernels, as in the believed field; `may_repeat`: occasions that may
  // have another round.
  DoubtOfField(const GainField& field, const BelievedField& believed,
               std::span<const BelievedKernel> kernels, std::span<const Occasion> occasions,
               std::span<const KernelTime> medians, const std::vector<bool>& may_repeat);

  double worth(std::size_t occasion) const;
  // As if its next round were measured.
  void repeat(std::size_t occasion);

 private:
  struct Part {
    std::size_t doubtful = 0;  // index into left_
    double share = 0;          // of its variance that one more round takes away
  };
  std::vector<double> left_;                        // expected gain of each that is in doubt
  std::map<std::size_t, std::vector<Part>> parts_;  // by occasion
};

}  // namespace halmark::tune
