// Kernels are measured in batches: the workers of a campaign start once for all of them, and its
// rounds lie as far apart as the batch is long.
#include "tune/certify/certify_chooser.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/version.hpp"
#include "tune/certify/proof_context.hpp"

namespace halmark::tune {
namespace {

constexpr std::size_t batch_kernels = 16;

// The rows that fold_usable_rounds takes: what the interval rests on.
std::vector<Measurement> rows_behind(const std::vector<Measurement>& rows) {
  std::vector<Measurement> ok, usable, noisy;
  for (const Measurement& m : rows) {
    if (m.status == Status::ok) ok.push_back(m);
    if (has_latency(m.status)) usable.push_back(m);
    if (m.status == Status::invalid && m.was_sampled()) noisy.push_back(m);
  }
  if (ok.size() >= 2) return ok;
  return usable.empty() ? noisy : usable;
}

// min..max of n process medians misses the median of all processes with 2^(1 - n); from six on the
// interval's ranks are chosen for 95 % (core/numeric/statistics.hpp). One process says nothing of
// others.
KernelEvidence evidence_of(const std::vector<Measurement>& rows) {
  KernelEvidence out;
  for (const Measurement& m : rows) {
    out.rounds.push_back(m.round);
    out.medians.push_back(m.duration_ns_median);
  }
  const auto n = as_int(out.medians.size());
  out.confidence = n < 6 ? 1 - std::ldexp(1.0, 1 - n) : 0.95;
  return out;
}

// What was measured and kept out because it beats the machine's peak; 0 when nothing was.
double quarantined_ns(const std::vector<Measurement>& rows) {
  double out = 0;
  for (const Measurement& m : rows) {
    if (m.status != Status::quarantined || m.duration_ns_median <= 0) continue;
    out = out == 0 ? m.duration_ns_median : std::min(out, m.duration_ns_median);
  }
  return out;
}

}  // namespace

CertifyChooser::CertifyChooser(const TunePlan& plan, const CertifySettings& settings,
                               std::stop_token stop)
    : plan_(plan),
      settings_(settings),
      stop_(std::move(stop)),
      steps_(steps_to_certify(plan, settings.safety)),
      certifier_(steps_.problem, {.eps = settings.eps, .seed = plan.sweep().seed}) {
  facts_.program = std::string("halmark ") + tool_version;
  facts_.plan = plan.hash();
  facts_.context = proof_context(plan, steps_, settings.model);
  facts_.evidence.resize(steps_.cases.size());
  const auto latency = std::ranges::find(steps_.certified, Objective::latency);
  if (latency != steps_.certified.end()) {
    facts_.run_objective = as_int(latency - steps_.certified.begin());
  }
  for (const CertifyKernel& k : steps_.problem.kernels) cost_of_all_ += k.cost;
}

void CertifyChooser::tell(std::int32_t kernel, const MeasuredSource& source) {
  const auto k = as_size(kernel);
  const KernelCase& c = steps_.cases[k];
  cost_so_far_ += steps_.problem.kernels[k].cost;
  const std::vector<Measurement> rows = source.rows(c);
  for (const Measurement& m : rows) measured_s_ += m.wall_s;
  const auto latency = source.latency(c);
  if (!latency) {
    certifier_.tell_failed(kernel, source.why_absent(c), quarantined_ns(rows));
    return;
  }
  facts_.evidence[k] = evidence_of(rows_behind(rows));
  certifier_.tell(kernel, latency->low_ns, latency->high_ns);
}

// False when it was stopped, or the budget is spent.
bool CertifyChooser::ask_and_measure(MeasuredSource& source) {
  for (;;) {
    if (stop_.stop_requested() || is_budget_spent()) return false;
    const std::vector<std::int32_t> kernels = certifier_.ask(batch_kernels);
    if (kernels.empty()) return true;
    std::vector<KernelCase> cases;
    for (const std::int32_t k : kernels) cases.push_back(steps_.cases[as_size(k)]);
    source.require(cases);
    // The last kernels of an interrupted campaign have no rows.
    if (stop_.stop_requested()) return false;
    for (const std::int32_t k : kernels) tell(k, source);
    history_.push_back({cost_share(), certifier_.gap()});
  }
}

// What an earlier session of the run measured and this one did not ask for. True when a time of any
// such kernel was new.
bool CertifyChooser::tell_stored(MeasuredSource& source) {
  if (!stored_rows_) return false;
  std::map<std::string, std::map<int, Measurement>> rows;
  for (Measurement& m : stored_rows_()) {
    const int round = m.round;
    rows[m.kernel_case.key()].insert_or_assign(round, std::move(m));
  }
  bool is_new = false;
  for (const auto k : indices(steps_.cases)) {
    if (certifier_.kernels()[k].status != KernelStatus::unmeasured) continue;
    const auto* known = find_value(rows, steps_.cases[k].key());
    if (!known) continue;
    if (source.rows(steps_.cases[k]).empty()) {
      for (const auto& [round, row] : *known) source.add(row);
    }
    if (!source.latency(steps_.cases[k])) continue;
    tell(as_int(k), source);
    is_new = true;
  }
  return is_new;
}

void CertifyChooser::measure(std::span<const Configuration>, Composers&, MeasuredSource& source) {
  const auto begin = std::chrono::steady_clock::now();
  // A stored time may raise an alarm, which opens what was decided.
  while (ask_and_measure(source) && tell_stored(source)) {
  }
  tell_stored(source);
  facts_.wall_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  facts_.device_s = measured_s_;
}

bool CertifyChooser::is_decided(std::uint64_t combination) const {
  bool is_known = true, has_failed = false;
  for (const std::int32_t k : certifier_.configurations().kernels(combination)) {
    const KernelStatus status = certifier_.kernels()[as_size(k)].status;
    is_known &= status != KernelStatus::unmeasured;
    has_failed |= status == KernelStatus::failed;
  }
  return is_known || has_failed;
}

void CertifyChooser::check(std::uint64_t combination, const Evaluation& e,
                           const MeasuredSource& source) const {
  if (!e.estimate) return;
  std::vector<double> times;
  for (const KernelCase& c : steps_.cases) {
    const auto latency = source.latency(c);
    times.push_back(latency ? latency->ns : 0);
  }
  const std::vector<double> expected = minimised(*e.estimate, steps_.certified);
  std::vector<double> composed(expected.size());
  certifier_.configurations().compose(combination, times, composed);
  for (const auto j : indices(expected)) {
    if (std::abs(composed[j] - expected[j]) <= 1e-9 * std::abs(expected[j])) continue;
    throw Error(ExitCode::error, "the composition of " + e.configuration.key() +
                                     " is not what its proof would state");
  }
}

}  // namespace halmark::tune
