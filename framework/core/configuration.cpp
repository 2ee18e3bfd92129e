#include "core/configuration.hpp"

namespace halmark {

std::string_view phase_name(Phase phase) {
  switch (phase) {
    case Phase::prefill:
      return "prefill";
    case Phase::decode:
      return "decode";
    case Phase::training:
      return "training";
  }
  return "decode";
}

std::optional<Phase> parse_phase(std::string_view text) {
  for (const Phase phase : {Phase::prefill, Phase::decode, Phase::training}) {
    if (text == phase_name(phase)) return phase;
  }
  return std::nullopt;
}

std::string_view objective_name(Objective objective) {
  switch (objective) {
    case Objective::latency:
      return "latency";
    case Objective::throughput:
      return "throughput";
    case Objective::memory:
      return "memory";
  }
  return "latency";
}

std::optional<Objective> parse_objective(std::string_view text) {
  for (const Objective o : {Objective::latency, Objective::throughput, Objective::memory}) {
    if (objective_name(o) == text) return o;
  }
  return std::nullopt;
}

std::string_view front_class_name(FrontClass value) {
  switch (value) {
    case FrontClass::certain:
      return "certain";
    case FrontClass::possible:
      return "possible";
    case FrontClass::out:
      return "out";
  }
  return "possible";
}

std::optional<FrontClass> parse_front_class(std::string_view text) {
  for (const FrontClass c : {FrontClass::certain, FrontClass::possible, FrontClass::out}) {
    if (front_class_name(c) == text) return c;
  }
  return std::nullopt;
}

std::string Parallel::text() const {
  return "dp" + std::to_string(dp) + " tp" + std::to_string(tp) + " pp" + std::to_string(pp) +
         " ep" + std::to_string(ep);
}

std::string Configuration::key() const {
  return model + ' ' + std::string(phase_name(workload.phase)) + " b" +
         std::to_string(workload.batch) + " n" + std::to_string(workload.new_tokens) + " c" +
         std::to_string(workload.context) +
         (workload.routing_skew != 0 ? " s" + std::to_string(workload.routing_skew) : "") +
         (workload.micro_batch != 0 ? " m" + std::to_string(workload.micro_batch) : "") +
         (workload.expert_imbalance_ppm != Workload::balanced_ppm
              ? " i" + std::to_string(workload.expert_imbalance_ppm)
              : "") +
         ' ' + precision.name + ' ' + parallel.text();
}

}  // namespace halmark
