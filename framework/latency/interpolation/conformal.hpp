// Split conformal prediction (Lei et al. 2018): the interval that holds a share of what is to come
// is the one that held that share of what was left out, whatever the errors are distributed like.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace halmark {

constexpr double conformal_coverage = 0.90;
// Fewer residuals than this claim no share.
constexpr std::size_t residuals_min = 20;

// ceil((n + 1) share): the finite-sample quantile. `values` is not empty.
double conformal_quantile(std::vector<double> values, double share);

// A number without any order in it: even spread over a family, whatever the order of its rows.
std::uint64_t scattered(std::size_t index);

// At most `count` of 0..size-1 that `is_wanted`, in even spread.
template <class IsWanted>
std::vector<std::size_t> spread(std::size_t size, std::size_t count, const IsWanted& is_wanted) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < size; ++i) {
    if (is_wanted(i)) out.push_back(i);
  }
  std::ranges::sort(out, {}, scattered);
  if (out.size() > count) out.resize(count);
  return out;
}

}  // namespace halmark
