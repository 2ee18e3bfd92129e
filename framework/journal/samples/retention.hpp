// Which runs keep their raw samples, and deleting those of the others. Rows keep every figure that
// was drawn from samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark {

// A run keeps its samples where every limit that is given lets it.
struct RetentionPolicy {
  std::optional<std::size_t> keep_runs;    // the latest n runs
  std::optional<std::size_t> keep_nights;  // runs of the latest n dates on which one began
  std::string before_utc;                  // runs that began before it do not; "" = no limit
  std::string text;                        // what the rows say: "--keep-runs 30"
};

// As options give it; 0 and "" = not given. Throws Error (exit 2) where none is, or for an age that
// is not like 12h, 30d, 8w.
RetentionPolicy retention_policy(int keep_runs, int keep_nights, const std::string& older_than);

struct RetiredSamples {
  std::vector<RunSamples> runs;
  DatabaseSize before, after;                            // of the file
  std::int64_t rows_with_samples = 0, sample_bytes = 0;  // before, of all runs
};

// What the policy does not keep; nothing is changed.
RetiredSamples samples_to_retire(const Store& store, const RetentionPolicy& policy);
// Deletes it, one commit for each run: after a kill the next call goes on.
RetiredSamples retire_samples(Store& store, const RetentionPolicy& policy);
// Makes the file smaller where at least a twentieth of it is free. Returns why that could not be.
std::string give_space_back(Store& store, RetiredSamples& retired);

}  // namespace halmark
