// What one worker may do with a running trial of another one.
#pragma once

#include <string>

#include "study/values.hpp"

namespace halmark {

// The trial attribute of who was lost: JSON "1" once its worker was.
inline constexpr std::string_view taken_attribute = "halmark:taken_back";

enum class LeaseState {
  held,         // by a worker that may live, or by nobody who says so
  free,         // its worker gave it back, or was lost for the first time
  lost_before,  // lost again: its configuration is the likelier reason
};

struct LeaseVerdict {
  LeaseState state = LeaseState::held;
  std::string taken;  // of a free one: what taken_attribute is from now on
};

// A worker counts as lost where its process is known to be gone; or, with `lease_s` above 0, after
// so long without a sign of life.
LeaseVerdict judge_lease(const TrialLease& lease, double lease_s);

// For other workers to take up, unless another one holds it meanwhile.
void give_back(StudyTransaction& transaction, std::int64_t id, const std::string& worker);

}  // namespace halmark
