// Candidates, and which of them is proposed.
#include <algorithm>

#include "core/lists.hpp"
#include "search/samplers/variation.hpp"
#include "search/surrogate/surrogate.hpp"

namespace halmark {
namespace {

constexpr int passes_countable = 2, passes_continuous = 3;
constexpr double shrink = 1;
constexpr double optimism = 3;  // deviations below the mean that a candidate is given credit for
constexpr std::size_t pending_window = 256, presumed_max = 32;
constexpr std::size_t climb_max = 2000;  // steps, of which a long category alone has hundreds

}  // namespace

void Surrogate::add_candidate(std::optional<Point> point) {
  if (!point || !history_.is_new(*point)) return;
  if (!in_pool_.insert(space_.identity(*point)).second) return;
  pool_.push_back(candidate_of(std::move(*point)));
}

Surrogate::Candidate Surrogate::candidate_of(Point point) const {
  Candidate out{.point = std::move(point), .row = {}, .probes = {}};
  features_.append(out.point, out.row);
  out.probes.resize(outputs_.size());
  return out;
}

// Returns the number of neighbours, new or not.
std::size_t Surrogate::add_around(std::size_t trial, std::uint64_t seed) {
  std::vector<Point> around = space_.neighbours(history_.trials()[trial].point, seed);
  for (Point& p : around) add_candidate(std::move(p));
  return around.size();
}

// Children of elite points, and steps away from them.
void Surrogate::add_offspring(Stream& random, std::size_t count) {
  const auto any = [&]() -> const Point& {
    return history_.trials()[elite_[random.below(elite_.size())]].point;
  };
  for (const auto i : indices(count)) {
    const Point& first = any();
    const bool is_crossed = i % 2 == 0;
    add_candidate(child_of(space_, first, is_crossed ? any() : first,
                           {.crossover = is_crossed ? 1.0 : 0.0,
                            .mutations = is_crossed ? 0.5 : 1 + random.uniform(),
                            .at_least_one = !is_crossed},
                           random));
  }
}

std::vector<Belief> Surrogate::beliefs(Candidate& candidate) const {
  std::vector<Belief> out;
  for (const std::size_t m : view_) {
    const auto p = outputs_[m].process->predict(candidate.row, candidate.probes[m]);
    out.push_back({.curve = outputs_[m].curve, .mean = p.mean, .deviation = shrink * p.deviation});
  }
  return out;
}

// Zero where it cannot be above `least`.
double Surrogate::score(Candidate& candidate, double least) const {
  const std::vector<Belief> all = beliefs(candidate);
  // Most candidates are out of the question.
  Objectives hopeful;
  for (const auto i : indices(all)) {
    Belief low = all[i];
    low.mean -= optimism * low.deviation;
    hopeful.push_back(low.median());
    if (hopeful[i] >= reference_[view_[i]]) return 0;
  }
  for (const Objectives& f : front_values_) {
    if (dominates(f, hopeful)) return 0;
  }
  const double gain = open_->expected(all);
  return gain > least ? gain * failures_.success(candidate.point) : 0;
}

// What is pending counts as done, with the values that are expected of it, so that a batch spreads.
// The latest only: what an ask costs must not depend on how many are running.
void Surrogate::presume_pending() {
  const std::vector<Trial>& trials = history_.trials();
  const std::size_t count = trials.size();
  for (std::size_t k = 1; k <= std::min(count, pending_window); ++k) {
    if (presumed_count_ == presumed_max) break;
    const std::size_t i = count - k;
    if (trials[i].outcome != TrialOutcome::pending) continue;
    auto at = presumed_.find(i);
    if (at == presumed_.end()) at = presumed_.emplace(i, candidate_of(trials[i].point)).first;
    Objectives expected;
    for (const Belief& b : beliefs(at->second)) expected.push_back(b.median());
    front_values_.push_back(std::move(expected));
    ++presumed_count_;
  }
  if (presumed_count_ > 0) open_.emplace(front_values_, seen(reference_));
}

void Surrogate::forget_presumed() {
  if (presumed_count_ == 0) return;
  front_values_.resize(front_values_.size() - presumed_count_);
  open_.emplace(front_values_, seen(reference_));
  presumed_count_ = 0;
}

// Candidates of a pool are few; one parameter after the other, its steps may promise more.
void Surrogate::climb(Candidate& best, double risk_max, Stream& random) const {
  const bool has_continua = !space_.is_countable();
  double reach = 0.2;
  std::size_t steps = 0;
  for (int pass = 0; pass < (has_continua ? passes_continuous : passes_countable); ++pass) {
    bool is_better = false;
    const std::size_t shift = random.below(best.point.size());
    for (std::size_t i = 0; i < best.point.size(); ++i) {
      const std::size_t d = (i + shift) % best.point.size();
      for (Point& p : space_.neighbours_along(d, best.point, random.bits(), reach)) {
        if (++steps > climb_max) return;
        effort_.spend();
        if (!history_.is_new(p)) continue;
        Candidate c = candidate_of(std::move(p));
        if (risk_max < 1 && guard_.risk(c.row, c.failures) > risk_max) continue;
        c.score = score(c, best.score);
        if (c.score <= best.score) continue;
        best = std::move(c);
        is_better = true;
      }
    }
    if (!is_better && !has_continua) break;
    reach *= 0.5;
  }
}

std::vector<double> Surrogate::scaled_means(std::span<const double> row) const {
  std::vector<double> out;
  for (const auto m : indices(outputs_)) {
    const Belief belief{.curve = outputs_[m].curve, .mean = outputs_[m].process->predict(row).mean};
    out.push_back((belief.median() - ideal_[m]) / (reference_[m] - ideal_[m]));
  }
  return out;
}

// The most promising of those that are unlikely to fail; where none is, the one that is least
// likely to.
Surrogate::Candidate* Surrogate::best_of_pool(double risk_max) {
  Candidate* best = nullptr;
  Candidate* safest = nullptr;
  for (Candidate& c : pool_) {
    effort_.spend();
    if (history_.knows(c.point)) continue;  // pending
    c.risk = risk_max < 1 ? guard_.risk(c.row, c.failures) : 0;
    if (c.risk > risk_max) {
      if (safest == nullptr || c.risk < safest->risk) safest = &c;
      continue;
    }
    c.score = score(c, best == nullptr ? 0 : best->score);
    if (c.score > 0 && (best == nullptr || c.score > best->score)) best = &c;
  }
  return best != nullptr ? best : safest;
}

std::optional<Point> Surrogate::propose(Stream& random) {
  if (!prepare()) return std::nullopt;
  effort_.begin();
  const double risk_max = guard_.is_awake() ? guard_.risk_max() : 1;
  const Candidate* best = best_of_pool(risk_max);
  if (best == nullptr) return std::nullopt;
  Candidate chosen{.point = best->point, .row = best->row, .probes = {}, .score = best->score};
  climb(chosen, std::max(risk_max, best->risk), random);
  return std::move(chosen.point);
}

}  // namespace halmark
