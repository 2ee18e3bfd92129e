// Steps of this machine that were run and measured, for a plan to start from and to be corrected
// by.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/measured/validation.hpp"
#include "journal/store.hpp"
#include "model/spec/model_spec.hpp"
#include "simulate/sharding/plan_answer.hpp"

namespace halmark::tune {

struct MeasuredStep {
  Configuration configuration;
  Validation validation;
};

// Of the model by any of its names, over the latest runs of the machine ("" = any): the latest of
// each configuration.
std::vector<MeasuredStep> measured_steps(const Store& store, const std::string& fingerprint,
                                         const ModelSpec& spec);

// By key, the whole step as it was measured.
std::map<std::string, double> step_times(const std::vector<MeasuredStep>& steps);

// Per step and kind: what `time_of` shards predicts of its operators, and what the run measured of
// the same ones.
simulate::MeasuredPairs measured_pairs(
    const ModelSpec& spec, const std::vector<MeasuredStep>& steps,
    const std::function<simulate::OperatorTime(std::int64_t shards)>& time_of);

}  // namespace halmark::tune
