#include "core/json/machine_record_json.hpp"

#include "core/fields/json_visitor.hpp"
#include "core/json/json.hpp"

namespace halmark {

Json record_json(const MachineRecord& record) { return json_fields::written(record); }

MachineRecord record_from(const Json& json) {
  MachineRecord out;
  json_fields::read(json, out);
  return out;
}

}  // namespace halmark
