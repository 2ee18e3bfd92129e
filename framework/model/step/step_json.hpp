// A priced step as the JSON document of results/schema/model.md, in parts: each gives the keys that
// it is named after. A part that has nothing to say is empty.
#pragma once

#include "core/json/json_type.hpp"
#include "model/step/priced_step.hpp"
#include "model/step/step_answer.hpp"

namespace halmark {

Json summary_json(const PricedStep& step);  // model, workload, splits, precision, convention
Json answer_json(const PricedStep& step);   // the time, what limits it, whether it fits
// Beside the figures that it is part of. `host_ns`: of the step.
Json engine_json(const StepEngine& engine, double host_ns);
Json operators_json(const PricedStep& step);    // one row per operator
Json layers_json(const PricedStep& step);       // one row per type of layer
Json totals_json(const PricedStep& step);       // sums
Json training_json(const PricedStep& step);     // passes, states and activations
Json fit_json(const PricedStep& step);          // memory of a rank against the device's
Json mfu_json(const PricedStep& step);          // of a measured step time
Json weights_json(const PricedStep& step);      // of the checkpoint's headers, where it is named
Json warnings_json(const PricedStep& step);     // of the graph
Json experts_json(const PricedStep& step);      // what the routing does
Json delta_rule_json(const PricedStep& step);   // in which form the recurrence counts
Json speculation_json(const PricedStep& step);  // what is drafted, and what comes of it

// Shares and times of one operator or layer type.
Json share_json(const StepShare& share);

}  // namespace halmark
