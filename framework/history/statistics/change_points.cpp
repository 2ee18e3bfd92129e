#include "history/statistics/change_points.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"
#include "core/numeric/student_t.hpp"
#include "history/comparison.hpp"

namespace halmark::history {
namespace {

double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

// The split of a segment with the largest energy distance; both parts have `least` nights.
std::size_t best_split(std::span<const double> y, std::size_t least) {
  const std::size_t n = y.size();
  // Sums of |y_i - y_j| over pairs within the left part, within the right one, and across.
  double left = 0, right = 0, across = 0;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = i + 1; j < n; ++j) right += std::abs(y[i] - y[j]);
  }
  std::size_t best = 0;
  double most = -1;
  for (std::size_t split = 1; split + least <= n; ++split) {
    double to_left = 0, to_right = 0;  // of the night that changes sides
    for (std::size_t i = 0; i + 1 < split; ++i) to_left += std::abs(y[split - 1] - y[i]);
    for (std::size_t i = split; i < n; ++i) to_right += std::abs(y[split - 1] - y[i]);
    left += to_left;
    right -= to_right;
    across += to_right - to_left;
    if (split < least) continue;
    const auto a = as_double(split), b = as_double(n - split);
    const double energy =
        a * b / (a + b) * (2 * across / (a * b) - (2 * left) / (a * a) - (2 * right) / (b * b));
    if (energy > most) {
      most = energy;
      best = split;
    }
  }
  return best;
}

void split_segment(std::span<const double> y, std::size_t begin, std::size_t end,
                   const DetectorRules& rules, std::vector<std::size_t>& out) {
  if (end - begin < 2 * rules.segment_min) return;
  const std::size_t split = best_split(y.subspan(begin, end - begin), rules.segment_min);
  if (split == 0) return;
  const std::size_t at = begin + split;
  if (segments_p(y.subspan(begin, split), y.subspan(at, end - at)) > rules.p_weak) return;
  split_segment(y, begin, at, rules, out);
  out.push_back(at);
  split_segment(y, at, end, rules, out);
}

// p of each change against the segments that its neighbours leave it.
std::vector<double> p_of_changes(std::span<const double> y, const std::vector<std::size_t>& at) {
  std::vector<double> out;
  for (std::size_t i = 0; i < at.size(); ++i) {
    const std::size_t begin = i == 0 ? 0 : at[i - 1];
    const std::size_t end = i + 1 == at.size() ? y.size() : at[i + 1];
    out.push_back(segments_p(y.subspan(begin, at[i] - begin), y.subspan(at[i], end - at[i])));
  }
  return out;
}

// Sum of absolute deviations from the median of a growing segment.
class Deviations {
 public:
  void add(double value) {
    if (low_.empty() || value <= low_.top()) {
      low_.push(value);
      low_sum_ += value;
    } else {
      high_.push(value);
      high_sum_ += value;
    }
    if (low_.size() > high_.size() + 1) {
      move_top(low_, low_sum_, high_, high_sum_);
    } else if (high_.size() > low_.size()) {
      move_top(high_, high_sum_, low_, low_sum_);
    }
  }
  double sum() const {
    const double centre = low_.top();
    return centre * as_double(low_.size()) - low_sum_ + high_sum_ -
           centre * as_double(high_.size());
  }

 private:
  template <class From, class To>
  static void move_top(From& from, double& from_sum, To& to, double& to_sum) {
    from_sum -= from.top();
    to_sum += from.top();
    to.push(from.top());
    from.pop();
  }
  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
  double low_sum_ = 0, high_sum_ = 0;
};

bool is_near(const std::vector<std::size_t>& changes, std::size_t at) {
  return std::ranges::any_of(
      changes, [at](std::size_t other) { return other <= at + 1 && at <= other + 1; });
}

}  // namespace

double segments_p(std::span<const double> before, std::span<const double> after) {
  if (before.empty() || after.empty() || before.size() + after.size() < 3) return 1;
  const auto a = as_double(before.size()), b = as_double(after.size());
  const double freedom = a + b - 2;
  const double variance =
      std::max((squares(before) + squares(after)) / freedom, spread_min * spread_min);
  return t_two_sided_p((mean(after) - mean(before)) / std::sqrt(variance * (1 / a + 1 / b)),
                       freedom);
}

std::vector<std::size_t> energy_changes(std::span<const double> nights,
                                        const DetectorRules& rules) {
  std::vector<std::size_t> out;
  split_segment(nights, 0, nights.size(), rules, out);
  while (!out.empty()) {
    const std::vector<double> p = p_of_changes(nights, out);
    const auto weakest = std::ranges::max_element(p);
    if (*weakest <= rules.p) break;
    out.erase(out.begin() + (weakest - p.begin()));
  }
  return out;
}

std::vector<std::size_t> step_changes(std::span<const double> nights, const DetectorRules& rules) {
  const std::size_t n = nights.size();
  if (n < 2 * rules.segment_min) return {};
  const double price =
      rules.penalty * std::max(night_noise(nights), spread_min) * std::log(as_double(n));
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> least(n + 1, never);
  std::vector<std::size_t> from(n + 1, 0);
  least[0] = -price;  // the first level is no step
  for (std::size_t begin = 0; begin < n; ++begin) {
    if (least[begin] == never) continue;
    Deviations segment;
    for (std::size_t end = begin + 1; end <= n; ++end) {
      segment.add(nights[end - 1]);
      if (end - begin < rules.segment_min) continue;
      const double cost = least[begin] + segment.sum() + price;
      if (cost < least[end]) {
        least[end] = cost;
        from[end] = begin;
      }
    }
  }
  std::vector<std::size_t> out;
  for (std::size_t end = n; from[end] > 0; end = from[end]) out.push_back(from[end]);
  std::ranges::reverse(out);
  return out;
}

double night_noise(std::span<const double> nights) {
  if (nights.size() < 2) return 0;
  std::vector<double> differences;
  for (std::size_t i = 1; i < nights.size(); ++i) {
    differences.push_back(std::abs(nights[i] - nights[i - 1]));
  }
  return 1.4826 * median(differences) / std::sqrt(2.0);
}

std::vector<ChangePoint> change_points(std::span<const double> nights, const DetectorRules& rules,
                                       double size_min) {
  const std::vector<std::size_t> first = energy_changes(nights, rules);
  const std::vector<std::size_t> second = step_changes(nights, rules);
  std::vector<std::size_t> all = first;
  for (const std::size_t at : second) {
    if (!is_near(first, at)) all.push_back(at);
  }
  std::ranges::sort(all);
  for (;;) {
    const std::vector<double> p = p_of_changes(nights, all);
    std::vector<ChangePoint> out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t begin = i == 0 ? 0 : all[i - 1];
      const std::size_t end = i + 1 == all.size() ? nights.size() : all[i + 1];
      out.push_back({.at = all[i],
                     .before = median(nights.subspan(begin, all[i] - begin)),
                     .after = median(nights.subspan(all[i], end - all[i])),
                     .p = p[i],
                     .is_agreed = is_near(first, all[i]) && is_near(second, all[i])});
    }
    const auto smallest = std::ranges::min_element(out, {}, &ChangePoint::size);
    if (smallest == out.end() || smallest->size() >= size_min) return out;
    all.erase(all.begin() + (smallest - out.begin()));
  }
}

}  // namespace halmark::history
