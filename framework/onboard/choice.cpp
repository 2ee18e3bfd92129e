#include "onboard/choice.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "kernels/contract.hpp"
#include "latency/case_bounds.hpp"
#include "latency/interpolation/interpolation_place.hpp"
#include "measure/campaign/predict_cost.hpp"

namespace halmark::onboard {
namespace {

constexpr std::uint64_t draws = 128;
constexpr double least_share = 0.02;  // of a family
constexpr double process_scatter = 0.03;
// Below it a correlation of so few draws says nothing.
constexpr double correlation_least = 0.25;

// The cell, of this number of correlation lengths, in which a problem lies.
std::string cell_of(const InterpolationPlace& place, double lengths) {
  std::string out = place.group;
  for (const double at : place.at)
    out += ' ' + std::to_string(std::lround(std::floor(at / lengths)));
  return out + " of " + std::to_string(std::lround(lengths));
}

// From the general to the particular: neighbours by the coordinates of interpolation share cells.
std::array<std::string, tune::kernel_traits> traits_of(const Candidate& candidate) {
  const Problem& problem = candidate.kernel.problem;
  const InterpolationPlace place = *interpolation_place(problem);
  const Work work = find_contract(problem.op)->work(problem.params);
  return {"any",
          problem.op,
          "in " + std::string(dtype_name(work.compute_dtype)),
          candidate.family,
          "alone",
          cell_of(place, 8),
          cell_of(place, 4),
          cell_of(place, 2),
          cell_of(place, 1),
          problem.text()};
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0) / static_cast<double>(a.size());
}

}  // namespace

Choice::Choice(std::span<const Candidate> candidates, const Device& device, int threads,
               std::uint64_t seed)
    : candidates_(candidates), seed_(seed), is_done_(candidates.size(), false) {
  const CaseBounds bounds({&device, threads});
  std::map<std::string, std::size_t> numbers;
  double all_share = 0;
  std::vector<double> family_share;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const Candidate& c = candidates[i];
    tune::BelievedKernel& k = kernels_.emplace_back();
    k.bound_ns = bounds.of(c.kernel).bound.ns();
    k.guess_ns = std::max(predicted_kernel_ns(c.kernel, &device, threads), k.bound_ns);
    k.traits = traits_of(c);
    k.ceiling = c.family;
    k.occasion = i;
    const std::size_t family = numbers.try_emplace(c.family, numbers.size()).first->second;
    families_.resize(numbers.size());
    family_share.resize(numbers.size(), 0);
    families_[family].members.push_back(i);
    family_of_.push_back(family);
    family_share[family] += c.share;
    all_share += c.share;
  }
  for (std::size_t f = 0; f < families_.size(); ++f) {
    const double share = std::max(least_share, all_share > 0 ? family_share[f] / all_share : 0);
    families_[f].weight = share / static_cast<double>(families_[f].members.size());
  }
}

void Choice::learn(std::size_t candidate, double ns) {
  if (kernels_[candidate].medians_ns.empty()) ++learned_;
  kernels_[candidate].medians_ns.push_back(ns);
  is_done_[candidate] = true;
}

void Choice::give_up(std::size_t candidate) { is_done_[candidate] = true; }

bool Choice::has_more() const { return std::ranges::count(is_done_, false) > 0; }

Choice::Drawn Choice::drawn() const {
  const tune::KernelBelief belief(kernels_);
  Drawn out(kernels_.size(), std::vector<double>(draws));
  for (std::uint64_t d = 0; d < draws; ++d) {
    const auto times = belief.draw(seed_, d);
    for (std::size_t i = 0; i < times.size(); ++i) out[i][d] = std::log(times[i].ns);
  }
  for (std::vector<double>& each : out) {
    const double mean = std::accumulate(each.begin(), each.end(), 0.0) / draws;
    for (double& value : each) value -= mean;
  }
  return out;
}

Choice::Best Choice::best(const Drawn& drawn, const std::vector<bool>& is_out,
                          double seconds) const {
  std::vector<double> variance(drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) variance[i] = product(drawn[i], drawn[i]);
  Best out;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (is_out[i] || candidates_[i].seconds > seconds) continue;
    const Family& family = families_[family_of_[i]];
    const double seen = variance[i] + process_scatter * process_scatter;
    double fall = 0;
    for (const std::size_t j : family.members) {
      const double covariance = product(drawn[i], drawn[j]);
      const double square = covariance * covariance;
      const double known = correlation_least * correlation_least * variance[i] * variance[j];
      if (j == i || square >= known) fall += family.weight * square / seen;
    }
    const double worth = fall / std::max(candidates_[i].seconds, 1e-3);
    if (worth > out.worth) out = {i, worth};
  }
  return out;
}

// What is left of the others when it is: their regression on it.
void Choice::suppose_known(std::size_t candidate, Drawn& drawn) const {
  const std::vector<double> known = drawn[candidate];
  const double variance = product(known, known) + process_scatter * process_scatter;
  for (const std::size_t j : families_[family_of_[candidate]].members) {
    const double slope = product(known, drawn[j]) / variance;
    for (std::size_t d = 0; d < draws; ++d) drawn[j][d] -= slope * known[d];
  }
}

std::vector<std::size_t> Choice::next(std::size_t count, double seconds) const {
  Drawn now = drawn();
  std::vector<bool> is_out = is_done_;
  std::vector<std::size_t> out;
  while (out.size() < count) {
    const Best found = best(now, is_out, seconds);
    if (found.worth <= 0) break;
    out.push_back(found.candidate);
    is_out[found.candidate] = true;
    seconds -= candidates_[found.candidate].seconds;
    suppose_known(found.candidate, now);
  }
  return out;
}

}  // namespace halmark::onboard
