#include "framework/study/proposals.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <limits>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "framework/study/lease.hpp"
#include "framework/study/worker.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

constexpr auto look_every = std::chrono::seconds(2);  // at workers that may be gone

bool is_true(const Attributes& attributes, std::string_view key) {
  const std::string* text = find_attribute(attributes, key);
  return text != nullptr && *text == "true";
}

bool is_constant(const SearchDomain& domain) { return domain.levels() == 1 && domain.when.empty(); }

Json space_json(const SpaceDescription& space) {
  Json parameters = Json::object(), constants = Json::object(), when = Json::object();
  for (const SearchDomain& domain : space.domains) {
    if (is_constant(domain)) {
      constants[domain.name] = param_json(domain.value(0));
      continue;
    }
    parameters[domain.name] = Json::parse(distribution_text(distribution_of(domain)));
    if (!domain.when.empty()) when[domain.name] = domain.when;
  }
  const Json constraints = json_list(space.constraints, [](const StatedConstraint& c) -> Json {
    return {{"name", c.name}, {"expression", c.expression}};
  });
  return {{"parameters", parameters},
          {"constants", constants},
          {"when", when},
          {"constraints", constraints}};
}

// What the trial says itself, else what was enqueued for it.
Setting stated(const TrialRow& row) {
  Setting out;
  for (const TrialParam& param : row.params) {
    out.emplace_back(param.name, param.distribution->value(param.internal));
  }
  if (!out.empty()) return out;
  const std::string* text = find_attribute(row.system, fixed_params_attribute);
  const Json fixed = text != nullptr ? Json::parse(*text, nullptr, false) : Json();
  if (!fixed.is_object()) return out;
  for (const auto& [name, json] : fixed.items()) {
    out.emplace_back(name, param_value_of(json, name));
  }
  return out;
}

// Optuna's number for a value; nothing where the distribution has no such choice.
std::optional<double> internal_of(const ParamDistribution& distribution, const ParamValue& value) {
  if (distribution.kind == ParamDistribution::Kind::categorical) {
    const auto it = std::ranges::find(distribution.choices, value);
    if (it == distribution.choices.end()) return std::nullopt;
    return as_double(it - distribution.choices.begin());
  }
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return as_double(*integer);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

StudyVerdict refusal_of(int trial, TrialOutcome outcome, std::string reason) {
  StudyVerdict out{.trial = trial, .outcome = outcome, .reason = std::move(reason)};
  if (outcome == TrialOutcome::infeasible) out.violations = {1};
  return out;
}

}  // namespace

Proposals::Proposals(StudyStore& store, const StudyInfo& wanted,
                     const SpaceDescription& description, const Space& space, bool is_constrained)
    : store_(store), space_(space), worker_(this_worker()), constraints_(is_constrained) {
  for (const SearchDomain& domain : space_.domains()) {
    if (is_constant(domain)) constants_.emplace(domain.name, domain.value(0));
    distributions_.emplace(domain.name,
                           std::make_shared<const ParamDistribution>(distribution_of(domain)));
  }
  const Attributes user = {{std::string(space_attribute), dump_json(space_json(description))}};
  store_.transact([&](StudyTransaction& transaction) {
    std::optional<StudyInfo> found = transaction.find(wanted.name);
    info_ = found ? std::move(*found) : transaction.create_study(wanted);
    if (info_.directions != wanted.directions) {
      throw halmark::refused(
          "study '" + info_.name + "' has other objectives or directions than the sweep",
          std::string(store_.location()), "name another study, or make none");
    }
    transaction.set_attributes(info_.id, user, {});
  });
}

bool Proposals::has_some() {
  look();
  return !candidates_.empty();
}

bool Proposals::is_over() {
  for (const StudySummary& study : store_.list()) {
    if (study.info.id == info_.id) return is_true(study.info.user, stop_attribute);
  }
  return true;  // deleted: nothing follows
}

// The TPE of Optuna (4.9) reads the values of pruned trials where there are several objectives, and
// ends with an exception on one without; failed trials it leaves out.
TrialChange Proposals::change_of(const StudyVerdict& verdict, std::int64_t id) const {
  TrialChange out = outcome_change(verdict, id, constraints_);
  if (out.state == TrialState::pruned && info_.directions.size() > 1) {
    out.state = TrialState::fail;
    out.values.clear();  // a failed trial has none
  }
  return out;
}

void Proposals::learn(const TrialRow& row) {
  candidates_.erase(row.number);
  running_on_other_workers_.erase(row.number);
  for (const TrialParam& param : row.params) {
    if (!known_.insert(param.name).second) continue;
    distributions_[param.name] = param.distribution;
  }
  if (is_finished(row.state)) {
    constraints_.learn(row.state, row.system);
    mine_.erase(row.number);
    return;
  }
  if (mine_.contains(row.number)) return;
  if (row.state == TrialState::waiting || is_true(row.user, evaluate_attribute)) {
    candidates_.insert_or_assign(row.number, row);
  }
  if (row.state != TrialState::running) return;
  if (find_attribute(row.system, worker_attribute) != nullptr) {
    candidates_.erase(row.number);
    running_on_other_workers_.insert_or_assign(row.number, row);
  }
  // A mark, or another owner, changes neither state nor parameters, which is what readers go by:
  // with a number that no trial has, the row is read anew.
  cursor_.unfinished[row.id].params = std::numeric_limits<std::size_t>::max();
}

void Proposals::look() {
  for (const TrialRow& row : store_.trials(info_.id, cursor_)) learn(row);
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  next_look_ = now + look_every;
  for (const auto& [number, row] : running_on_other_workers_)
    candidates_.insert_or_assign(number, row);
}

