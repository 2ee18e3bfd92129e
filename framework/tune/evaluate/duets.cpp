#include "tune/evaluate/duets.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

bool has_moved(const Duet& duet, double floor) {
  return duet.status == Status::ok && !duet.log_ratios.empty() &&
         std::abs(mean(duet.log_ratios)) >= std::log1p(floor) / 2;
}

// Weighted by nothing: both halves have as many pairs.
void add(Duet& duet, const Duet& more) {
  duet.log_ratios.insert(duet.log_ratios.end(), more.log_ratios.begin(), more.log_ratios.end());
  if (more.old_ns > 0) {
    duet.old_ns = std::sqrt(duet.old_ns * more.old_ns);
    duet.new_ns = std::sqrt(duet.new_ns * more.new_ns);
  }
  duet.status = more.status;
  duet.reason = more.reason;
}

}  // namespace

std::vector<Duet> measure_duets(std::span<const KernelCase> cases, const DuetOptions& options,
                                double floor) {
  std::vector<Duet> out = run_duets(cases, options);
  std::vector<KernelCase> moved;
  for (const Duet& duet : out) {
    if (has_moved(duet, floor)) moved.push_back(duet.kernel_case);
  }
  if (moved.empty() || (options.should_stop && options.should_stop())) return out;
  DuetOptions again = options;
  again.seed = hash_combine(options.seed, 0x616761696e);
  const std::vector<Duet> confirmed = run_duets(moved, again);
  auto next = confirmed.begin();
  for (Duet& duet : out) {
    if (has_moved(duet, floor)) add(duet, *next++);
  }
  return out;
}

std::vector<Duet> compare_live(std::span<const KernelCase> cases, const LiveComparison& live) {
  const KernelMeasuring& m = live.measuring;
  DuetOptions options{.sides = {live.old_side, live.new_side}, .pairs = m.rounds};
  options.rule.budget_s = m.seconds;
  if (m.limits.disturbed_share) options.rule.disturbed_share = *m.limits.disturbed_share;
  options.thresholds = thresholds_of(m.limits);
  options.limits = m.worker_limits;
  options.peaks = m.peaks;
  options.seed = m.seed;
  options.should_stop = m.is_interrupted;
  options.progress = live.progress;
  return measure_duets(cases, options, live.floor);
}

std::vector<KernelCase> cases_of_latest_run(const Store& store, const std::string& backend,
                                            const std::string& path) {
  std::vector<KernelCase> out;
  if (const auto run = store.latest_run()) {
    for (const RowFigures& figures : store.run_figures(*run)) {
      const KernelCase& k = figures.row.kernel_case;
      if (k.backend != backend || !has_latency(figures.row.status)) continue;
      if (std::ranges::find(out, k) == out.end()) out.push_back(k);
    }
  }
  store.require_sound();
  if (out.empty()) {
    throw refused("the latest run has no kernel of backend '" + backend + "'", path,
                  "name one: --op gemm --params m=512,n=512,k=512 --dtype f32");
  }
  return out;
}

}  // namespace halmark::tune
