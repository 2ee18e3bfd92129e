// JSON of winners, apart from the value: those who choose kernels need no JSON.
#pragma once

#include "core/chosen/winner.hpp"
#include "core/json/json_type.hpp"

namespace halmark {

void to_json(Json& out, const Variant& value);
void from_json(const Json& in, Variant& value);
void to_json(Json& out, const VariantTime& value);
void from_json(const Json& in, VariantTime& value);
void to_json(Json& out, const Winner& value);
void from_json(const Json& in, Winner& value);

}  // namespace halmark
