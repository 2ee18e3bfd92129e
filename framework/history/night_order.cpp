#include "history/night_order.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/numeric/statistics.hpp"

namespace halmark::history {
namespace {

constexpr double moved_min = 0.03;  // the floor below which a change of a time is no news

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

Urgency urgency_of(const std::vector<NightOfKernel>& nights, const std::vector<std::int64_t>& runs) {
  Urgency out{.is_new = false};
  const NightOfKernel& last = nights.back();
  out.nights_unseen = static_cast<std::size_t>(
      runs.end() - std::ranges::upper_bound(runs, last.run));
  out.scatter = half_range(last.log_ns);
  std::vector<double> before;
  for (std::size_t i = 0; i + 1 < nights.size(); ++i) before.push_back(median(nights[i].log_ns));
  if (before.empty()) return out;
  const double step = std::abs(median(last.log_ns) - median(before));
  const double noise = before.size() > 1 ? half_range(before) : out.scatter;
  out.has_moved = step > std::max(std::log1p(moved_min), noise);
  return out;
}

}  // namespace

std::vector<KernelCase> night_order(std::span<const KernelCase> kernels, const Store& store,
                                    const std::string& fingerprint, std::int64_t before) {
  std::vector<std::int64_t> runs = store.latest_runs(nights_of_order + 1, fingerprint);
  std::erase_if(runs, [before](std::int64_t run) { return run >= before; });
  std::map<std::string, std::vector<NightOfKernel>> seen;
  for (const std::int64_t run : runs) {
    for (const RowFigures& figures : store.run_figures(run)) {
      if (!has_latency(figures.row.status) || !(figures.row.duration_ns_median > 0)) continue;
      auto& nights = seen[figures.key];
      if (nights.empty() || nights.back().run != run) nights.push_back({.run = run});
      nights.back().log_ns.push_back(std::log(figures.row.duration_ns_median));
    }
  }
  std::vector<std::pair<Urgency, KernelCase>> ranked;
  for (const KernelCase& k : kernels) {
    const auto it = seen.find(k.key());
    ranked.emplace_back(it == seen.end() ? Urgency{} : urgency_of(it->second, runs), k);
  }
  std::ranges::stable_sort(ranked, std::greater<>(), [](const auto& r) { return r.first; });
  std::vector<KernelCase> out;
  for (auto& [urgency, k] : ranked) out.push_back(std::move(k));
  return out;
}

}  // namespace halmark::history
