// Models, front and pool, trial by trial.
#include "search/surrogate/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/lists.hpp"
#include "search/samplers/selection.hpp"

namespace halmark {
namespace {

constexpr std::size_t first_fit = 8, observations_min = 4;
constexpr std::size_t fit_observations = 128;
constexpr std::size_t rebuild_period = 32;  // trials between fresh pools
constexpr int fit_steps_first = 40, fit_steps_warm = 12, fit_steps_fresh = 30;
constexpr std::size_t fresh_trials = 300;  // what matters has been found out by then
constexpr std::size_t elite_min = 12;
constexpr std::uint64_t attempts_fresh = 8000, attempts_more = 400;  // to meet outer constraints
constexpr std::uint64_t purpose_kept = 0x0b5, purpose_pool = 0x900, purpose_view = 0x71e;

bool is_observed(const Trial& t) {
  return t.outcome == TrialOutcome::complete &&
         std::ranges::all_of(t.objectives, [](double y) { return std::isfinite(y); });
}

}  // namespace

Surrogate::Surrogate(const History& history, const FailureGuard& guard, Effort& effort,
                     std::uint64_t seed, SurrogateSettings settings)
    : history_(history),
      guard_(guard),
      effort_(effort),
      space_(history.space()),
      seed_(seed),
      settings_(settings),
      features_(space_),
      failures_(space_),
      next_fit_(first_fit) {}

// The best observations of the first `trials` trials, in the order of the trials. One in four is
// any of the others: the model must know what is bad, too.
std::vector<std::size_t> Surrogate::observations(std::size_t trials, std::size_t count) const {
  std::vector<std::size_t> out;
  for (const auto i : indices(trials)) {
    if (is_observed(history_.trials()[i])) out.push_back(i);
  }
  if (out.size() <= count) return out;
  std::vector<Objectives> points =
      mapped(out, [&](const std::size_t i) { return history_.trials()[i].objectives; });
  std::vector<std::size_t> kept = best_points(points, count - count / 4);
  std::vector<bool> is_kept(out.size(), false);
  for (const std::size_t k : kept) is_kept[k] = true;
  std::vector<std::size_t> rest;
  for (const auto k : indices(out)) {
    if (!is_kept[k]) rest.push_back(k);
  }
  Stream random(seed_, trials, purpose_kept);
  for (std::size_t k = 0; k < std::min(count / 4, rest.size()); ++k) {
    std::swap(rest[k], rest[k + random.below(rest.size() - k)]);
    kept.push_back(rest[k]);
  }
  for (std::size_t& k : kept) k = out[k];
  std::ranges::sort(kept);
  return kept;
}

void Surrogate::fit_lengths(std::size_t trials) {
  const std::vector<std::size_t> chosen = observations(trials, fit_observations);
  if (chosen.size() < observations_min) return;
  std::vector<double> rows;
  for (const std::size_t i : chosen) features_.append(history_.trials()[i].point, rows);
  outputs_.resize(history_.objectives());
  for (const auto m : indices(outputs_)) {
    std::vector<double> values =
        mapped(chosen, [&](const std::size_t i) { return history_.trials()[i].objectives[m]; });
    Output& output = outputs_[m];
    output.curve = curve_of(values);
    for (double& v : values) v = on_curve(output.curve, v);
    const bool is_first = !output.process;
    if (is_first) output.process = std::make_unique<GaussianProcess>(features_);
    output.process->fit(rows, values, is_first ? fit_steps_first : fit_steps_warm,
                        trials <= fresh_trials ? fit_steps_fresh : 0);
  }
  next_rebuild_ = trials;
}

// Takes in the trials one by one, as they came. A stop leaves it half done: nobody asks again.
void Surrogate::advance(std::size_t trials) {
  // Pools before the last rebuild are forgotten anyway.
  std::size_t last_fit = next_fit_;
  while (next_fit_ <= trials) {
    fit_lengths(next_fit_);
    last_fit = next_fit_;
    next_fit_ = next_fit_ * 5 / 4 + 2;
  }
  if (outputs_.empty()) {
    done_ = trials;
    return;
  }
  const std::size_t begin = last_fit <= trials && last_fit > done_ ? last_fit : done_ + 1;
  for (std::size_t n = begin; n <= trials; ++n) {
    effort_.look();
    if (n >= next_rebuild_) {
      // Of several rebuilds in a row only the last counts.
      while (next_rebuild_ + rebuild_period <= trials) next_rebuild_ += rebuild_period;
      n = std::max(n, next_rebuild_);
      rebuild(n);
      next_rebuild_ = n + rebuild_period;
    } else {
      observe(n - 1);
    }
  }
  done_ = trials;
}

bool Surrogate::prepare() {
  forget_presumed();
  advance(history_.size());
  for (const std::size_t trial : std::exchange(late_, {})) {
    if (outputs_.empty() || !is_observed(history_.trials()[trial])) continue;
    observe(trial);
    update_front(done_);
  }
  if (outputs_.empty() || outputs_[0].process->size() < observations_min) return false;
  presume_pending();
  return true;
}

void Surrogate::rebuild(std::size_t trials) {
  late_.clear();
  presumed_.clear();
  for (const auto m : indices(outputs_)) {
    Output& o = outputs_[m];
    o.process->clear();
    for (const auto i : indices(trials)) {
      const Trial& t = history_.trials()[i];
      if (is_observed(t) && !fits_curve(o.curve, t.objectives[m])) o.curve = Belief::Curve::plain;
    }
  }
  for (const std::size_t i : observations(trials, settings_.observations_max)) add_observation(i);
  update_front(trials);
  pool_.clear();
  in_pool_.clear();
  Stream random(seed_, trials, purpose_pool);
  std::uint64_t attempts = attempts_fresh;
  for (std::size_t i = 0; i < settings_.anywhere; ++i) {
    add_candidate(space_.draw(random.bits(), attempts));
  }
  // Half of the near ones by taking elite points in random order with all their neighbours.
  std::vector<std::size_t> order = elite_;
  std::size_t neighbours = 0;
  for (std::size_t k = 0; k < order.size() && neighbours < settings_.around / 2; ++k) {
    std::swap(order[k], order[k + random.below(order.size() - k)]);
    neighbours += add_around(order[k], random.bits());
  }
  add_offspring(random, settings_.around / 2);
}

void Surrogate::add_observation(std::size_t trial) {
  const Trial& t = history_.trials()[trial];
  std::vector<double> row;
  features_.append(t.point, row);
  for (const auto m : indices(outputs_)) {
    outputs_[m].process->add(row, on_curve(outputs_[m].curve, t.objectives[m]));
  }
}

// One more trial between two rebuilds.
void Surrogate::observe(std::size_t trial) {
  const Trial& t = history_.trials()[trial];
  if (in_pool_.erase(space_.identity(t.point)) > 0) {
    std::erase_if(pool_, [&](const Candidate& c) { return c.point == t.point; });
  }
  Stream random(seed_, trial + 1, purpose_pool);
  bool is_fitting = is_observed(t);
  for (std::size_t m = 0; is_fitting && m < outputs_.size(); ++m) {
    // A value of another sign than the curve's: all are taken in again, plain, with the next trial.
    if (fits_curve(outputs_[m].curve, t.objectives[m])) continue;
    is_fitting = false;
    next_rebuild_ = trial + 2;
  }
  if (is_fitting) {
    add_observation(trial);
    update_front(trial + 1);
    if (std::ranges::find(elite_, trial) != elite_.end()) add_around(trial, random.bits());
  }
  std::uint64_t attempts = attempts_more;
  for (std::size_t i = 0; i < 4; ++i) add_candidate(space_.draw(random.bits(), attempts));
  add_offspring(random, 12);
}

void Surrogate::update_front(std::size_t trials) {
  std::vector<Objectives> points;
  std::vector<std::size_t> numbers;
  for (const auto i : indices(trials)) {
    if (!is_observed(history_.trials()[i])) continue;
    numbers.push_back(i);
    points.push_back(history_.trials()[i].objectives);
  }
  front_.clear();
  std::vector<Objectives> values;
  for (const std::size_t k : non_dominated(points)) {
    front_.push_back(numbers[k]);
    values.push_back(points[k]);
  }
  elite_ = front_;
  if (front_.size() < elite_min) {
    elite_.clear();
    for (const std::size_t k : best_points(points, elite_min)) elite_.push_back(numbers[k]);
  }
  // Reference: a tenth of the front's extent beyond its worst values.
  ideal_.resize(history_.objectives());
  reference_.resize(history_.objectives());
  for (const auto m : indices(reference_)) {
    const auto by = [&](const Objectives& p) { return p[m]; };
    const double low = std::ranges::min(values, {}, by)[m];
    const double high = std::ranges::max(values, {}, by)[m];
    const double worst = std::ranges::max(points, {}, by)[m];
    ideal_[m] = low;
    reference_[m] = high > low ? high + 0.1 * (high - low) : worst > high ? worst : high + 1;
  }
  // Boxes are cheap up to three objectives; of more, three change places from trial to trial.
  view_.clear();
  for (const auto m : indices(reference_)) view_.push_back(m);
  Stream random(seed_, trials, purpose_view);
  for (std::size_t k = 0; k < 3 && view_.size() > 3; ++k) {
    std::swap(view_[k], view_[k + random.below(view_.size() - k)]);
  }
  if (view_.size() > 3) view_.resize(3);
  front_values_.clear();
  for (const Objectives& p : values) front_values_.push_back(seen(p));
  open_.emplace(front_values_, seen(reference_));
  presumed_count_ = 0;
}

Objectives Surrogate::seen(const Objectives& values) const {
  Objectives out;
  for (const std::size_t m : view_) out.push_back(values[m]);
  return out;
}

}  // namespace halmark
