// Records of what was found out: alarms, leaves, points of the front, the trailer; `line` is that
// of the record. Each throws std::invalid_argument or an exception of JSON for a record that cannot
// be what it says it is.
#pragma once

#include <cstddef>
#include <string>

#include "core/json/json.hpp"
#include "verify/front_proof/front_proof_records.hpp"

namespace halmark::front_proof {

Alarm alarm_of(const Json& record, std::size_t line);
Leaf leaf_of(const Proof& proof, const Json& record, std::size_t line);
FrontPoint front_point_of(const Json& record, std::size_t line);
Trailer trailer_of(const Json& record, std::size_t line);

// Values of records of both kinds.
std::size_t domain_of(const Proof& proof, const std::string& name);
Range range_of(const Json& pair);

}  // namespace halmark::front_proof
