#include "fleet/watch.hpp"

#include <fmt/format.h>

#include <utility>

namespace halmark::fleet {

Watch::Watch(Hooks hooks, double work_s, double again_s)
    : hooks_(std::move(hooks)), work_s_(work_s), again_s_(again_s) {}

bool Watch::may_claim() {
  deliver();
  if (unfit_.empty()) return true;
  return seconds_since(*looked_) >= again_s_ && passes();
}

bool Watch::may_measure() {
  const bool is_known = looked_ && seconds_since(*looked_) < work_s_;
  return work_s_ <= 0 || is_known || passes();
}

void Watch::measured(std::int64_t run, const std::vector<Measurement>& rows) {
  if (work_s_ <= 0) return;
  measured_ = SteadyClock::now();
  for (const Measurement& row : rows) {
    batch_[run].push_back({.case_key = row.kernel_case.key(), .round = row.round, .reason = {}});
  }
}

void Watch::has_no_work() {
  if (!batch_.empty() && seconds_since(measured_) >= again_s_) passes();
}

bool Watch::passes() {
  const std::string moved = hooks_.look();
  looked_ = SteadyClock::now();
  if (moved.empty()) {
    if (!unfit_.empty()) hooks_.say("this node is what it was again");
    unfit_.clear();
    batch_.clear();
    return true;
  }
  const bool is_news = unfit_.empty();
  unfit_ = "W-NODE-01: " + moved;
  if (is_news) hooks_.say(unfit_ + "; nothing is claimed until that is over");
  for (auto& [run, doubts] : std::exchange(batch_, {})) {
    for (Doubt& doubt : doubts) {
      doubt.reason = unfit_;
      doubtful_[run].push_back(std::move(doubt));
    }
  }
  deliver();
  return false;
}

// Where the server is away they wait for the next time.
void Watch::deliver() {
  while (!doubtful_.empty()) {
    const auto& [run, doubts] = *doubtful_.begin();
    hooks_.doubt(run, doubts);
    hooks_.say(fmt::format("{} rows of run {} are suspect for it", doubts.size(), run));
    doubtful_.erase(doubtful_.begin());
  }
}

}  // namespace halmark::fleet
