#include "tune/search/gain/occasion.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace halmark::tune {
namespace {

// By how many percent the step takes longer when everything of an occasion takes 1 % longer.
std::map<std::size_t, double> elasticities(const GainField& field, const GainField::Member& member,
                                           std::span<const BelievedKernel> kernels,
                                           std::span<const KernelTime> medians) {
  std::map<std::size_t, std::vector<std::size_t>> own;
  for (const std::size_t k : member.kernels) own[kernels[k].occasion].push_back(k);
  const double step_ns = field.step_ns(member, medians);
  std::vector<KernelTime> times(medians.begin(), medians.end());
  std::map<std::size_t, double> out;
  for (const auto& [occasion, of_it] : own) {
    for (const std::size_t k : of_it) times[k] = 1.01 * medians[k];
    out[occasion] = 100 * (field.step_ns(member, times) / step_ns - 1);
    for (const std::size_t k : of_it) times[k] = medians[k];
  }
  return out;
}

// Of the reported that seem better in everything, the one with the nearest step.
std::optional<std::size_t> kept_off_by(const GainField& field, const BelievedField& believed,
                                       std::size_t place, std::span<const KernelTime> medians) {
  const auto member = [&](std::size_t p) -> const GainField::Member& {
    return field.members()[believed.alive()[p]];
  };
  const Objectives own = field.objectives(member(place), medians);
  const double step_ns = field.step_ns(member(place), medians);
  std::optional<std::size_t> out;
  double nearest = 0;
  for (const std::size_t other : believed.front()) {
    const Objectives theirs = field.objectives(member(other), medians);
    if (!std::ranges::equal(theirs, own, std::less_equal{})) continue;
    const double distance = std::abs(std::log(field.step_ns(member(other), medians) / step_ns));
    if (out && distance >= nearest) continue;
    out = other;
    nearest = distance;
  }
  return out;
}

}  // namespace

std::vector<Occasion> occasions_of(std::vector<BelievedKernel>& kernels,
                                   std::span<const double> seconds) {
  std::vector<Occasion> out;
  std::map<std::size_t, std::size_t> numbers;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    const auto [at, is_new] = numbers.try_emplace(kernels[k].occasion, out.size());
    if (is_new) out.emplace_back();
    kernels[k].occasion = at->second;
    out[at->second].kernels.push_back(k);
    out[at->second].predicted_s += seconds[k];
  }
  return out;
}

DoubtOfField::DoubtOfField(const GainField& field, const BelievedField& believed,
                           std::span<const BelievedKernel> kernels,
                           std::span<const Occasion> occasions, std::span<const KernelTime> medians,
                           const std::vector<bool>& may_repeat) {
  for (std::size_t place = 0; place < believed.alive().size(); ++place) {
    if (!believed.is_measured(place) || believed.loss().is_reported(place)) continue;
    const double gain = believed.loss().gain(place);
    if (gain <= 0) continue;
    const auto rival = kept_off_by(field, believed, place, medians);
    if (!rival) continue;
    const auto& members = field.members();
    auto shares = elasticities(field, members[believed.alive()[place]], kernels, medians);
    for (const auto& [o, e] :
         elasticities(field, members[believed.alive()[*rival]], kernels, medians)) {
      shares[o] -= e;
    }
    double sum = 0;
    for (auto& [o, share] : shares) {
      share *= share / occasions[o].rounds;
      sum += share;
    }
    if (!(sum > 0)) continue;
    for (const auto& [o, share] : shares) {
      if (!may_repeat[o]) continue;
      parts_[o].push_back({left_.size(), share / sum / (occasions[o].rounds + 1)});
    }
    left_.push_back(gain);
  }
}

double DoubtOfField::worth(std::size_t occasion) const {
  const auto own = parts_.find(occasion);
  if (own == parts_.end()) return 0;
  double out = 0;
  for (const Part& part : own->second) out += left_[part.doubtful] * part.share;
  return out;
}

void DoubtOfField::repeat(std::size_t occasion) {
  const auto own = parts_.find(occasion);
  if (own == parts_.end()) return;
  for (const Part& part : own->second) left_[part.doubtful] *= 1 - part.share;
  parts_.erase(own);
}

}  // namespace halmark::tune
