#include "tune/evaluate/agreement/duets.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/numeric/statistics.hpp"
#include "core/text/error.hpp"

namespace halmark::tune {
namespace {

// The figures in ns are for people: of all pairs alike.
void add(Duet& duet, const Duet& more) {
  const auto before = as_double(duet.log_ratios.size());
  const auto added = as_double(more.log_ratios.size());
  append_all(duet.log_ratios, more.log_ratios);
  if (added > 0) {
    duet.old_ns = (before * duet.old_ns + added * more.old_ns) / (before + added);
    duet.new_ns = (before * duet.new_ns + added * more.new_ns) / (before + added);
  }
  duet.status = more.status;
  duet.reason = more.reason;
}

// Pairs of the same number for those that want them.
bool go_on(std::vector<Duet>& duets, DuetOptions options, double floor, std::uint64_t stage) {
  std::vector<KernelCase> open;
  for (const Duet& duet : duets) {
    if (wants_more_pairs(duet, floor)) open.push_back(duet.kernel_case);
  }
  if (open.empty()) return false;
  options.seed = hash_combine(options.seed, 0x616761696e + stage);
  const std::vector<Duet> more = run_duets(open, options);
  auto next = more.begin();
  for (Duet& duet : duets) {
    if (wants_more_pairs(duet, floor)) add(duet, *next++);
  }
  return true;
}

}  // namespace

std::vector<Duet> measure_duets(std::span<const KernelCase> cases, const DuetOptions& options,
                                double floor) {
  std::vector<Duet> out = run_duets(cases, options);
  for (Duet& duet : out) duet.choosing_pairs = as_int(duet.log_ratios.size());
  const auto stopped = [&] { return options.should_stop && options.should_stop(); };
  for (std::uint64_t stage = 1; !stopped() && go_on(out, options, floor, stage); ++stage) {
  }
  return out;
}

DuetOptions duet_options(const LiveComparison& live) {
  const KernelMeasuring& m = live.measuring;
  DuetOptions options{.sides = {live.old_side, live.new_side}, .pairs = m.rounds};
  options.rule.budget_s = m.seconds;
  if (m.limits.disturbed_share) options.rule.disturbed_share = *m.limits.disturbed_share;
  options.thresholds = thresholds_of(m.limits);
  options.limits = m.worker_limits;
  options.peaks = m.peaks;
  options.seed = m.seed;
  options.should_stop = [&m] { return m.stop.stop_requested(); };
  options.progress = live.progress;
  return options;
}

std::vector<Duet> compare_live(std::span<const KernelCase> cases, const LiveComparison& live) {
  return measure_duets(cases, duet_options(live), live.floor);
}

std::vector<KernelCase> cases_of_latest_run(const Store& store, const std::string& backend,
                                            const std::string& path) {
  std::vector<KernelCase> out;
  if (const auto run = store.latest_run()) {
    for (const Measurement& row : store.run_measurements(*run)) {
      const KernelCase& k = row.kernel_case;
      if (k.backend != backend || !has_latency(row.status)) continue;
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

std::vector<KernelCase> duet_cases(const CaseRequest& asked, const std::vector<std::string>& begins,
                                   const std::string& database) {
  std::vector<KernelCase> out;
  if (!asked.op.empty()) {
    out = kernel_cases(asked);
  } else {
    out = cases_of_latest_run(*open_store_read_only(database), asked.backend, database);
  }
  const auto is_other = [&](const KernelCase& k) {
    return std::ranges::none_of(
        begins, [&](const std::string& begin) { return k.problem.text().starts_with(begin); });
  };
  if (!begins.empty()) std::erase_if(out, is_other);
  if (out.empty()) {
    throw refused("no kernel begins with '" + begins.front() + "'", database,
                  "name one as halmark history prints it: 'rmsnorm cols=4096'");
  }
  return out;
}

}  // namespace halmark::tune
