#pragma once

#include "core/chosen/untried.hpp"
#include "core/json/json_type.hpp"

namespace halmark {

void to_json(Json& out, const Untried& value);
void from_json(const Json& in, Untried& value);

}  // namespace halmark
