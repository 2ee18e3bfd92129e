// What a stored run says of its plan. Plans are JSON; those of version 0.1.0 were lines of text and
// are read here alone, for reading only.
#pragma once

#include <string>
#include <vector>

#include "journal/store.hpp"

namespace halmark::tune {

struct StoredPlan {
  bool is_of_this_version = false;  // else its run can be reported, not resumed
  std::string sweep, model;
  std::vector<std::string> objectives, left_out;
};

// Throws Error (exit 1) for a plan that is neither.
StoredPlan read_stored_plan(const std::string& text);

// A run of this sweep that was stopped under an earlier layout of plans is not gone, but it cannot
// go on: the sentence that says so; "" where there is none.
std::string unfinished_old_run(const Store& store, const std::string& sweep);

}  // namespace halmark::tune
