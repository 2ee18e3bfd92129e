// What is measured next: the kernels that reduce the doubt about the others of their family most
// per second, by what is believed of all of them (KernelBelief).
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "onboard/candidates.hpp"
#include "tune/search/gain/kernel_belief.hpp"

namespace halmark::onboard {

class Choice {
 public:
  // `device`: peaks that bound the candidates, which outlive this; `threads` of it compute.
  Choice(std::span<const Candidate> candidates, const Device& device, int threads,
         std::uint64_t seed);

  void learn(std::size_t candidate, double ns);  // the median of one process
  void give_up(std::size_t candidate);           // it has no time
  bool has_more() const;
  std::size_t learned() const { return learned_; }

  // At most `count` that are not known, the best first, which take at most `seconds` together as
  // predicted. Each is chosen as if those before it were known: the expected fall of the variance
  // of ln(time), over all candidates, per second (active learning: MacKay 1992, Cohn 1996).
  // Families count by their part of the steps, none below a fiftieth. A function of what was
  // learned.
  std::vector<std::size_t> next(std::size_t count, double seconds) const;

 private:
  struct Family {
    std::vector<std::size_t> members;
    double weight = 0;  // of each member
  };
  struct Best {
    std::size_t candidate = 0;
    double worth = 0;  // per second; 0 = none is left
  };
  using Drawn = std::vector<std::vector<double>>;  // ln(time) less its mean, by candidate and draw
  Drawn drawn() const;
  Best best(const Drawn& drawn, const std::vector<bool>& is_out, double seconds) const;
  void suppose_known(std::size_t candidate, Drawn& drawn) const;

  std::span<const Candidate> candidates_;
  std::uint64_t seed_;
  std::vector<tune::BelievedKernel> kernels_;
  std::vector<bool> is_done_;
  std::size_t learned_ = 0;
  std::vector<Family> families_;
  std::vector<std::size_t> family_of_;
};

}  // namespace halmark::onboard
