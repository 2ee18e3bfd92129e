// The document of a record of a machine: its list of fields.
#pragma once

#include "core/json/json_type.hpp"
#include "core/measured/machine_record.hpp"

namespace halmark {

Json record_json(const MachineRecord& record);
// Throws std::invalid_argument that names the field.
MachineRecord record_from(const Json& json);

}  // namespace halmark
