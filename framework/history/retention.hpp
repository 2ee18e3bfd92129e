// A retention policy and what it does to a database.
#pragma once

#include <string>

#include "journal/samples/retention.hpp"

namespace halmark::history {

struct Retention {
  RetentionPolicy policy;
  bool is_dry_run = false;
  RetiredSamples samples;  // that went, or in a dry run would go
  std::string note;        // why the file did not become smaller; "" where it did or had no need to
};

// Deletes what the policy does not keep and gives the space back; a dry run changes nothing, nor
// does a policy that keeps everything. Throws Error (exit 2) where there is no database, or damage.
Retention apply_retention(const std::string& path, const RetentionPolicy& policy, bool is_dry_run);

}  // namespace halmark::history
