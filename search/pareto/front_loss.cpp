#include "search/pareto/front_loss.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/lists.hpp"

namespace halmark {
namespace {

std::vector<Objectives> at(std::span<const Objectives> points,
                           std::span<const std::size_t> indices) {
  return mapped(indices, [&](const std::size_t i) { return points[i]; });
}

}  // namespace

Objectives front_reference(std::span<const Objectives> front) {
  Objectives out(front.front().size());
  for (const auto m : indices(out)) {
    const auto by = [&](const Objectives& p) { return p[m]; };
    const double low = std::ranges::min(front, {}, by)[m];
    const double high = std::ranges::max(front, {}, by)[m];
    const double beyond = std::max(0.1 * (high - low), std::abs(high) - (high - low));
    out[m] = high + (beyond > 0 ? beyond : 1);
  }
  return out;
}

void FrontLoss::add(std::vector<Objectives> draw, Objectives reference) {
  std::vector<std::size_t> front = non_dominated(draw);
  const std::vector<Objectives> best = at(draw, front);
  if (reference.empty()) reference = front_reference(best);
  const double whole = hypervolume(best, reference);
  OpenRegion open({}, reference);
  draws_.push_back({.points = std::move(draw),
                    .reported = {},
                    .front = std::move(front),
                    .reference = std::move(reference),
                    .whole = whole,
                    .open = std::move(open)});
}

void FrontLoss::report(std::size_t configuration) {
  if (is_reported_[configuration]) return;
  is_reported_[configuration] = true;
  for (Draw& d : draws_) {
    d.reported.push_back(d.points[configuration]);
    d.reported = at(d.reported, non_dominated(d.reported));
    d.open = OpenRegion(d.reported, d.reference);
  }
}

double FrontLoss::Draw::loss() const { return 1 - hypervolume(reported, reference) / whole; }

double FrontLoss::probability_above(double share) const {
  const auto above = std::ranges::count_if(draws_, [&](const Draw& d) { return d.loss() > share; });
  return draws_.empty() ? 0 : as_double(above) / as_double(draws_.size());
}

double FrontLoss::expected() const {
  double sum = 0;
  for (const Draw& d : draws_) sum += d.loss();
  return draws_.empty() ? 0 : std::max(0.0, sum / as_double(draws_.size()));
}

std::vector<double> FrontLoss::gains(std::size_t configuration) const {
  std::vector<double> out;
  if (is_reported_[configuration]) return out;
  for (const Draw& d : draws_) out.push_back(d.open.gain(d.points[configuration]) / d.whole);
  return out;
}

double FrontLoss::gain(std::size_t configuration) const {
  const std::vector<double> each = gains(configuration);
  const double sum = std::accumulate(each.begin(), each.end(), 0.0);
  return each.empty() ? 0 : sum / as_double(each.size());
}

double FrontLoss::membership(std::size_t configuration) const {
  const auto times = std::ranges::count_if(
      draws_, [&](const Draw& d) { return std::ranges::binary_search(d.front, configuration); });
  return draws_.empty() ? 0 : as_double(times) / as_double(draws_.size());
}

}  // namespace halmark
