// Configurations that a person puts in front: what is accepted, how what they leave open is drawn,
// and how they become running trials.
#include <algorithm>

#include "core/json/json.hpp"
#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "framework/study/study.hpp"
#include "study/values_json.hpp"

namespace halmark {
namespace {

constexpr int draws_max = 1000;
constexpr std::uint64_t listed_max = 65536;  // points that are gone through one by one

}  // namespace

// Throws Error (exit 2), see enqueue. `earlier`: whole configurations of the same request, by
// identity, with their numbers.
void Study::check_enqueued(const Setting& setting, int number,
                           std::map<std::uint64_t, int>& earlier) const {
  const auto domains = space_.domains();
  Point point(domains.size(), absent);
  std::map<std::size_t, double> given;
  for (const auto& [name, value] : setting) {
    const auto it = std::ranges::find(domains, name, &SearchDomain::name);
    if (it == domains.end()) throw refused("the space has no parameter '" + name + "'");
    const auto coordinate = it->coordinate(value);
    if (!coordinate) throw refused("'" + name + "' cannot be " + text_of(value));
    const auto d = as_size(it - domains.begin());
    point[d] = *coordinate;
    given.emplace(d, *coordinate);
  }
  bool is_whole = true;
  for (std::size_t d = 0; d < domains.size() && is_whole; ++d) {
    is_whole = point[d] != absent || !space_.is_active(point, d);
  }
  if (!is_whole) {
    if (completed(given, number)) return;
    throw refused("no valid configuration that is new has these values");
  }
  const std::uint64_t identity = space_.identity(space_.point_of(setting));
  const auto* holder = find_value(holder_, identity);
  const auto* waiting = find_or_null(waiting_, std::optional(identity),
                                     &std::pair<const int, std::optional<std::uint64_t>>::second);
  const auto [first, is_new] = earlier.emplace(identity, number);
  const int other = holder != nullptr ? *holder : waiting ? waiting->first : first->second;
  if (holder || waiting || !is_new) {
    throw refused("this configuration is trial " + std::to_string(other) + " already");
  }
}

std::vector<int> Study::enqueue(std::span<const Setting> settings) {
  std::vector<int> out;
  change([&](StudyTransaction& transaction) {
    catch_up(transaction);
    std::vector<TrialRow> rows;
    std::map<std::uint64_t, int> earlier;
    for (const Setting& setting : settings) {
      check_enqueued(setting, as_int(trials_.size() + rows.size()), earlier);
      Json fixed = Json::object();
      for (const auto& [name, value] : setting) fixed[name] = param_json(value);
      rows.push_back({.state = TrialState::waiting});
      rows.back().system = {{std::string(fixed_params_attribute), dump_json(fixed)}};
    }
    transaction.create(info_.id, rows);
    for (const TrialRow& row : rows) {
      cursor_.see(row);
      trials_.resize(as_size(row.number) + 1);
      trials_.back() = {.id = row.id};
      pending_[row.number] = {row.id, std::nullopt, row.state};
      wait_for(row.number, row.system);
      out.push_back(row.number);
    }
  });
  return out;
}

void Study::wait_for(int number, const Attributes& system) {
  std::optional<std::uint64_t>& identity = waiting_[number];
  const std::string* text = find_attribute(system, fixed_params_attribute);
  const Json fixed = text != nullptr ? Json::parse(*text, nullptr, false) : Json();
  if (!fixed.is_object()) return;
  Setting setting;
  for (const auto& [name, json] : fixed.items()) {
    if (json.is_structured()) return;
    setting.emplace_back(name, param_value_of(json, name));
  }
  try {
    identity = space_.identity(space_.point_of(setting));
  } catch (const Error&) {
    // In part, or of another space: it is judged when its turn comes.
  }
}

std::optional<Point> Study::completed(const std::string& fixed_params, int number) const {
  const Json fixed = Json::parse(fixed_params, nullptr, false);
  if (!fixed.is_object()) return std::nullopt;
  const auto domains = space_.domains();
  std::map<std::size_t, double> given;
  for (const auto& [name, json] : fixed.items()) {
    const auto it = std::ranges::find(domains, name, &SearchDomain::name);
    if (it == domains.end() || json.is_structured()) return std::nullopt;
    const auto coordinate = it->coordinate(param_value_of(json, name));
    if (!coordinate) return std::nullopt;
    given.emplace(as_size(it - domains.begin()), *coordinate);
  }
  return completed(given, number);
}

// The valid and new point with these coordinates; what they leave open is drawn, and where no draw
// meets the constraints, looked for in a space that is short enough.
std::optional<Point> Study::completed(const std::map<std::size_t, double>& given,
                                      int number) const {
  const auto is_wanted = [&](const Point& point) {
    return std::ranges::all_of(
               given, [&](const auto& item) { return point[item.first] == item.second; }) &&
           space_.contains(point) && !holder_.contains(space_.identity(point));
  };
  for (const int draw : below(draws_max)) {
    const std::uint64_t seed =
        hash_u64(hash_combine(settings_.seed, as_uint64(number)), as_uint64(draw));
    std::optional<Point> point = space_.draw(seed);
    if (!point) return std::nullopt;
    // Twice: a given value may switch on a parameter that is given too.
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& [d, coordinate] : given) {
        if (space_.is_active(*point, d)) (*point)[d] = coordinate;
      }
      *point = space_.settle(*point, seed);
    }
    if (is_wanted(*point)) return point;
  }
  if (!space_.is_countable() || space_.size() > listed_max) return std::nullopt;
  for (const std::uint64_t i : below(space_.size())) {
    Point point = space_.point(i);
    if (is_wanted(point)) return point;
  }
  return std::nullopt;
}

void Study::take_enqueued(StudyTransaction& transaction, std::size_t count,
                          std::vector<StudyProposal>& out) {
  std::vector<int> numbers;
  for (const auto& [number, identity] : waiting_) numbers.push_back(number);
  for (const int number : numbers) {
    if (count == 0) return;
    const std::int64_t id = pending_.at(number).id;
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
    waiting_.erase(number);
    cursor_.unfinished[id] = {TrialState::running, row.params.size()};
    holder_.emplace(space_.identity(*point), number);
    sampler_->tell({Told{.point = *point, .outcome = TrialOutcome::pending}});
    mine_.emplace(number, *point);
    out.push_back({number, space_.setting(*point)});
    --count;
  }
}

}  // namespace halmark
