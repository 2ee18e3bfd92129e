// ProblemSource: a source that knows problems on one whole device and no plugin's kernels.
#pragma once

#include "core/latency.hpp"

namespace halmark {

class ProblemSource : public LatencySource {
 public:
  void require(std::span<const KernelCase>) override {}
  // Of its problem, whatever kernel it names. Nothing for a cut of a device: what is known is of
  // all of it. Throws Error (exit 2) for a problem that its contract refuses.
  std::optional<Latency> latency(const KernelCase& kernel_case) const final;
  std::optional<Latency> latency(const Problem& problem, const Work& work) const override = 0;
};

}  // namespace halmark
