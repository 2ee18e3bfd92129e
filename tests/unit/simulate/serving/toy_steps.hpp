// Steps of an invented device, so that the figures of a server can be known without a model.
#pragma once

#include <cstdint>

#include "model/serving/serving.hpp"
#include "simulate/serving/server/server.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving::test {

// A pass over the weights or the arithmetic of the tokens, whichever is longer; attention to what
// is before a prompt's tokens; a fixed context for every decoding request.
struct ToySteps : StepTimes {
  double weights_ns = 100'000, token_ns = 1'000, key_ns = 0.5, decode_ns = 300, launch_ns = 5'000;
  std::optional<double> step_ns(const StepMix& mix) const override {
    const double tokens = static_cast<double>(mix.piece_tokens);
    return std::max(weights_ns, token_ns * mix.tokens()) + launch_ns + decode_ns * mix.decodes +
           mix.prompts * key_ns * tokens * (static_cast<double>(mix.cached) + tokens / 2);
  }
};

// Every step takes as long, whatever it computes.
struct ConstantSteps : StepTimes {
  double ns = 1e6;
  std::optional<double> step_ns(const StepMix&) const override { return ns; }
};

inline ServerPlan plan_of(std::int64_t blocks) {
  ServerPlan out;
  out.engine.blocks = blocks;
  out.engine.block_bytes = 1024;
  out.engine.token_budget = 512;
  return out;
}

inline ServerRecord simulated(const ServerPlan& plan, const Load& load, const StepTimes& times,
                              const Observer& observe = {}) {
  MixClock clock(times);
  return simulate_server(plan, load, clock, clock, observe);
}

}  // namespace halmark::serving::test
