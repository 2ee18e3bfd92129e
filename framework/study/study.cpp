#include "framework/study/study.hpp"
#include "core/lists.hpp"

#include <algorithm>
#include <cmath>

#include "core/json/json.hpp"
#include "core/text/error.hpp"
#include "framework/study/worker.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

constexpr std::string_view sampler_attribute = "halmark:sampler";

StudyInfo described(const StudySettings& settings, const std::vector<SearchObjective>& objectives) {
  StudyInfo out{.name = settings.name};
  Json names = Json::array();
  for (const SearchObjective& objective : objectives) {
    out.directions.push_back(objective.is_maximised ? StudyDirection::maximize
                                                    : StudyDirection::minimize);
    names.push_back(objective.name);
  }
  out.system = {{std::string(metric_names_attribute), dump_json(names)}};
  const Json sampler = {{"name", settings.sampler}, {"seed", settings.seed}};
  out.user = {{std::string(sampler_attribute), dump_json(sampler)}};
  return out;
}

std::string proposer_of(const TrialRow& row) {
  const std::string* text = find_attribute(row.system, proposer_attribute);
  const Json name = text != nullptr ? Json::parse(*text, nullptr, false) : Json();
  return name.is_string() ? name.get<std::string>() : "";
}

std::string where_of(const StudyStore& store, const std::string& study) {
  return std::string(store.location()) + ", study '" + study + "'";
}

}  // namespace

Study::Study(StudyStore& store, const SpaceDescription& description, const StudySettings& settings)
    : store_(store),
      settings_(settings),
      space_(description),
      objectives_(description.objectives),
      sampler_(make_sampler(settings.sampler, space_,
                            SamplerOptions{.seed = settings.seed,
                                           .trials = settings.trials,
                                           .objectives = description.objectives.size()})),
      worker_(this_worker()) {
  if (objectives_.empty()) {
    throw refused("a study needs an objective", {}, "add [[objective]] with a name to the space");
  }
  if (settings_.should_stop) sampler_->heed(settings_.should_stop);
  for (const SearchDomain& domain : space_.domains()) {
    distributions_.push_back(std::make_shared<const ParamDistribution>(distribution_of(domain)));
  }
  open(description);
}

void Study::open(const SpaceDescription& description) {
  const StudyInfo wanted = described(settings_, description.objectives);
  change([&](StudyTransaction& transaction) {
    if (auto found = transaction.find(settings_.name)) {
      info_ = std::move(*found);
    } else {
      info_ = transaction.create_study(wanted);
    }
    if (info_.directions != wanted.directions) {
      throw refused("this study has other objectives or directions than the space",
                    where_of(store_, info_.name), "name another study with --name");
    }
    catch_up(transaction);
  });
}

void Study::together(const std::function<void()>& body) {
  change([&](auto&) { body(); });
}

// One transaction, or the one that together() has begun.
void Study::change(const std::function<void(StudyTransaction&)>& body) {
  if (open_ != nullptr) return body(*open_);
  store_.transact([&](StudyTransaction& transaction) {
    open_ = &transaction;
    try {
      body(transaction);
    } catch (...) {
      open_ = nullptr;
      throw;
    }
    open_ = nullptr;
  });
}

void Study::check_compatible(const TrialRow& row) {
  const auto domains = space_.domains();
  for (const TrialParam& param : row.params) {
    const auto it = std::ranges::find(domains, param.name, &SearchDomain::name);
    if (it == domains.end() || !checked_.insert(param.distribution.get()).second) continue;
    const auto d = as_size(it - domains.begin());
    if (!param.distribution->is_compatible(*distributions_[d])) {
      throw refused("the study holds '" + param.name + "' as " +
                        distribution_text(*param.distribution) + ", the space as " +
                        distribution_text(*distributions_[d]),
                    where_of(store_, info_.name),
                    "keep kind, scale and choices of a parameter, or name another study");
    }
  }
}

std::optional<Point> Study::point_of(const TrialRow& row) const {
  Setting setting;
  for (const TrialParam& param : row.params) {
    setting.emplace_back(param.name, param.distribution->value(param.internal));
  }
  try {
    return space_.point_of(setting);
  } catch (const Error&) {
    return std::nullopt;  // another space's, or one that Optuna has not drawn to its end yet
  }
}

TrialRow Study::row_of(const Point& point) const {
  TrialRow out;
  out.system = {{std::string(worker_attribute), worker_}};
  const auto domains = space_.domains();
  for (const auto d : indices(domains)) {
    if (point[d] == absent) continue;
    double internal = point[d];
    if (distributions_[d]->kind != ParamDistribution::Kind::categorical) {
      const ParamValue value = domains[d].value(point[d]);
      const auto* integer = std::get_if<std::int64_t>(&value);
      internal = integer != nullptr ? as_double(*integer) : std::get<double>(value);
    }
    out.params.push_back({domains[d].name, internal, distributions_[d]});
  }
  return out;
}

