// The checker of a record of a machine: its figures again, by code of its own. It shares contracts
// and the folds of core with what it checks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json/json_type.hpp"
#include "core/measured/machine_record.hpp"

namespace halmark {

struct RecordFinding {
  std::string where;  // "kernels[3].rounds[0].figures.mean_ns"
  std::string text;
};

struct RecordCheck {
  std::string device;
  std::size_t kernels = 0, rounds = 0, samples = 0, steps = 0;
  std::vector<RecordFinding> findings;
};

// The checksum; figures of rounds and steps from their samples; kernels from their rounds; work
// from the contracts; least times from the record's peaks, and no kernel below them; peaks from
// what their occasions saw; sums from the kernels. Throws Error (exit 2) for what is no record or
// one of a later version. Samples that were made up together with all that follows from them cannot
// be told.
RecordCheck check_record(const std::string& path);
// The same but the checksum.
RecordCheck check_record(const MachineRecord& record);

// Place and text of the first finding; "" where all holds.
std::string first_fault(const MachineRecord& record);

std::string record_check_text(const RecordCheck& check, const std::string& path);
Json record_check_json(const RecordCheck& check, const std::string& path);

}  // namespace halmark
