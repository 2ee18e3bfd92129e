// A false point would pull all its neighbours below the roofline, so points are judged before they
// teach anything, and what they teach is judged again.
#include "latency/interpolated_source.hpp"

#include "kernels/contract.hpp"
#include "latency/judged.hpp"

namespace halmark {

InterpolatedSource::InterpolatedSource(const Device& target,
                                       std::optional<double> network_bytes_per_s)
    : target_(target),
      network_bytes_per_s_(network_bytes_per_s),
      ceilings_(target, 0, 1, network_bytes_per_s) {}

void InterpolatedSource::add(std::span<const LatencyPoint> points, const Device& measured_on) {
  const roofline::Ceilings ceilings(measured_on, 0, 1, network_bytes_per_s_);
  std::vector<LatencyPoint> believed;
  for (const LatencyPoint& point : points) {
    const OpContract* contract = find_contract(point.problem.op);
    if (contract != nullptr && point.ns > 0 &&
        roofline::quarantine(
            roofline::step_bound(point.problem, contract->work(point.problem.params), ceilings),
            point.ns)) {
      ++left_out_;
    } else {
      believed.push_back(point);
    }
  }
  const bool is_carried_over = measured_on.id != target_.id;
  interpolations_.emplace_back(believed, measured_on, ShardShare{},
                               is_carried_over ? &target_ : nullptr);
}

std::optional<Latency> InterpolatedSource::latency(const Problem& problem, const Work& work) const {
  for (const Interpolation& one : interpolations_) {
    if (auto latency = one.latency(problem)) {
      return judged(*std::move(latency), roofline::step_bound(problem, work, ceilings_));
    }
  }
  return std::nullopt;
}

}  // namespace halmark