Told Study::told_of(const TrialRow& row, const Point& point) const {
  Told out{.point = point, .outcome = TrialOutcome::failed};
  for (const char* key : {"halmark:failed", "halmark:infeasible"}) {
    const std::string* text = find_attribute(row.user, key);
    const Json reason = text != nullptr ? Json::parse(*text, nullptr, false) : Json();
    if (reason.is_string()) out.reason = reason.get<std::string>();
  }
  std::vector<double> violations = violations_of(row);
  const bool has_values =
      row.values.size() == objectives_.size() &&
      std::ranges::none_of(row.values, [](double value) { return std::isnan(value); });
  if (row.state != TrialState::fail && !violations.empty()) {
    out.outcome = TrialOutcome::infeasible;
    out.violations = std::move(violations);
  } else if (row.state == TrialState::complete && has_values) {
    out.outcome = TrialOutcome::complete;
  } else {
    return out;
  }
  for (std::size_t i = 0; has_values && i < row.values.size(); ++i) {
    out.objectives.push_back(objectives_[i].is_maximised ? -row.values[i] : row.values[i]);
  }
  return out;
}

// What one row tells the sampler, once as pending and once with its outcome; of several trials of
// one point the first counts.
void Study::absorb(const TrialRow& row, News& news) {
  const auto number = as_size(row.number);
  if (trials_.size() <= number) trials_.resize(number + 1);
  Known& known = trials_[number];
  known.id = row.id;
  if (known.is_done) return;
  constraints_.learn(row.state, row.system);
  check_compatible(row);
  const std::optional<Point> point = point_of(row);
  known.is_done = is_finished(row.state);
  if (!known.is_done) {
    pending_[row.number] = {row.id, point, row.state};
  } else {
    pending_.erase(row.number);
    mine_.erase(row.number);
  }
  waiting_.erase(row.number);
  if (row.state == TrialState::waiting) wait_for(row.number, row.system);
  if (point) {
    const auto [holder, is_new] = holder_.emplace(space_.identity(*point), row.number);
    if (is_new) {
      news.pending.push_back(
          {.point = *point, .outcome = TrialOutcome::pending, .proposer = proposer_of(row)});
    }
    if (holder->second == row.number) {
      if (known.is_done) news.done.emplace_back(row.completed_utc, told_of(row, *point));
      return;
    }
  }
  foreign_trials_ += known.is_done ? 1 : 0;
}

// The sampler hears of new trials in the order of their numbers and of outcomes in the order of
// their times: as it did when they were asked and told.
void Study::catch_up(StudyTransaction& transaction) {
  News news;
  for (const TrialRow& row : transaction.trials(info_.id, cursor_)) absorb(row, news);
  std::ranges::stable_sort(news.done, {}, &std::pair<std::string, Told>::first);
  if (!news.pending.empty()) sampler_->tell(news.pending);
  std::vector<Told> done;
  for (auto& [time, told] : news.done) done.push_back(std::move(told));
  if (!done.empty()) sampler_->tell(done);
}

std::vector<TrialRow> Study::rows() const {
  TrialCursor whole;
  return open_ != nullptr ? open_->trials(info_.id, whole) : store_.trials(info_.id, whole);
}

std::size_t Study::budget_left() const {
  if (settings_.trials == 0) return as_size(-1);
  return settings_.trials - std::min(settings_.trials, trials_.size());
}

std::vector<StudyProposal> Study::ask(std::size_t count) {
  std::vector<StudyProposal> out;
  change([&](StudyTransaction& transaction) {
    catch_up(transaction);
    take_back(transaction, count, out);
    take_enqueued(transaction, count - out.size(), out);
    propose(transaction, std::min(count - out.size(), budget_left()), out);
  });
  return out;
}

std::string Study::why_no_more() const {
  if (settings_.should_stop && settings_.should_stop()) return "the search was interrupted";
  if (space_.size() == 0) return "the constraints leave no valid configuration";
  if (budget_left() == 0)
    return "all " + std::to_string(settings_.trials) + " trials were proposed";
  if (!space_.is_countable()) return "no further valid configuration was found";
  return "every valid configuration was proposed";
}

void Study::propose(StudyTransaction& transaction, std::size_t count,
                    std::vector<StudyProposal>& out) {
  if (count == 0) return;
  const std::vector<Point> points = sampler_->ask(count);
  const std::vector<std::string> by = sampler_->answered_by();
  std::vector<TrialRow> rows;
  for (const auto i : indices(points)) {
    rows.push_back(row_of(points[i]));
    if (i < by.size()) {
      rows.back().system.emplace_back(proposer_attribute, dump_json(Json(by[i])));
    }
  }
  transaction.create(info_.id, rows);
  for (const auto i : indices(points)) {
    const TrialRow& row = rows[i];
    const auto [holder, is_new] = holder_.emplace(space_.identity(points[i]), row.number);
    if (!is_new) {
      throw std::logic_error("sampler '" + std::string(sampler_->name()) + "' proposes trial " +
                             std::to_string(holder->second) + " again");
    }
    cursor_.see(row);
    trials_.resize(as_size(row.number) + 1);
    trials_.back() = {.id = row.id};
    mine_.emplace(row.number, points[i]);
    out.push_back({row.number, space_.setting(points[i])});
  }
}

}  // namespace halmark
