// What a sweep did not try, at what it can be at best: a front is sure only as far as that allows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"

namespace halmark {

// A configuration that was not tried and that no tried one certainly beats at its best.
struct UntriedConfiguration {
  Configuration configuration;
  // At best: kernels that the sweep measured for others take the low end of their interval, the
  // rest their lower bound.
  double step_ns = 0, tokens_per_s = 0;
  std::int64_t memory_bytes_total = 0;
  double probability = 0;  // of being on the front
  bool operator==(const UntriedConfiguration&) const = default;
};
template <class V, Of<UntriedConfiguration> M>
void fields(V& v, M& m) {
  v("deployment", m.configuration);
  v("step_ns", m.step_ns);
  v("tokens_per_s", m.tokens_per_s);
  v("memory_bytes_total", m.memory_bytes_total);
  v("probability", m.probability);
}

// Of one phase of a sweep that ended before its space did.
struct Untried {
  Phase phase = Phase::decode;
  std::uint64_t count = 0;  // configurations that were not tried
  // Why none of them has a bound: the probabilities of the front are then among those tried. "" =
  // all of them have one.
  std::string reason;
  std::vector<UntriedConfiguration> could_enter;  // the front; best bound first
  bool operator==(const Untried&) const = default;
};
template <class V, Of<Untried> M>
void fields(V& v, M& m) {
  v("phase", m.phase);
  v("count", m.count);
  v("reason", m.reason);
  v("could_enter", m.could_enter);
}

}  // namespace halmark
