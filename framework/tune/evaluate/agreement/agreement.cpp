// A repeat is what a user gets: several fresh processes and their median. Two of them differ by
// chance alone, so 90 % intervals of their difference have to cover zero 90 % of the time: more
// often, and they are too wide to tell anything; less often, and "ok" is said of what is not.
#include "tune/evaluate/agreement/agreement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "core/input/places.hpp"
#include "core/lists.hpp"
#include "journal/sqlite/writer_lock.hpp"
#include "report/report.hpp"
#include "tune/plan/kernel_cases.hpp"

namespace halmark::tune {
namespace {

constexpr double z_95 = 1.959964;
constexpr double still_the_same = 0.03;  // of a row to its pair: moved by no more
constexpr double rounds_half_width = 0.03;
constexpr int rounds_min = 3, rounds_max = 9;

// Student's t, two-sided 90 %, for 1 to 16 degrees of freedom.
double t_90(int freedom) {
  static constexpr std::array table = {6.314, 2.920, 2.353, 2.132, 2.015, 1.943, 1.895, 1.860,
                                       1.833, 1.812, 1.796, 1.782, 1.771, 1.761, 1.753, 1.746};
  const auto size = as_int(table.size());
  return table[as_size(std::clamp(freedom, 1, size) - 1)];
}

double squares(std::span<const double> values) {
  const double centre = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - centre) * (value - centre);
  return sum;
}

std::vector<double> logarithms(std::span<const double> values) {
  return mapped(values, [&](const double value) { return std::log(value); });
}

// Rows of one pair, by side.
using Sides = std::array<std::vector<const Measurement*>, 2>;

std::vector<double> ok_medians(std::span<const Measurement* const> rows) {
  std::vector<double> out;
  for (const Measurement* m : rows) {
    if (m->status == Status::ok) out.push_back(m->duration_ns_median);
  }
  return out;
}

// Values of each signal in rows that did not move, by key of the limit.
class Seen {
 public:
  void add(const Measurement& m) {
    const auto keep = [&](const char* key, std::optional<double> value) {
      if (value) values_[key].push_back(*value);
    };
    const auto moved = [](std::optional<double> a, std::optional<double> b) {
      return a && b ? std::optional(relative_move(*a, *b)) : std::nullopt;
    };
    for (const Signal& s : m.signals) {
      for (const LimitRow& row : limit_rows()) {
        if (s.name == row.key) keep(row.key, s.value);
      }
    }
    keep("clock_moved", moved(m.clock_hz_before, m.clock_hz_after));
    keep("peak_moved", moved(m.peak_flops_before, m.peak_flops_after));
    keep("bandwidth_moved", moved(m.bandwidth.before, m.bandwidth.after));
  }

  // What 99 of 100 such rows stay below, between the default and twice that: a machine may be more
  // restless than another, but not so that its limits say nothing.
  MeasureLimits limits() const {
    constexpr std::size_t values_min = 100;
    const ValidityThresholds usual;
    MeasureLimits out;
    const auto propose = [&](const char* key, const Limit& limit, std::optional<double>& into) {
      const auto* found = find_value(values_, key);
      if (!found || found->size() < values_min) return;
      const double seen = 1.1 * quantile(*found, 0.99);
      into = std::clamp(seen, limit.suspect, 2 * limit.suspect);
    };
    propose("run_delay_fraction", usual.run_delay_fraction, out.run_delay_fraction);
    propose("steal_fraction", usual.steal_fraction, out.steal_fraction);
    propose("involuntary_switches_per_s", usual.involuntary_switches_per_s,
            out.involuntary_switches_per_s);
    propose("clock_moved", usual.clock_moved, out.clock_moved);
    propose("peak_moved", usual.peak_moved, out.peak_moved);
    propose("bandwidth_moved", usual.bandwidth_moved, out.bandwidth_moved);
    return out;
  }

