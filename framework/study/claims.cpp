// Who runs a trial: what is taken back from lost workers, kept alive and given back.
#include <algorithm>

#include "core/json/json.hpp"
#include "core/numeric/cast.hpp"
#include "core/text/error.hpp"
#include "framework/study/lease.hpp"
#include "framework/study/study.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

using Clock = std::chrono::steady_clock;

Clock::duration seconds(double s) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(s));
}

}  // namespace

// A running trial whose worker gave it back, is known to be gone or gave no sign of life for a
// lease is run once more; when it is lost again, the configuration is the likelier reason.
void Study::take_back(StudyTransaction& transaction, std::size_t count,
                      std::vector<StudyProposal>& out) {
  const Clock::time_point now = Clock::now();
  if (count == 0 || now < next_look_) return;
  std::vector<std::int64_t> ids;
  std::map<std::int64_t, int> numbers;
  for (const auto& [number, pending] : pending_) {
    if (pending.state != TrialState::running || mine_.contains(number)) continue;
    ids.push_back(pending.id);
    numbers.emplace(pending.id, number);
  }
  bool saw_all = true;
  for (const TrialLease& lease : transaction.leases(ids)) {
    const LeaseVerdict verdict = judge_lease(lease, settings_.lease_s);
    if (verdict.state == LeaseState::held) continue;
    const int number = numbers.at(lease.id);
    const std::optional<Point> point = pending_.at(number).point;
    if (verdict.state == LeaseState::lost_before || !point) {
      give_up(transaction, number, lease.id, "its worker was lost twice");
      continue;
    }
    if (out.size() == count) {
      saw_all = false;
      continue;
    }
    const TrialChange change{.id = lease.id,
                             .system = {{std::string(worker_attribute), worker_},
                                        {std::string(taken_attribute), verdict.taken}}};
    transaction.change({&change, 1});
    transaction.beat({&lease.id, 1});
    mine_.emplace(number, *point);
    out.push_back({number, space_.setting(*point)});
  }
  if (saw_all) next_look_ = now + seconds(std::min(settings_.lease_s / 4, 5.0));
}

void Study::give_up(StudyTransaction& transaction, int number, std::int64_t id,
                    const std::string& reason) {
  const TrialChange change{
      .id = id, .state = TrialState::fail, .user = {{"halmark:failed", dump_json(Json(reason))}}};
  transaction.change({&change, 1});
  const std::optional<Point> point = pending_.at(number).point;
  pending_.erase(number);
  waiting_.erase(number);
  cursor_.unfinished.erase(id);
  trials_[as_size(number)].is_done = true;
  const auto holder = point ? holder_.find(space_.identity(*point)) : holder_.end();
  if (holder == holder_.end() || holder->second != number) return;
  sampler_->tell({Told{.point = *point, .outcome = TrialOutcome::failed, .reason = reason}});
}

void Study::beat() {
  if (mine_.empty()) return;
  change([&](StudyTransaction& transaction) {
    std::vector<std::int64_t> all, ids;
    for (const auto& [number, point] : mine_) {
      all.push_back(trials_[as_size(number)].id);
    }
    // Not of those that somebody else has taken back meanwhile.
    for (const TrialLease& lease : transaction.leases(all)) {
      if (lease.owner == worker_ && lease.state == TrialState::running) ids.push_back(lease.id);
    }
    transaction.beat(ids);
  });
}

void Study::release() {
  if (mine_.empty()) return;
  change([&](StudyTransaction& transaction) {
    for (const auto& [number, point] : mine_) {
      give_back(transaction, trials_[as_size(number)].id, worker_);
    }
  });
  mine_.clear();
}

}  // namespace halmark
