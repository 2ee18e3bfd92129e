#include "history/bisect/bisection.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/numeric/cast.hpp"
#include "core/numeric/student_t.hpp"

namespace halmark::history {
namespace {

constexpr double outlier_deviations = 3.5;
constexpr double confirmed_from = 0.9;  // probability, before a commit is named
constexpr std::size_t pairs_of_median = 3, pairs_within_floor = 6;

// The robust deviation of a pair within its revision, over those with enough of them: 0 where there
// are too few to tell an outlier. Medians of few values lie near them, which the factor corrects.
double pair_deviation(std::span<const RevisionPairs> revisions) {
  std::vector<double> distances;
  for (const RevisionPairs& r : revisions) {
    if (r.log_ratios.size() < pairs_of_median) continue;
    const double middle = median(r.log_ratios);
    const double n = as_double(r.log_ratios.size());
    for (double y : r.log_ratios) {
      distances.push_back(std::abs(y - middle) * std::sqrt(n / (n - 1)));
    }
  }
  return distances.size() < pairs_within_floor ? 0 : 1.4826 * median(distances);
}

struct Sums {
  double count = 0, sum = 0, squares = 0;
};

Sums sums_of(const RevisionPairs& revision, double deviation) {
  Sums out;
  const bool clips = deviation > 0 && revision.log_ratios.size() >= pairs_of_median;
  const double middle = clips ? median(revision.log_ratios) : 0;
  const double limit = outlier_deviations * deviation;
  for (double y : revision.log_ratios) {
    if (clips) y = std::clamp(y, middle - limit, middle + limit);
    out.count += 1;
    out.sum += y;
    out.squares += y * y;
  }
  return out;
}

// What a pair at a revision will show: Student's t, taken as a normal of its variance.
struct Predicted {
  double probability = 0, mean = 0, square = 0;
  void add(double weight, double at, double variance) {
    probability += weight;
    mean += weight * at;
    square += weight * (variance + at * at);
  }
  void settle() {
    if (probability <= 0) return;
    mean /= probability;
    square = std::max(square / probability - mean * mean, 1e-18);
  }
  double density(double y) const {
    return std::exp(-(y - mean) * (y - mean) / (2 * square)) /
           std::sqrt(2 * std::numbers::pi * square);
  }
};

// In nats, of one pair about which of two it comes from: the expected divergence of what is
// believed afterwards from what is believed now, by the midpoint rule over both.
double information(const Predicted& before, const Predicted& after) {
  if (before.probability <= 0 || after.probability <= 0) return 0;
  constexpr int points = 160;
  double out = 0;
  // Substituted around each component, so that a narrow one beside a wide one is resolved.
  for (const auto& [own, other] : {std::pair(before, after), std::pair(after, before)}) {
    const double deviation = std::sqrt(own.square), step = 12 * deviation / points;
    for (int i = 0; i < points; ++i) {
      const double y = own.mean + (i + 0.5) * step - 6 * deviation;
      const double here = own.density(y);
      const double mixed = own.probability * here + other.probability * other.density(y);
      if (here > 0) out += own.probability * here * std::log(here / mixed) * step;
    }
  }
  return out;
}

}  // namespace

std::size_t BisectPosterior::best() const {
  return as_size(std::ranges::max_element(hypotheses, {}, &BisectHypothesis::probability) -
                 hypotheses.begin());
}

double BisectPosterior::ratio(std::size_t revision) const {
  return std::exp(hypotheses[revision].size);
}

Interval BisectPosterior::ratio_interval(std::size_t revision) const {
  const BisectHypothesis& h = hypotheses[revision];
  const double half = t_critical(0.05, freedom) * std::sqrt(h.variance / h.size_weight);
  return {std::exp(h.size - half), std::exp(h.size + half)};
}

namespace {

// Of the prior: its own, and of those before it that are skipped, so that pairs cannot tell them
// from it.
double prior_share(std::span<const RevisionPairs> revisions, std::size_t k) {
  double commits = 1;
  for (std::size_t i = k; revisions[i - 1].is_skipped; --i) commits += 1;
  return commits / as_double(revisions.size() - 1);
}

}  // namespace

BisectPosterior bisect_posterior(std::span<const RevisionPairs> revisions,
                                 const BisectPrior& prior) {
  BisectPosterior out;
  out.hypotheses.resize(revisions.size());
  const double deviation = pair_deviation(revisions);
  std::vector<Sums> sums;
  out.freedom = prior.variance_weight;
  double squares =
      prior.variance_weight * prior.variance + prior.size_weight * prior.size * prior.size;
  for (const RevisionPairs& r : revisions) {
    const Sums& s = sums.emplace_back(sums_of(r, deviation));
    out.freedom += s.count;
    squares += s.squares;
  }
  std::vector<double> logs(revisions.size(), -std::numeric_limits<double>::infinity());
  // From the bad end: the pairs at a revision and behind it have the change, the others none.
  double weight = prior.size_weight, sum = prior.size_weight * prior.size;
  for (std::size_t k = revisions.size(); k-- > 0;) {
    weight = k > 0 ? weight + sums[k].count : prior.size_weight;
    sum = k > 0 ? sum + sums[k].sum : prior.size_weight * prior.size;
    if (revisions[k].is_skipped) continue;
    const double size = sum / weight;
    const double rest =
        std::max(squares - weight * size * size, prior.variance_weight * prior.variance);
    out.hypotheses[k] = {.size = size, .size_weight = weight, .variance = rest / out.freedom};
    const double share =
        k == 0 ? prior.no_change : (1 - prior.no_change) * prior_share(revisions, k);
    logs[k] = std::log(share) + 0.5 * std::log(prior.size_weight / weight) -
              0.5 * out.freedom * std::log(rest);
  }
  const double top = *std::ranges::max_element(logs);
  double total = 0;
  for (double log : logs) total += std::exp(log - top);
  for (std::size_t k = 0; k < logs.size(); ++k) {
    out.hypotheses[k].probability = std::exp(logs[k] - top) / total;
  }
  return out;
}

namespace {

// The one on either side of where the change seems to be that a single pair, which may be a wild
// one, speaks for; 0 = neither.
std::size_t unconfirmed(std::span<const RevisionPairs> revisions, std::size_t best) {
  const auto is_single = [&](std::size_t r) { return revisions[r].log_ratios.size() < 2; };
  if (best == 0 || is_single(best)) return best;
  std::size_t before = best - 1;
  while (before > 0 && revisions[before].is_skipped) --before;
  return is_single(before) ? before : 0;
}

}  // namespace

std::size_t next_revision(std::span<const RevisionPairs> revisions,
                          const BisectPosterior& posterior, std::span<const double> costs) {
  std::size_t out = revisions.size() - 1;
  double most = -1;
  // The first pair is of the bad one: there the whole change shows.
  if (revisions.back().log_ratios.empty()) return out;
  const std::size_t best = posterior.best();
  const std::size_t single = unconfirmed(revisions, best);
  if (single > 0 && posterior.hypotheses[best].probability >= confirmed_from) return single;
  for (std::size_t r = revisions.size(); r-- > 1;) {
    if (revisions[r].is_skipped) continue;
    Predicted before, after;
    for (std::size_t k = 0; k < revisions.size(); ++k) {
      const BisectHypothesis& h = posterior.hypotheses[k];
      if (h.probability <= 0) continue;
      if (k > 0 && k <= r) {
        after.add(h.probability, h.size, h.variance * (1 + 1 / h.size_weight));
      } else {
        before.add(h.probability, 0, h.variance);
      }
    }
    before.settle();
    after.settle();
    const double gain = information(before, after) / costs[r];
    if (gain > most * (1 + 1e-9)) {
      most = gain;
      out = r;
    }
  }
  return out;
}

std::string_view bisect_state_name(BisectState state) {
  constexpr std::array<std::string_view, 3> names = {"open", "found", "no_change"};
  return names[as_size(state)];
}

BisectState bisect_state(std::span<const RevisionPairs> revisions, const BisectPosterior& posterior,
                         double confidence, double floor) {
  const std::vector<double>& bad = revisions.back().log_ratios;
  if (bad.size() >= pairs_within_floor) {
    double spread = 0;
    const double middle = mean(bad), n = as_double(bad.size());
    for (double y : bad) spread += (y - middle) * (y - middle);
    const double half = t_critical(0.05, n - 1) * std::sqrt(spread / (n - 1) / n);
    if (std::abs(middle) + half <= std::log1p(floor)) return BisectState::no_change;
  }
  const std::size_t best = posterior.best();
  if (posterior.hypotheses[best].probability < confidence) return BisectState::open;
  if (best == 0) return BisectState::no_change;
  return unconfirmed(revisions, best) == 0 ? BisectState::found : BisectState::open;
}

}  // namespace halmark::history
