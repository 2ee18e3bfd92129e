// What is believed of kernel times before and while they are measured: joint draws in which kernels
// that have something in common err together.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "model/pricing/step_sum.hpp"
#include "search/surrogate/triangular.hpp"
#include "tune/evaluate/first_peaks.hpp"
#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

// What a kernel shares with others, the most general first; errors of those that agree in one are
// correlated by its part of the variance.
inline constexpr std::size_t kernel_traits = 10;

struct BelievedKernel {
  double bound_ns = 0;  // no draw is below it; 0 = not known
  double guess_ns = 0;  // of nothing but the device: where the belief begins
  std::array<std::string, kernel_traits> traits;
  std::string ceiling = {};             // what the bound is made of: "memory", "compute in s8"
  std::vector<double> medians_ns = {};  // of the processes that measured it, see process_medians_ns
  std::size_t occasion =
      0;  // those of one number are measured together, in one state of the machine
};
// Bounds and guesses by the peaks that the run began with, and what it has measured by now.
std::vector<BelievedKernel> believed_kernels(const MeasuredEvaluator& evaluator,
                                             const FirstPeaks& peaks,
                                             std::span<const KernelCase> cases);

// ln(time / guess) is a sum of a normal effect of each trait and one of the kernel's own (Bayesian
// linear regression; Gelman et al., Bayesian Data Analysis, 3rd ed., 14.2 and 15): what was
// measured teaches the effects, and how large they are altogether (inverse gamma scale). Times that
// were measured scatter about their median as processes do, by what rounds of all kernels show, and
// most of that is common to what was measured together. A bound is of peaks that were measured:
// where a kernel was faster than its own, the others under that ceiling may be, too. A function of
// the kernels.
class KernelBelief {
 public:
  explicit KernelBelief(std::span<const BelievedKernel> kernels);

  // Of each kernel; a function of (seed, number).
  std::vector<KernelTime> draw(std::uint64_t seed, std::uint64_t number) const;
  // Relative standard deviation of the medians of one process.
  double scatter() const { return scatter_; }

 private:
  void learn_scatter();
  void learn_floors();
  void number_traits();
  void regress();

  std::span<const BelievedKernel> kernels_;
  double scatter_ = 0, scale_ = 1;
  std::map<std::string, double> floors_;           // by ceiling, of the bound
  std::vector<std::vector<std::size_t>> effects_;  // by kernel: its numbered traits
  std::vector<double> own_variance_;               // by kernel: what it shares with no other
  std::vector<double> prior_variance_;             // by effect
  std::size_t learned_ = 0;                        // effects of measured kernels come first
  CholeskyFactor precision_;                       // of the learned effects
  std::vector<double> mean_;
};

}  // namespace halmark::tune
