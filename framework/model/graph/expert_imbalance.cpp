#include "model/graph/expert_imbalance.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark {

namespace {

constexpr std::int64_t normal_tokens_min = 64;
// Beyond this many terms of the exact law a simulation is as good and faster.
constexpr double exact_terms_max = 1e7;

class LogFactorials {
 public:
  explicit LogFactorials(std::int64_t largest) {
    for (std::int64_t n = 0; n <= largest; ++n) {
      values_.push_back(std::lgamma(as_double(n + 1)));
    }
  }
  double choose(std::int64_t n, std::int64_t k) const { return at(n) - at(k) - at(n - k); }

 private:
  double at(std::int64_t n) const { return values_[as_size(n)]; }
  std::vector<double> values_;
};

// P(max over ranks <= limit) for one token: its top_k picks go to the ranks one after the other,
// each rank taking a hypergeometric part of what is left.
double chance_of_at_most(std::int64_t limit, std::int64_t each, std::int64_t top_k,
                         std::int64_t ranks, const LogFactorials& log) {
  // fits[k]: chance that k picks among the experts of the ranks so far keep to the limit.
  std::vector<double> fits(as_size(top_k) + 1, 0.0);
  fits[0] = 1;
  for (std::int64_t rank = 1; rank <= ranks; ++rank) {
    const std::int64_t pool = rank * each;
    std::vector<double> next(fits.size(), 0.0);
    for (std::int64_t picks = 0; picks <= std::min(top_k, pool); ++picks) {
      for (std::int64_t own = 0; own <= std::min({picks, limit, each}); ++own) {
        if (picks - own > pool - each) continue;
        const double chance = std::exp(
            log.choose(each, own) + log.choose(pool - each, picks - own) - log.choose(pool, picks));
        next[as_size(picks)] += chance * fits[as_size(picks - own)];
      }
    }
    fits = std::move(next);
  }
  return fits.back();
}

// E[max] = sum over x >= 0 of P(max > x).
double imbalance_of_one_token(std::int64_t experts, std::int64_t top_k, std::int64_t ranks) {
  constexpr double negligible = 1e-12;
  const LogFactorials log(experts);
  double expected = 0;
  for (const std::int64_t limit : below(top_k)) {
    const double more = 1 - chance_of_at_most(limit, experts / ranks, top_k, ranks, log);
    if (more < negligible) break;
    expected += more;
  }
  return expected * as_double(ranks) / as_double(top_k);
}

// The first top_k of a shuffle are one token's experts. The order is never restored: any order is
// as good a start for the next shuffle.
double simulated_imbalance(std::int64_t experts, std::int64_t top_k, std::int64_t ranks,
                           std::int64_t tokens) {
  constexpr std::uint64_t seed = 0x6c6f6164;
  constexpr std::int64_t picks_wanted = std::int64_t{1} << 21;
  const std::int64_t trials = std::clamp<std::int64_t>(picks_wanted / (tokens * top_k), 256, 32768);
  std::vector<std::int64_t> rank_of(as_size(experts));
  for (const auto i : indices(rank_of)) {
    rank_of[i] = as_int64(i) / (experts / ranks);
  }
  std::vector<std::int64_t> loads(as_size(ranks));
  std::uint64_t counter = 0;
  std::int64_t sum_of_maxima = 0;
  for (std::int64_t trial = 0; trial < trials; ++trial) {
    std::ranges::fill(loads, 0);
    for (std::int64_t token = 0; token < tokens; ++token) {
      for (const auto i : indices(as_size(top_k))) {
        const auto other = i + uniform_below(hash_u64(seed, counter++), rank_of.size() - i);
        std::swap(rank_of[i], rank_of[other]);
        ++loads[as_size(rank_of[i])];
      }
    }
    sum_of_maxima += std::ranges::max(loads);
  }
  const double mean = as_double(tokens) * as_double(top_k) / as_double(ranks);
  return as_double(sum_of_maxima) / as_double(trials) / mean;
}

}  // namespace

double expected_distinct_experts(std::int64_t experts, std::int64_t top_k, std::int64_t tokens) {
  // Exact where nothing is left to chance.
  if (tokens == 1 || top_k == experts) return as_double(top_k);
  const double share = as_double(top_k) / as_double(experts);
  const double missed = as_double(tokens) * std::log1p(-share);
  return as_double(experts) * -std::expm1(missed);
}

// E[max] = integral of (1 - F^n) over x > 0 minus that of F^n over x < 0, F the normal
// distribution. The integrand is smooth and vanishes beyond 9: the trapezoid rule converges
// geometrically.
double expected_normal_maximum(std::int64_t count) {
  if (count <= 1) return 0;
  constexpr double end = 9;
  constexpr int steps = 900;
  constexpr double step = end / steps;
  const auto power = [&](double x) {
    const double below = 0.5 * std::erfc(-x / std::numbers::sqrt2);
    return std::pow(below, as_double(count));
  };
  double sum = 0;
  for (int i = 0; i <= steps; ++i) {
    const double x = i * step;
    sum += (i == 0 || i == steps ? 0.5 : 1.0) * (1 - power(x) - power(-x));
  }
  return sum * step;
}

double expected_imbalance(std::int64_t experts, std::int64_t top_k, std::int64_t ranks,
                          std::int64_t tokens) {
  if (ranks == 1 || top_k == experts) return 1;
  const auto e = as_double(experts), k = as_double(top_k);
  if (tokens == 1 && as_double(ranks) * k * k * k <= exact_terms_max) {
    return imbalance_of_one_token(experts, top_k, ranks);
  }
  if (tokens < normal_tokens_min) return simulated_imbalance(experts, top_k, ranks, tokens);
  const double variance = as_double(ranks) / (as_double(tokens) * k) * (e - k) / (e - 1);
  return 1 + expected_normal_maximum(ranks) * std::sqrt(variance);
}

}  // namespace halmark
