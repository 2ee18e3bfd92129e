// Kernels are measured minutes apart, each in the state of its minute: their errors are
// independent, but a run meets one state. Adding all lows would be too wide for the first and says
// nothing of the second.
#include "model/pricing/run_interval.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace halmark {
namespace {

// Of a sum of kernels against a run in the same state: tests/bench/composition.cpp.
constexpr double composition_share = 0.04;

struct Weighted {
  double value = 0, weight = 0;
};

// The smallest value that half of the weight does not exceed.
double weighted_median(std::vector<Weighted> values) {
  std::ranges::sort(values, {}, &Weighted::value);
  double left = 0;
  for (const Weighted& v : values) left += v.weight / 2;
  for (const Weighted& v : values) {
    left -= v.weight;
    if (left <= 0) return v.value;
  }
  return values.back().value;
}

}  // namespace

std::optional<StateInterval> run_interval(const StepSum& sum, std::size_t stage,
                                          std::span<const std::optional<Latency>> latencies) {
  std::vector<StepSum::Term> executed;
  for (const StepSum::Term& term : sum.terms_of(stage)) {
    executed.push_back({term.kernel, term.count * sum.micro_batches});
  }
  return run_interval(executed, latencies);
}

std::optional<StateInterval> run_interval(std::span<const StepSum::Term> executed,
                                          std::span<const std::optional<Latency>> latencies) {
  std::map<std::int32_t, double> counts;
  for (const StepSum::Term& term : executed) counts[term.kernel] += term.count;
  StateInterval out;
  double squares = 0, named_ns = 0;
  std::vector<Weighted> waiting, all, computing;
  for (const auto& [kernel, count] : counts) {
    const Latency& l = *latencies[static_cast<std::size_t>(kernel)];
    if (l.provenance != Provenance::measured) return std::nullopt;
    const double ns = count * l.ns, half_ns = count * (l.high_ns - l.low_ns) / 2;
    const bool waits = l.limiter == Limiter::memory;
    out.step_ns += ns;
    squares += half_ns * half_ns;
    if (waits) out.memory_ns += ns;
    if (l.limiter == Limiter::compute && l.flops_per_s) {
      out.compute_ns += ns;
      computing.push_back({*l.flops_per_s, ns});
    }
    if (!l.bytes_per_s) continue;
    all.push_back({*l.bytes_per_s, ns});
    if (waits) waiting.push_back({*l.bytes_per_s, ns});
    if (waits) named_ns += ns;
  }
  if (all.empty() || named_ns < out.memory_ns / 2 || !(out.step_ns > 0)) return std::nullopt;
  out.state.bytes_per_s = weighted_median(waiting.empty() ? all : waiting);
  if (!computing.empty()) out.state.flops_per_s = weighted_median(computing);
  squares += std::pow(followed_share * same_state * out.memory_ns, 2) +
             std::pow(followed_share * same_state * out.compute_ns, 2) +
             std::pow(composition_share * out.step_ns, 2);
  const double half_ns = std::sqrt(squares);
  out.ns = {std::max(0.0, out.step_ns - half_ns), out.step_ns + half_ns};
  return out;
}

}  // namespace halmark
