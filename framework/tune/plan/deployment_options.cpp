#include "tune/plan/deployment_options.hpp"

#include <cmath>

#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "core/text/text.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {
namespace {

std::int64_t imbalance_ppm(const std::string& text) {
  if (text == "balanced") return Workload::balanced_ppm;
  if (text == "uniform") return 0;
  const auto factor = read_number<double>(text);
  if (!factor || !(*factor >= 1) || *factor > 1e6) {
    throw refused("--expert-imbalance is '" + printable(text) + "'", {},
                  "balanced, uniform or a factor from 1 on");
  }
  return std::llround(*factor * 1e6);
}

}  // namespace

Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              const PrecisionFacts& facts) {
  const std::string usual(
      phase_name(spec.is_causal && spec.has_lm_head ? Phase::decode : Phase::prefill));
  const auto phase = parse_phase(options.phase.empty() ? usual : options.phase);
  if (!phase) {
    throw refused("unknown phase '" + options.phase + "'", {},
                  suggestion(options.phase, {"prefill", "decode", "training"}));
  }
  Workload workload{.phase = *phase, .batch = options.batch};
  if (*phase == Phase::decode) {
    workload.new_tokens = options.new_tokens != 0 ? options.new_tokens : 1;
    workload.context = options.context != 0 ? options.context : 1024;
  } else {
    workload.new_tokens = options.new_tokens != 0 ? options.new_tokens
                          : options.context != 0  ? options.context
                                                  : 512;
    workload.context = options.context != 0 ? options.context : workload.new_tokens;
  }
  workload.routing_skew = options.routing_skew;
  workload.expert_imbalance_ppm = imbalance_ppm(options.expert_imbalance);
  return {.model = spec.id,
          .parallel = {.dp = options.dp,
                       .tp = options.tp,
                       .pp = options.pp == 1 && !options.stages.empty()
                                 ? static_cast<int>(options.stages.size())
                                 : options.pp,
                       .ep = options.ep,
                       .stages = options.stages},
          .precision = overridden(precision_of(options.dtype, facts),
                                  parse_precision_overrides(options.precision)),
          .workload = workload};
}

Configuration deployment_from(const DeploymentOptions& options, const ModelSpec& spec,
                              bool has_bf16) {
  return deployment_from(options, spec, precision_facts(spec, has_bf16));
}

}  // namespace halmark::tune
