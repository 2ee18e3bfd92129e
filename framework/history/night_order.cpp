#include "history/night_order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/measured/duet.hpp"
#include "core/numeric/statistics.hpp"
#include "history/statistics/duet_verdict.hpp"
#include "history/stored_duets.hpp"
#include "history/stored_series.hpp"
#include "history/suspicion.hpp"

namespace halmark::history {
namespace {

struct NightOfKernel {
  std::int64_t run = 0;
  std::vector<double> log_ns;
};

// Larger comes first.
struct Urgency {
  bool is_new = true, has_moved = false;
  std::size_t nights_unseen = 0;
  double scatter = 0;  // half the range of its last night, in logarithms
  auto operator<=>(const Urgency&) const = default;
};

double half_range(const std::vector<double>& values) {
  const auto [low, high] = std::ranges::minmax(values);
  return (high - low) / 2;
}

Urgency urgency_of(const std::vector<NightOfKernel>& nights,
                   const std::vector<std::int64_t>& runs) {
  Urgency out{.is_new = false};
  const NightOfKernel& last = nights.back();
  out.nights_unseen =
      static_cast<std::size_t>(runs.end() - std::ranges::upper_bound(runs, last.run));
  out.scatter = half_range(last.log_ns);
  std::vector<double> before;
  for (std::size_t i = 0; i + 1 < nights.size(); ++i) before.push_back(median(nights[i].log_ns));
  if (before.empty()) return out;
  const double step = std::abs(median(last.log_ns) - median(before));
  const double noise = before.size() > 1 ? half_range(before) : out.scatter;
  out.has_moved = step > std::max(std::log1p(news_floor), noise);
  return out;
}

using NightsByKernel = std::map<std::string, std::vector<NightOfKernel>>;

NightsByKernel nights_of(const Store& store, const std::vector<std::int64_t>& runs) {
  NightsByKernel out;
  for (const std::int64_t run : runs) {
    for (const RowFigures& figures : store.run_figures(run)) {
      if (!has_latency(figures.row.status) || !(figures.row.duration_ns_median > 0)) continue;
      auto& nights = out[figures.key];
      if (nights.empty() || nights.back().run != run) nights.push_back({.run = run});
      nights.back().log_ns.push_back(std::log(figures.row.duration_ns_median));
    }
  }
  return out;
}

// Oldest first.
std::vector<std::int64_t> nights_until(const Store& store, const std::string& fingerprint,
                                       std::int64_t last) {
  std::vector<std::int64_t> runs = store.latest_runs(nights_of_order + 1, fingerprint);
  std::erase_if(runs, [last](std::int64_t run) { return run > last; });
  return runs;
}

// In the order of what `key` says of each, the largest first.
template <class Key>
std::vector<KernelCase> largest_first(std::vector<std::pair<Key, KernelCase>> ranked) {
  std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& r) { return r.first; });
  std::vector<KernelCase> out;
  for (auto& [key, kernel_case] : ranked) out.push_back(std::move(kernel_case));
  return out;
}

// A kernel of ten times the time is worth as much as one of 1.6 times the odds.
double worth_of(const SeriesHistory& series) { return 0.2 * std::log(series.nights.back().ns); }

// Of pairs that left it open: how many times a night's pairs an answer needs, in logarithms.
double effort_of(const Duet& duet) {
  constexpr double pairs_of_night = 20;
  const DuetVerdict verdict = judge_duet(duet, news_floor);
  if (verdict.pairs < 3) return 0;
  const double half = std::log(verdict.interval.high / verdict.interval.low) / 2;
  const double over = half / std::log1p(news_floor);
  return std::log(std::max(1.0, verdict.pairs * over * over / pairs_of_night));
}

}  // namespace

std::vector<KernelCase> night_order(std::span<const KernelCase> kernels, const Store& store,
                                    const std::string& fingerprint, std::int64_t before) {
  const std::vector<std::int64_t> runs = nights_until(store, fingerprint, before - 1);
  const NightsByKernel seen = nights_of(store, runs);
  std::vector<std::pair<Urgency, KernelCase>> ranked;
  for (const KernelCase& k : kernels) {
    const auto it = seen.find(k.key());
    ranked.emplace_back(it == seen.end() ? Urgency{} : urgency_of(it->second, runs), k);
  }
  return largest_first(std::move(ranked));
}

std::vector<KernelCase> moved_first(std::span<const KernelCase> kernels, const Store& store,
                                    const std::string& fingerprint, std::int64_t run) {
  const std::vector<std::int64_t> runs = nights_until(store, fingerprint, run);
  std::map<std::string, Series> seen;
  for (const std::int64_t night : runs) {
    for (const RowFigures& figures : store.run_figures(night)) {
      seen[figures.key].rows.push_back(row_of(figures.row, night));
    }
  }
  const auto pairs = pooled_duets(store, runs);
  std::vector<std::pair<double, KernelCase>> ranked;
  for (const KernelCase& k : kernels) {
    const auto it = seen.find(k.key());
    if (it == seen.end()) continue;
    const std::vector<SeriesRow>& rows = it->second.rows;
    const bool is_of_night = std::ranges::any_of(
        rows, [run](const SeriesRow& row) { return row.run == run && row.is_usable(); });
    if (!is_of_night) continue;
    const SeriesHistory series = follow_series(it->second, {});
    // Nothing sound to compare is less than any suspicion.
    const bool is_known = series.nights.size() > 1 && series.nights.back().run == run;
    const auto known = pairs.find(k.key());
    ranked.emplace_back(is_known ? suspicion_of(series) + worth_of(series) -
                                       (known == pairs.end() ? 0 : effort_of(known->second.duet))
                                 : -std::numeric_limits<double>::infinity(),
                        k);
  }
  return largest_first(std::move(ranked));
}

std::vector<KernelCase> undecided(std::span<const KernelCase> kernels, const Store& store,
                                  const std::string& fingerprint, std::int64_t run) {
  const std::vector<std::int64_t> runs = nights_until(store, fingerprint, run - 1);
  const BuildChange builds = last_build_change(store, runs);
  const auto pairs = pooled_duets(store, runs);
  std::vector<KernelCase> out;
  for (const KernelCase& k : kernels) {
    const auto of = pairs.find(k.key());
    const bool is_answered = of != pairs.end() && is_of_build(of->second.duet, builds.new_build) &&
                             is_decided(of->second.duet, news_floor);
    if (!is_answered) out.push_back(k);
  }
  return out;
}

}  // namespace halmark::history
