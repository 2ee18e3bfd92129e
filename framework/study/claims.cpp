// Who runs a trial: what is enqueued, taken back from lost workers, kept alive and given back.
#include <algorithm>
#include <cmath>

#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "framework/study/study.hpp"
#include "framework/study/worker.hpp"
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
  constexpr std::string_view taken_attribute = "halmark:taken_back";
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
    if (lease.state != TrialState::running || lease.owner.empty()) continue;
    const int number = numbers.at(lease.id);
    const bool is_given_back = lease.owner == "\"\"";
    // The clocks of some stores count whole seconds.
    const bool has_expired = lease.beat_age_s.value_or(0) > settings_.lease_s + 1;
    if (!is_given_back && !has_expired && !is_known_dead(lease.owner)) continue;
    const std::string* before = find_attribute(lease.system, taken_attribute);
    const std::optional<Point> point = pending_.at(number).point;
    if ((before != nullptr && *before != "0" && !is_given_back) || !point) {
      give_up(transaction, number, lease.id, "its worker was lost twice");
      continue;
    }
    if (out.size() == count) {
      saw_all = false;
      continue;
    }
    const std::string taken = is_given_back ? (before != nullptr ? *before : "0") : "1";
    const TrialChange change{.id = lease.id,
                             .system = {{std::string(worker_attribute), worker_},
                                        {std::string(taken_attribute), taken}}};
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
  cursor_.unfinished.erase(id);
  trials_[static_cast<std::size_t>(number)].is_done = true;
  const auto holder = point ? holder_.find(space_.identity(*point)) : holder_.end();
  if (holder == holder_.end() || holder->second != number) return;
  sampler_->tell({Told{.point = *point, .outcome = TrialOutcome::failed, .reason = reason}});
}

std::vector<int> Study::enqueue(std::span<const Setting> settings) {
  std::vector<TrialRow> rows;
  const auto domains = space_.domains();
  for (const Setting& setting : settings) {
    Json fixed = Json::object();
    for (const auto& [name, value] : setting) {
      const auto it = std::ranges::find(domains, name, &SearchDomain::name);
      if (it == domains.end()) throw refused("the space has no parameter '" + name + "'");
      if (!it->coordinate(value)) throw refused("'" + name + "' cannot be " + text_of(value));
      fixed[name] = param_json(value);
    }
    rows.push_back({.state = TrialState::waiting});
    rows.back().system = {{std::string(fixed_params_attribute), dump_json(fixed)}};
  }
  std::vector<int> out;
  change([&](StudyTransaction& transaction) {
    catch_up(transaction);
    transaction.create(info_.id, rows);
    for (const TrialRow& row : rows) {
      cursor_.see(row);
      trials_.resize(static_cast<std::size_t>(row.number) + 1);
      trials_.back() = {.id = row.id};
      pending_[row.number] = {row.id, std::nullopt, row.state};
      out.push_back(row.number);
    }
  });
  return out;
}

// The valid point that an enqueued trial asks for; what it leaves open is drawn.
std::optional<Point> Study::completed(const std::string& fixed_params, int number) const {
  constexpr int draws_max = 1000;
  const Json fixed = Json::parse(fixed_params, nullptr, false);
  if (!fixed.is_object()) return std::nullopt;
  const auto domains = space_.domains();
  std::map<std::size_t, double> given;
  for (const auto& [name, json] : fixed.items()) {
    const auto it = std::ranges::find(domains, name, &SearchDomain::name);
    if (it == domains.end() || json.is_structured()) return std::nullopt;
    const auto coordinate = it->coordinate(param_value_of(json, name));
    if (!coordinate) return std::nullopt;
    given.emplace(static_cast<std::size_t>(it - domains.begin()), *coordinate);
  }
  for (int draw = 0; draw < draws_max; ++draw) {
    const std::uint64_t seed =
        hash_u64(hash_combine(settings_.seed, static_cast<std::uint64_t>(number)),
                 static_cast<std::uint64_t>(draw));
    std::optional<Point> point = space_.draw(seed);
    if (!point) return std::nullopt;
    // Twice: a given value may switch on a parameter that is given too.
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& [d, coordinate] : given) {
        if (space_.is_active(*point, d)) (*point)[d] = coordinate;
      }
      *point = space_.settle(*point, seed);
    }
    const bool has_all = std::ranges::all_of(
        given, [&](const auto& item) { return (*point)[item.first] == item.second; });
    if (has_all && space_.contains(*point) && !holder_.contains(space_.identity(*point))) {
      return point;
    }
  }
  return std::nullopt;
}

void Study::take_enqueued(StudyTransaction& transaction, std::size_t count,
                          std::vector<StudyProposal>& out) {
  std::vector<std::pair<int, std::int64_t>> waiting;
  for (const auto& [number, pending] : pending_) {
    if (pending.state == TrialState::waiting) waiting.emplace_back(number, pending.id);
  }
  for (const auto& [number, id] : waiting) {
    if (count == 0) return;
    const auto lease = transaction.leases({&id, 1});
    if (lease.empty() || lease.front().state != TrialState::waiting) continue;
    const std::string* fixed = find_attribute(lease.front().system, fixed_params_attribute);
    const std::optional<Point> point = completed(fixed != nullptr ? *fixed : "{}", number);
    if (!point) {
      give_up(transaction, number, id,
              "what was enqueued is outside of the space or was proposed already");
      continue;
    }
    const TrialRow row = row_of(*point);
    const TrialChange change{
        .id = id, .state = TrialState::running, .params = row.params, .system = row.system};
    transaction.change({&change, 1});
    pending_.erase(number);
    cursor_.unfinished[id] = {TrialState::running, row.params.size()};
    holder_.emplace(space_.identity(*point), number);
    sampler_->tell({Told{.point = *point, .outcome = TrialOutcome::pending}});
    mine_.emplace(number, *point);
    out.push_back({number, space_.setting(*point)});
    --count;
  }
}

void Study::beat() {
  if (mine_.empty()) return;
  change([&](StudyTransaction& transaction) {
    std::vector<std::int64_t> ids;
    for (const auto& [number, point] : mine_) {
      ids.push_back(trials_[static_cast<std::size_t>(number)].id);
    }
    // Not of those that somebody else has taken back meanwhile.
    std::erase_if(ids, [&](std::int64_t id) {
      const auto lease = transaction.leases({&id, 1});
      return lease.empty() || lease.front().owner != worker_ ||
             lease.front().state != TrialState::running;
    });
    transaction.beat(ids);
  });
}

void Study::release() {
  if (mine_.empty()) return;
  change([&](StudyTransaction& transaction) {
    for (const auto& [number, point] : mine_) {
      const std::int64_t id = trials_[static_cast<std::size_t>(number)].id;
      const auto lease = transaction.leases({&id, 1});
      if (lease.empty() || lease.front().owner != worker_) continue;
      const TrialChange change{.id = id, .system = {{std::string(worker_attribute), "\"\""}}};
      transaction.change({&change, 1});
    }
  });
  mine_.clear();
}

}  // namespace halmark
