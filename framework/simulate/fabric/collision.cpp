#include "simulate/fabric/collision.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::fabric {
namespace {

constexpr std::int64_t exact_flows_max = 512;

// e^-mean mean^k / k!, k up to `last`.
std::vector<double> poisson(double mean, std::int64_t last) {
  std::vector<double> out;
  for (std::int64_t k = 0; k <= last; ++k) {
    const auto at = as_double(k);
    out.push_back(std::exp(at * std::log(mean) - mean - std::lgamma(at + 1)));
  }
  return out;
}

// That no bin holds more than `most`. Bins that are filled independently, by a Poisson count each,
// and then hold `flows` together, are filled as by throwing (Mitzenmacher and Upfal, Probability
// and Computing, 5.4): the coefficient of their sums, over that of all.
double at_most(std::int64_t most, std::int64_t flows, std::int64_t bins) {
  const double mean = as_double(flows) / as_double(bins);
  const std::vector<double> of_bin = poisson(mean, most);
  if (flows > exact_flows_max) {
    double within = 0;
    for (const double p : of_bin) within += p;
    return std::pow(std::min(within, 1.0), as_double(bins));
  }
  std::vector<double> sum(as_size(flows) + 1, 0);
  sum[0] = 1;
  for (std::int64_t bin = 0; bin < bins; ++bin) {
    std::vector<double> next(sum.size(), 0);
    for (const auto i : indices(sum)) {
      for (std::size_t k = 0; k < of_bin.size() && i + k < sum.size(); ++k)
        next[i + k] += sum[i] * of_bin[k];
    }
    sum = std::move(next);
  }
  return std::min(sum.back() / poisson(as_double(flows), flows).back(), 1.0);
}

}  // namespace

double slowest_flow_share(Ecmp policy, const Uplinks& u) {
  if (u.flows < 1 || u.uplinks < 1 || !(u.bytes_per_s > 0) || !(u.bytes_per_s_flow > 0)) {
    throw refused("flows, uplinks and their rates have to be above 0", "uplinks of a leaf");
  }
  const auto flows = as_double(u.flows), uplinks = as_double(u.uplinks);
  const double even = std::min(u.bytes_per_s_flow, u.bytes_per_s * std::min(uplinks / flows, 1.0));
  const auto share = [&](std::int64_t busiest) {
    return std::min(u.bytes_per_s_flow, u.bytes_per_s / as_double(busiest)) / even;
  };
  const std::int64_t least = (u.flows + u.uplinks - 1) / u.uplinks;
  switch (policy) {
    case Ecmp::spray:
      return 1;
    case Ecmp::least_loaded:
      return share(least);
    case Ecmp::hash:
      break;
  }
  double mean = 0, below = 0;
  for (std::int64_t most = least; most <= u.flows; ++most) {
    const double within = at_most(most, u.flows, u.uplinks);
    mean += std::max(within - below, 0.0) * share(most);
    below = std::max(below, within);
    if (below > 1 - 1e-9) break;
  }
  return std::min(mean / below, 1.0);
}

}  // namespace halmark::fabric
