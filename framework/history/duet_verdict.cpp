#include "history/duet_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/text.hpp"
#include "history/student_t.hpp"

namespace halmark::history {
namespace {

constexpr std::size_t pairs_min = 3;
constexpr double interval_p = 0.01;
constexpr double same_p = 0.05;      // of the interval that shows two builds to be equal
constexpr double spread_min = 1e-3;  // of a pair: clocks are no better

double spread_of(const std::vector<double>& values, double centre) {
  double squares = 0;
  for (const double value : values) squares += (value - centre) * (value - centre);
  return std::max(spread_min, std::sqrt(squares / static_cast<double>(values.size() - 1)));
}

// Whether the pairs that did not choose this kernel moved the same way, by half of it at least.
bool is_confirmed(const Duet& duet, double size) {
  if (std::cmp_less_equal(duet.log_ratios.size(), duet.choosing_pairs)) return false;
  const std::vector<double> others(duet.log_ratios.begin() + duet.choosing_pairs,
                                   duet.log_ratios.end());
  return mean(others) / size >= 0.5;
}

}  // namespace

DuetVerdict judge_duet(const Duet& duet, double floor) {
  DuetVerdict out{.pairs = static_cast<int>(duet.log_ratios.size())};
  if (duet.status != Status::ok) {
    out.reason = std::string(status_name(duet.status)) + ": " + duet.reason;
    return out;
  }
  if (duet.log_ratios.size() < pairs_min) {
    out.reason =
        std::to_string(out.pairs) + " pairs, and " + std::to_string(pairs_min) + " are needed";
    return out;
  }
  const double size = mean(duet.log_ratios), limit = std::log1p(floor);
  const double freedom = out.pairs - 1;
  const double error = spread_of(duet.log_ratios, size) / std::sqrt(freedom + 1);
  const double half = t_critical(interval_p, freedom) * error;
  out.ratio = std::exp(size);
  out.interval = {std::exp(size - half), std::exp(size + half)};
  out.p = t_two_sided_p(size / error, freedom);
  out.change = Change::undecided;
  if (std::abs(size) + t_critical(same_p, freedom) * error <= limit) {
    out.change = Change::same;
  } else if (std::abs(size) >= limit && std::abs(size) > half && is_confirmed(duet, size)) {
    out.change = size > 0 ? Change::slower : Change::faster;
  } else {
    out.reason = "its " + std::to_string(out.pairs) + " pairs scatter by " +
                 number_text(100 * error * std::sqrt(freedom + 1), 2) + " %: more pairs decide";
  }
  return out;
}

}  // namespace halmark::history
