#include "history/statistics/false_alarms.hpp"

#include <array>
#include <cmath>
#include <map>

#include "core/numeric/cast.hpp"
#include "history/statistics/duet_verdict.hpp"
#include "history/stored_series.hpp"

namespace halmark::history {
namespace {

struct PairOfSides {
  std::array<Series, 2> sides;
  KernelCase kernel_case;
};

// By number of the pair and key of the case.
std::map<int, std::map<std::string, PairOfSides>> pairs_of(std::span<const Measurement> rows,
                                                           int rounds) {
  std::map<int, std::map<std::string, PairOfSides>> out;
  for (const Measurement& row : rows) {
    PairOfSides& pair = out[row.round / (2 * rounds)][row.kernel_case.key()];
    pair.kernel_case = row.kernel_case;
    const auto side = as_size(row.round % 2);
    pair.sides[side].name = name_of(row, {});
    pair.sides[side].rows.push_back(row_of(row, static_cast<std::int64_t>(side)));
  }
  return out;
}

}  // namespace

double FalseAlarms::share() const {
  return comparisons > 0 ? as_double(confirmed) / comparisons : 0;
}

double FalseAlarms::upper() const { return share_upper_95(confirmed, comparisons); }

FalseAlarms false_alarms(std::span<const Measurement> rows, int rounds,
                         const ComparisonRules& rules) {
  FalseAlarms out;
  for (const auto& [number, pair] : pairs_of(rows, rounds)) {
    std::vector<SeriesChange> changes;
    std::vector<const KernelCase*> cases;
    for (const auto& [key, of_case] : pair) {
      changes.push_back(compare_series(of_case.sides[0], of_case.sides[1], rules));
      cases.push_back(&of_case.kernel_case);
    }
    judge_changes(changes, rules);
    for (std::size_t i = 0; i < changes.size(); ++i) {
      const Change change = changes[i].change;
      if (!is_judged(change)) continue;
      ++out.comparisons;
      if (change == Change::slower || change == Change::faster) out.called.push_back(*cases[i]);
    }
  }
  return out;
}

void confirm(FalseAlarms& alarms, std::span<const Duet> duets, double floor) {
  alarms.confirmed = 0;
  for (const Duet& duet : duets) {
    const Change change = judge_duet(duet, floor).change;
    if (change == Change::slower || change == Change::faster) ++alarms.confirmed;
  }
}

double share_upper_95(int events, int trials) {
  if (trials <= 0 || events >= trials) return 1;
  const auto at_most_events = [&](double share) {
    double sum = 0, term = trials * std::log1p(-share);
    for (int k = 0; k <= events; ++k) {
      sum += std::exp(term);
      term += std::log(as_double(trials - k) / (k + 1)) + std::log(share / (1 - share));
    }
    return sum;
  };
  double low = 1e-12, high = 1 - 1e-12;
  for (int i = 0; i < 100; ++i) {
    const double middle = (low + high) / 2;
    (at_most_events(middle) > 0.05 ? low : high) = middle;
  }
  return high;
}

}  // namespace halmark::history
