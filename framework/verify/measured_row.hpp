// Whether the figures of a row follow from its raw samples. Hashes show that nobody changed a row
// after the fact without changing them too; whoever writes all of them anew is found here.
#pragma once

#include <string>
#include <vector>

#include "core/measured/measurement.hpp"
#include "journal/check.hpp"

namespace halmark {

struct RowFault {
  std::string column;  // "body", "samples", "key"
  std::string text;
};

// The measurement of an entry of that kind, and what does not hold of it. Where it cannot be read
// at all the fault says so, and the value has no kernel.
struct CheckedMeasurement {
  Measurement value;
  std::vector<RowFault> faults;
  bool misses_samples = false;  // a row behind it may say that they are retired
};
CheckedMeasurement check_measurement(const StoredEntry& entry);

// Of a configuration that was run whole: its time against the repetitions that are stored.
std::vector<RowFault> check_validation(const StoredEntry& entry);

}  // namespace halmark
