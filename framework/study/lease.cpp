#include "framework/study/lease.hpp"

#include "framework/study/worker.hpp"

namespace halmark {

LeaseVerdict judge_lease(const TrialLease& lease, double lease_s) {
  if (lease.state != TrialState::running || lease.owner.empty()) return {};
  const bool is_given_back = lease.owner == "\"\"";
  // The clocks of some stores count whole seconds.
  const bool has_expired = lease_s > 0 && lease.beat_age_s.value_or(0) > lease_s + 1;
  if (!is_given_back && !has_expired && !is_known_dead(lease.owner)) return {};
  const std::string* before = find_attribute(lease.system, taken_attribute);
  if (before != nullptr && *before != "0" && !is_given_back) return {LeaseState::lost_before, {}};
  if (!is_given_back) return {LeaseState::free, "1"};
  return {LeaseState::free, before != nullptr ? *before : "0"};
}

void give_back(StudyTransaction& transaction, std::int64_t id, const std::string& worker) {
  const auto lease = transaction.leases({&id, 1});
  if (lease.empty() || lease.front().owner != worker) return;
  const TrialChange change{.id = id, .system = {{std::string(worker_attribute), "\"\""}}};
  transaction.change({&change, 1});
}

}  // namespace halmark
