// What a proof says that it is about, for who recomputes it without this program's plan: the plan,
// the device with its peaks, the model and the target (results/schema/front_proof.md).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/json/json.hpp"
#include "tune/certify/certify_problem.hpp"

namespace halmark::tune {

// `model`: the model's configuration, the JSON text that the plan's model was read from; "" = it is
// not known, and the proof has no model record: a checker then takes its formulas as stated.
std::vector<std::pair<std::string, Json>> proof_context(const TunePlan& plan,
                                                        const StepsToCertify& steps,
                                                        const std::string& model);

}  // namespace halmark::tune