Proposals::Reading Proposals::read(const TrialRow& row) const {
  const auto domains = space_.domains();
  Reading out{.point = Point(domains.size(), absent)};
  const auto fail = [&](std::string reason) {
    out.refusal = refusal_of(row.number, TrialOutcome::failed, std::move(reason));
    return out;
  };
  std::map<std::string, ParamValue> given = constants_;
  try {
    for (auto& [name, value] : stated(row)) given.insert_or_assign(name, std::move(value));
  } catch (const Error& error) {
    return fail(error.line());
  }
  for (const auto& [name, value] : given) {
    if (!contains(domains, name, &SearchDomain::name)) {
      return fail("the space has no parameter '" + name + "'");
    }
  }
  for (const auto d : indices(domains)) {
    if (!space_.is_active(out.point, d)) continue;
    const auto* it = find_value(given, domains[d].name);
    if (!it) return fail("'" + domains[d].name + "' is missing");
    const auto coordinate = domains[d].coordinate(*it);
    if (!coordinate) {
      return fail("'" + domains[d].name + "' cannot be " + text_of(*it));
    }
    out.point[d] = *coordinate;
  }
  if (space_.contains(out.point)) return out;
  try {
    static_cast<void>(space_.point_of(space_.setting(out.point)));
  } catch (const Error& error) {
    out.refusal = refusal_of(row.number, TrialOutcome::infeasible, error.line());
  }
  return out;
}

std::vector<TrialParam> Proposals::params_of(const Point& point) const {
  std::vector<TrialParam> out;
  const auto domains = space_.domains();
  for (const auto d : indices(domains)) {
    if (point[d] == absent || is_constant(domains[d])) continue;
    const ParamValue value = domains[d].value(point[d]);
    const auto& own = distributions_.at(domains[d].name);
    if (const auto internal = internal_of(*own, value)) {
      out.push_back({domains[d].name, *internal, own});
    }
  }
  return out;
}

// Of what is refused too: it began and ended here, and a sampler learns from its parameters, where
// all of them are values of the space.
TrialChange Proposals::claim_of(const TrialRow& row, const Reading& reading,
                                const LeaseVerdict& lease) const {
  TrialChange out{.id = row.id, .system = {{std::string(worker_attribute), worker_}}};
  if (lease.state == LeaseState::free) out.system.emplace_back(taken_attribute, lease.taken);
  if (row.state == TrialState::waiting) out.state = TrialState::running;
  const bool has_point = !reading.refusal || reading.refusal->outcome == TrialOutcome::infeasible;
  if (!has_point) return out;
  if (row.params.empty()) out.params = params_of(reading.point);
  for (const auto& [name, value] : constants_) {
    out.user.emplace_back(name, dump_json(param_json(value)));
  }
  return out;
}

// By the row as the holder of the lock sees it: another process may have claimed it since it was
// read. Nothing where it is not to be had.
std::optional<LeaseVerdict> Proposals::judged(StudyTransaction& transaction, const TrialRow& row) {
  const auto leases = transaction.leases({&row.id, 1});
  if (leases.empty() || leases.front().state != row.state) return std::nullopt;
  const LeaseVerdict verdict = judge_lease(leases.front(), 0);
  const bool is_unowned = row.state == TrialState::waiting || leases.front().owner.empty();
  if (!is_unowned && verdict.state == LeaseState::held) return std::nullopt;
  return verdict;
}

std::vector<Proposal> Proposals::claim(std::size_t count) {
  look();
  std::vector<Proposal> out;
  std::map<int, TrialRow> left = candidates_;
  if (left.empty() || count == 0) return out;
  std::vector<std::string> refused;
  store_.transact([&](StudyTransaction& transaction) {
    while (!left.empty() && out.size() < count) {
      const TrialRow row = std::move(left.extract(left.begin()).mapped());
      const auto lease = judged(transaction, row);
      if (!lease) continue;
      Reading reading = read(row);
      if (lease->state == LeaseState::lost_before) {
        reading.refusal = refusal_of(row.number, TrialOutcome::failed, "its worker was lost twice");
      }
      const TrialChange claimed = claim_of(row, reading, *lease);
      transaction.change({&claimed, 1});
      if (reading.refusal) {
        const TrialChange told = change_of(*reading.refusal, row.id);
        transaction.change({&told, 1});
        refused.push_back("trial " + std::to_string(row.number) + ": " + reading.refusal->reason);
        continue;
      }
      transaction.beat({&row.id, 1});
      mine_.insert_or_assign(row.number, row.id);
      out.push_back({row.number, std::move(reading.point)});
    }
  });
  for (const Proposal& proposal : out) running_on_other_workers_.erase(proposal.trial);
  append_all(refused_, refused);
  candidates_ = std::move(left);
  return out;
}

void Proposals::tell(std::span<const ProposalOutcome> outcomes) {
  store_.transact([&](StudyTransaction& transaction) {
    for (const ProposalOutcome& outcome : outcomes) {
      const auto* own = find_value(mine_, outcome.verdict.trial);
      if (!own) continue;
      const auto lease = transaction.leases({own, 1});
      if (lease.empty() || lease.front().state != TrialState::running ||
          lease.front().owner != worker_) {
        continue;
      }
      TrialChange change = change_of(outcome.verdict, *own);
      constraints_.learn(*change.state, change.system);
      append_all(change.user, outcome.user);
      transaction.change({&change, 1});
    }
  });
  for (const ProposalOutcome& outcome : outcomes) mine_.erase(outcome.verdict.trial);
}

void Proposals::release() {
  if (mine_.empty()) return;
  store_.transact([&](StudyTransaction& transaction) {
    for (const auto& [number, id] : mine_) give_back(transaction, id, worker_);
  });
  mine_.clear();
}

}  // namespace halmark
