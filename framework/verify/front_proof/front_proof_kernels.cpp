// What is measured stands between two claims that can be checked: an interval follows from medians,
// and medians and failures from rows of the journal. A kernel that failed takes all configurations
// that need it out of the front, so that claim is checked like a time.
#include "verify/front_proof/front_proof_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/latency.hpp"
#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "journal/store.hpp"

namespace halmark::front_proof {
namespace {

// Below 6 processes the interval of their medians is min..max: 1 - 2^(1 - n).
double confidence_of(std::size_t medians) {
  return medians < 6 ? 1 - std::ldexp(1.0, 1 - as_int(medians)) : 0.95;
}

double bound_of(const Proof& proof, const Kernel& k) {
  double out = 0;
  for (const Term& t : k.terms) {
    if (t.peak >= proof.peaks.size()) throw Broken(k.line, "names an unknown peak");
    const Peak& peak = proof.peaks[t.peak];
    // All operations count; of the bytes, caches may hold a part.
    const bool is_whole =
        peak.counts_operations ? t.amount == k.operations : t.amount >= 0 && t.amount <= k.bytes;
    if (!is_whole) throw Broken(k.line, "a term is not of this kernel's operations or bytes");
    out = std::max(out, t.amount / (peak.value * peak.safety) * proof.time_units_per_s);
  }
  return out;
}

void check_interval(const Kernel& k) {
  const Range& range = *k.interval;
  if (!(range.low > 0 && range.low <= range.high)) throw Broken(k.line, "not 0 < low <= high");
  if (range.low < k.bound) throw Broken(k.line, "measured below its bound, without an alarm");
  const std::set<int> rounds(k.rounds.begin(), k.rounds.end());
  if (k.medians.size() != k.rounds.size() || rounds.size() != k.rounds.size()) {
    throw Broken(k.line, "not one median per round");
  }
  const double confidence = k.medians.empty() ? 1 : confidence_of(k.medians.size());
  if (k.confidence != confidence)
    throw Broken(k.line, "not the confidence of this number of processes");
  if (k.medians.empty()) return;
  const double middle = median(k.medians);
  // One process has an interval of its own, which holds its median.
  if (k.medians.size() == 1 && range.low <= middle && middle <= range.high) return;
  const Interval between = median_interval(k.medians).interval;
  if (range.low != std::min(between.low, middle) || range.high != std::max(between.high, middle)) {
    throw Broken(k.line, "the interval does not follow from the medians");
  }
}

// The last row of each round, by the key of its case.
using Rows = std::map<std::string, std::map<int, Measurement>>;

std::vector<Measurement> rows_of(const Rows& rows, const std::string& key) {
  std::vector<Measurement> out;
  const auto* known = find_value(rows, key);
  if (!known) return out;
  for (const auto& [round, row] : *known) out.push_back(row);
  return out;
}

// All rows of the run count: who chooses among rounds chooses the interval.
void check_measured(const Proof& proof, const Kernel& k, const Rows& rows) {
  const auto* known = find_value(rows, k.key);
  for (const auto i : indices(k.rounds)) {
    const bool is_known = known && known->contains(k.rounds[i]);
    if (!is_known) {
      throw Unreadable(k.line, "run " + std::to_string(proof.run) +
                                   " of the journal has no round " + std::to_string(k.rounds[i]) +
                                   " of " + k.key);
    }
    if (known->at(k.rounds[i]).duration_ns_median != k.medians[i]) {
      throw Broken(k.line, "a median is not that of the journal's row");
    }
  }
  const std::vector<Measurement> own = rows_of(rows, k.key);
  std::vector<double> of_run = process_medians_ns(own), stated = k.medians;
  std::ranges::sort(of_run);
  std::ranges::sort(stated);
  if (of_run != stated) {
    throw Broken(k.line, "the run has other rounds of this kernel than it states");
  }
  const auto folded = fold_usable_rounds(own, 0);
  if (!folded || folded->low_ns != k.interval->low || folded->high_ns != k.interval->high) {
    throw Broken(k.line, "the interval does not follow from the journal's rows");
  }
}

void check_failed(const Proof& proof, const Kernel& k, const Rows& rows) {
  const std::vector<Measurement> own = rows_of(rows, k.key);
  if (own.empty()) {
    throw Unreadable(k.line,
                     "run " + std::to_string(proof.run) + " of the journal has no row of " + k.key);
  }
  if (fold_usable_rounds(own, 0)) {
    throw Broken(k.line, "the kernel is said to have failed, and the journal has a time of it");
  }
}

void check_unmeasured(const Proof& proof, const Kernel& k, const Rows& rows) {
  if (!fold_usable_rounds(rows_of(rows, k.key), 0)) return;
  throw Broken(k.line, "the kernel is said to be unmeasured, and run " + std::to_string(proof.run) +
                           " of the journal has a time of it");
}

// Rows of the plugin build that measured last: another build is another series.
Rows rows_of_run(const std::vector<Measurement>& all) {
  const auto last = std::find_if(all.rbegin(), all.rend(),
                                 [](const Measurement& m) { return !m.plugin_hash.empty(); });
  Rows out;
  for (const Measurement& m : all) {
    const bool is_older =
        last != all.rend() && !m.plugin_hash.empty() && m.plugin_hash != last->plugin_hash;
    if (!is_older) out[m.kernel_case.key()].insert_or_assign(m.round, m);
  }
  return out;
}

// An alarm of a kernel that has no time: its rows were kept out because they beat the peak.
void check_alarms_of_rows(const Proof& proof, const Rows& rows) {
  for (const Alarm& a : proof.alarms) {
    const Kernel& k = proof.kernels[a.kernel];
    if (k.interval) continue;
    const std::vector<Measurement> own = rows_of(rows, k.key);
    const bool is_known = std::ranges::any_of(own, [&a](const Measurement& m) {
      return m.status == Status::quarantined && m.duration_ns_median == a.low;
    });
    if (!is_known) throw Broken(a.line, "the journal has no row that raised this alarm");
  }
}

void check_plan_of_run(const Proof& proof, const Store& store) {
  if (proof.plan_hash.empty()) return;
  std::string of_run;
  try {
    of_run = store.run_info(proof.run).plan_hash;
  } catch (const Error& e) {
    throw Unreadable(1, e.line());
  }
  if (of_run == proof.plan_hash) return;
  throw Broken(1, "the plan is not that of run " + std::to_string(proof.run) + " of the journal");
}

// A proof without peaks bounds nothing; any other has those of its run.
void check_device_of_run(const Proof& proof, const Store& store) {
  if (!proof.device || proof.device->text.empty()) return;
  const UsedPeaks stated{proof.device->text, proof.device->threads};
  const std::vector<UsedPeaks> used = store.rows<UsedPeaks>(proof.run);
  if (!contains(used, stated)) {
    throw Broken(proof.device->line, "the device record is not that of run " +
                                         std::to_string(proof.run) + " of the journal");
  }
}

// Configurations that were run whole are known by what they took.
void check_runs(const Proof& proof, const KnownSpace& known, const Store& store) {
  const std::vector<Validation> runs = store.rows<Validation>(proof.run);
  for (const FrontPoint& point : proof.front) {
    if (!point.run) continue;
    const auto* key = find_value(known.keys, point.config);
    const bool is_known = std::ranges::any_of(runs, [&](const Validation& v) {
      const bool is_of_it = !key || v.deployment_key == *key;
      return is_of_it && has_latency(v.status) && v.measured_ns == point.run_value &&
             v.measured_interval_ns.low == point.run->low &&
             v.measured_interval_ns.high == point.run->high;
    });
    if (!is_known) throw Broken(point.line, "the journal has no such run of the configuration");
  }
}

}  // namespace

void check_kernels(const Proof& proof) {
  for (const Peak& p : proof.peaks) {
    if (!(p.value > 0 && p.safety >= 1)) throw Broken(1, "a peak or safety factor is too small");
  }
  double alpha = 0;
  for (const Kernel& k : proof.kernels) {
    if (bound_of(proof, k) != k.bound) {
      throw Broken(k.line, "the bound does not follow from operations, bytes and peaks");
    }
    if (!k.interval) continue;
    if (k.is_failed) throw Broken(k.line, "the kernel failed, and has an interval");
    check_interval(k);
    alpha += 1 - k.confidence;
  }
  if (std::min(alpha, 1.0) != proof.alpha) {
    throw Broken(1, "alpha is not the sum of the kernels' own");
  }
}

void check_alarms(const Proof& proof) {
  std::vector<double> last(proof.peaks.size(), 0);
  for (const Alarm& a : proof.alarms) {
    if (a.kernel >= proof.kernels.size() || a.peak >= proof.peaks.size()) {
      throw Broken(a.line, "names an unknown kernel or peak");
    }
    const Kernel& k = proof.kernels[a.kernel];
    const auto term = std::ranges::find(k.terms, a.peak, &Term::peak);
    if (term == k.terms.end()) throw Broken(a.line, "this peak does not bound the kernel");
    const double units = proof.time_units_per_s, safety = proof.peaks[a.peak].safety;
    if (a.bound != term->amount / (a.peak_before * safety) * units || !(a.low < a.bound)) {
      throw Broken(a.line, "the measurement did not break this bound");
    }
    if (k.interval ? a.low != k.interval->low : !k.is_failed) {
      throw Broken(a.line, "this is not what was measured");
    }
    if (a.peak_after != term->amount / a.low * units) {
      throw Broken(a.line, "the peak does not just cover the measurement");
    }
    if (last[a.peak] != 0 && last[a.peak] != a.peak_before) {
      throw Broken(a.line, "does not begin where the peak's last alarm ended");
    }
    last[a.peak] = a.peak_after;
  }
  for (const auto p : indices(last)) {
    if (last[p] != 0 && last[p] != proof.peaks[p].value) {
      throw Broken(1, "a peak is not the one that its last alarm left");
    }
  }
}

void check_rows(const Proof& proof, const KnownSpace& known, const std::string& journal) {
  const auto store = open_store_read_only(journal);
  const Rows rows = rows_of_run(store->run_measurements(proof.run));
  store->require_sound();  // a row that cannot be read proves nothing
  if (proof.plan || !rows.empty()) check_plan_of_run(proof, *store);
  check_device_of_run(proof, *store);
  for (const Kernel& k : proof.kernels) {
    if (k.interval) {
      check_measured(proof, k, rows);
    } else if (k.is_failed) {
      check_failed(proof, k, rows);
    } else {
      check_unmeasured(proof, k, rows);
    }
  }
  check_alarms_of_rows(proof, rows);
  check_runs(proof, known, *store);
}

}  // namespace halmark::front_proof
