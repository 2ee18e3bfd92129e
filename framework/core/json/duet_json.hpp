// JSON of duets, apart from the value: those who judge them need no JSON.
#pragma once

#include "core/json/json_type.hpp"
#include "core/measured/duet.hpp"

namespace halmark {

void to_json(Json& out, const Duet& value);
void from_json(const Json& in, Duet& value);

}  // namespace halmark
