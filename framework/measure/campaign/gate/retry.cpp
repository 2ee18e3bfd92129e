#include "measure/campaign/gate/retry.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include "core/lists.hpp"
#include "host/protocol.hpp"
#include "measure/campaign/fresh_probe.hpp"
#include "measure/campaign/gate/impossible_time.hpp"
#include "measure/campaign/gate/row_verdict.hpp"

namespace halmark {
namespace {

int rank_of(Status status) {
  switch (status) {
    case Status::ok:
      return 0;
    case Status::suspect:
      return 1;
    case Status::invalid:
      return 2;
    default:
      return 3;
  }
}

bool is_better(const Measurement& again, const Measurement& first) {
  if (counts_as_failure(again.status)) return true;
  if (again.samples.empty()) return false;
  if (again.status != first.status) return rank_of(again.status) < rank_of(first.status);
  return disturbed_share(again.samples).value_or(1) < disturbed_share(first.samples).value_or(1);
}

bool is_fresh_probe(const Signal& signal) { return signal.name == fresh_probe_signal; }

constexpr const char* tried_again = "tried_again";

std::string verdict_before(Status status) { return std::string(status_name(status)) + " before: "; }

}  // namespace

bool is_loss(Status status) {
  return status == Status::crashed || status == Status::timed_out ||
         status == Status::device_lost || status == Status::worker_lost;
}

bool is_disturbed(const Measurement& row) {
  const bool is_noisy = row.status == Status::invalid || row.status == Status::suspect;
  return is_noisy && !row.samples.empty() && !row.reason.starts_with(unbounded_reason) &&
         row.stop_rule != name_of(protocol::StopReason::deadline);
}

bool is_unconfirmed(const Measurement& row) {
  const auto is_second = [](const Signal& signal) {
    return signal.name == tried_again &&
           signal.reason.starts_with(verdict_before(Status::quarantined));
  };
  return row.status == Status::quarantined && row.reason.starts_with(timer_reason) &&
         std::ranges::none_of(row.signals, is_second);
}

Measurement better_of(Measurement first, Measurement again, int tries) {
  const double of_both_s = first.wall_s + again.wall_s;
  // A peak that was refined for a case stays so for its other tries: the row tells it.
  std::vector<Signal> probed;
  std::ranges::copy_if(first.signals, std::back_inserter(probed), is_fresh_probe);
  std::ranges::copy_if(again.signals, std::back_inserter(probed), is_fresh_probe);
  const bool takes_again = is_better(again, first);
  if (takes_again) {
    again.signals.push_back({.name = tried_again,
                             .value = tries,
                             .reason = verdict_before(first.status) + first.reason});
  }
  Measurement out = takes_again ? std::move(again) : std::move(first);
  std::erase_if(out.signals, is_fresh_probe);
  append_all(out.signals, probed);
  out.wall_s = of_both_s;
  return out;
}

}  // namespace halmark
