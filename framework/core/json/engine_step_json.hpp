// An engine's own steps in JSON, as results/schema/engine_steps.md lists the keys.
#pragma once

#include "core/json/json_type.hpp"
#include "core/measured/engine_step.hpp"

namespace halmark {

void to_json(Json& out, const EngineStep& step);
void from_json(const Json& in, EngineStep& step);
void to_json(Json& out, const EngineImport& imported);
void from_json(const Json& in, EngineImport& imported);

}  // namespace halmark
