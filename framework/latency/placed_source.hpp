// PlacedSource: a source whose times of collectives follow from where their ranks lie, too.
#pragma once

#include <cstdint>

#include "latency/problem_source.hpp"

namespace halmark {

class PlacedSource : public ProblemSource {
 public:
  using ProblemSource::latency;
  // Of a collective whose ranks are `stride` devices apart, on devices numbered nearest first.
  virtual std::optional<Latency> latency(const Problem& problem, const Work& work,
                                         std::int64_t stride) const = 0;
  // The same of its problem, whatever kernel it names; of a share of a device too, because the
  // ranks of a fabric may be shares of one. Nothing for what is no collective.
  std::optional<Latency> latency(const KernelCase& kernel_case, std::int64_t stride) const;
  // Of neighbours.
  std::optional<Latency> latency(const Problem& problem, const Work& work) const final {
    return latency(problem, work, 1);
  }
};

}  // namespace halmark