 private:
  std::map<std::string, std::vector<double>, std::less<>> values_;
};

void add_unmoved(const Sides& sides, Seen& seen) {
  std::vector<double> medians;
  for (const auto& side : sides) {
    for (const Measurement* m : side) {
      if (!m->samples.empty()) medians.push_back(m->duration_ns_median);
    }
  }
  if (medians.empty()) return;
  const double centre = median(medians);
  for (const auto& side : sides) {
    for (const Measurement* m : side) {
      if (m->samples.empty()) continue;
      if (relative_move(m->duration_ns_median, centre) <= still_the_same) seen.add(*m);
    }
  }
}

CaseAgreement fold_case(std::string problem, const std::vector<Sides>& pairs, Seen& seen) {
  CaseAgreement out{.problem = std::move(problem)};
  std::vector<double> differences, spreads, medians;
  for (const Sides& sides : pairs) {
    for (const auto& side : sides) {
      out.rows += as_int(side.size());
      out.ok_rows += as_int(ok_medians(side).size());
    }
    add_unmoved(sides, seen);
    const std::vector<double> first = ok_medians(sides[0]), second = ok_medians(sides[1]);
    if (first.size() < 2 || second.size() < 2) {
      ++out.left_out;
      continue;
    }
    const RepeatPair pair = compare_repeats(first, second);
    ++out.pairs;
    if (pair.agrees()) ++out.agreeing;
    differences.push_back(std::abs(pair.difference));
    spreads.push_back(pair.spread);
    append_all(medians, first);
    append_all(medians, second);
  }
  if (out.pairs == 0) return out;
  out.median_ns = median(medians);
  out.noise_floor = quantile(differences, 0.95);
  out.spread = median(spreads);
  return out;
}

// The fewest processes with which the interval of a difference is +-3 % for three cases of four.
std::optional<std::int64_t> rounds_for(std::span<const CaseAgreement> cases) {
  std::vector<double> spreads;
  for (const CaseAgreement& c : cases) {
    if (c.pairs > 0) spreads.push_back(c.spread);
  }
  if (spreads.empty()) return std::nullopt;
  const double spread = quantile(spreads, 0.75);
  for (int n = rounds_min; n < rounds_max; ++n) {
    if (t_90(2 * n - 2) * spread * std::sqrt(2.0 / n) <= rounds_half_width) return n;
  }
  return rounds_max;
}

}  // namespace

RepeatPair compare_repeats(std::span<const double> first_ns, std::span<const double> second_ns) {
  const std::vector<double> a = logarithms(first_ns), b = logarithms(second_ns);
  const auto n = as_double(a.size()), m = as_double(b.size());
  RepeatPair out{.difference = mean(b) - mean(a)};
  out.spread = std::sqrt((squares(a) + squares(b)) / (n + m - 2));
  out.half_width = t_90(as_int(n + m) - 2) * out.spread * std::sqrt(1 / n + 1 / m);
  return out;
}

int Agreement::pairs() const {
  int out = 0;
  for (const CaseAgreement& c : cases) out += c.pairs;
  return out;
}

int Agreement::agreeing() const {
  int out = 0;
  for (const CaseAgreement& c : cases) out += c.agreeing;
  return out;
}

double Agreement::share() const { return pairs() > 0 ? as_double(agreeing()) / pairs() : 0; }

Interval Agreement::interval() const {
  if (pairs() == 0) return {0, 1};
  const double n = pairs(), z2 = z_95 * z_95;
  const double centre = (share() + z2 / (2 * n)) / (1 + z2 / n);
  const double half =
      z_95 / (1 + z2 / n) * std::sqrt(share() * (1 - share()) / n + z2 / (4 * n * n));
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

Agreement agreement_of(std::span<const KernelCase> cases, std::span<const Measurement> rows,
                       int rounds) {
  int last_round = -1;
  for (const Measurement& m : rows) last_round = std::max(last_round, m.round);
  const auto whole_pairs = as_size((last_round + 1) / (2 * rounds));
  std::map<std::string, std::vector<Sides>> by_case;
  for (const Measurement& m : rows) {
    const auto pair = as_size(m.round / (2 * rounds));
    if (pair >= whole_pairs) continue;
    std::vector<Sides>& pairs = by_case[m.kernel_case.key()];
    pairs.resize(whole_pairs);
    pairs[pair][as_size(m.round % 2)].push_back(&m);
  }
  Agreement out{.rounds = rounds};
  Seen seen;
  for (const KernelCase& c : cases) {
    out.cases.push_back(fold_case(c.problem.text(), by_case[c.key()], seen));
  }
  out.limits = seen.limits();
  out.limits.rounds = rounds_for(out.cases);
  return out;
}

std::vector<KernelCase> usual_cases(const std::string& backend, const std::string& device) {
  const auto request = [&](const char* op, const char* params) {
    return CaseRequest{
        .op = op, .params = params, .dtypes = {"f32"}, .backend = backend, .device = device};
  };
  std::vector<KernelCase> out;
  for (const CaseRequest& r :
       {request("gemm", "m=4,n=1024,k=1024"), request("gemm", "m=128,n=512,k=512"),
        request("rmsnorm", "rows=64,cols=1024"), request("copy", "bytes=8388608")}) {
    const std::vector<KernelCase> cases = kernel_cases(r);
    append_all(out, cases);
  }
  return out;
}

Agreement measure_agreement(std::span<const KernelCase> cases, const AgreementRun& run) {
  require_writable(run.path, "--out");
  KernelMeasuring measuring = run.measuring;
  const int rounds = measuring.rounds;
  measuring.rounds = 2 * rounds * run.pairs;
  measuring.limits = {};  // what is looked for
  std::vector<Measurement> rows = measure_kernels(cases, measuring);
  Agreement out = agreement_of(cases, rows, rounds);
  out.rows = std::move(rows);
  if (measuring.stop.stop_requested()) return out;
  const std::string comment = "halmark aa, " + journal::utc_now() + ": " +
                              std::to_string(out.agreeing()) + " of " +
                              std::to_string(out.pairs()) + " pairs of repeats agreed";
  write_whole_file(limits_text(out.limits, comment), run.path);
  return out;
}

}  // namespace halmark::tune
