// The figures of measured kernels as a report shows them.
#include "core/lists.hpp"
#include "tune/stored/stored_report.hpp"

#include <algorithm>
#include <map>

#include "core/numeric/statistics.hpp"
#include "kernels/collective.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/row_utilisation.hpp"

namespace halmark::tune {
namespace {

// The row that speaks for a case: the last usable one, else the first failure (later rounds may
// only say that the kernel was disabled), else the last.
const Measurement& spokesman(const std::vector<Measurement>& rounds) {
  const auto usable = std::find_if(rounds.rbegin(), rounds.rend(),
                                   [](const Measurement& m) { return has_latency(m.status); });
  if (usable != rounds.rend()) return *usable;
  const auto failed = std::ranges::find_if(
      rounds, [](const Measurement& m) { return counts_as_failure(m.status); });
  return failed != rounds.end() ? *failed : rounds.back();
}

// Of the device that the rows are of.
struct Judge {
  const std::optional<Device>& measured;
  const std::optional<Device>& datasheet;
  int cores;
};

Judge judge_of(const ReportingMachine& machine, const KernelCase& c) {
  // Ranks on several nodes, "0@2": no figure of one machine bounds them.
  static const std::optional<Device> none;
  if (c.device.find('@') != c.device.npos) return {none, none, machine.cores};
  const auto* own =
      find_or_null(machine.devices, c.backend + ':' + c.device, &JudgingDevice::device);
  if (own) return {own->measured, own->datasheet, own->cores};
  return {machine.measured, machine.datasheet, machine.cores};
}

void add_figures(KernelPoint& out, const Latency& latency, const KernelCase& kernel_case,
                 const Work& work, const Judge& machine) {
  const RowDevices devices{.measured = machine.measured ? &*machine.measured : nullptr,
                           .datasheet = machine.datasheet ? &*machine.datasheet : nullptr,
                           .threads = std::max(1, machine.cores / kernel_case.parts)};
  const roofline::Ceilings ceilings =
      devices.measured == nullptr
          ? roofline::Ceilings{}
          : roofline::Ceilings(*devices.measured, devices.threads, kernel_case.shards_at_once);
  const RowUtilisation u = row_utilisation(work, roofline::case_bound(work, kernel_case, ceilings),
                                           devices, out.isa, latency.ns);
  out.duration_ns = latency.ns;
  out.low_ns = latency.low_ns;
  out.high_ns = latency.high_ns;
  out.rounds = latency.rounds;
  out.mfu = u.mfu;
  out.mfu_reason = u.mfu_reason;
  out.path_fraction = u.path_fraction;
  out.mfu_datasheet = u.mfu_datasheet;
  out.roofline_fraction = u.roofline_fraction;
  out.lower_bound_ns = u.lower_bound_ns;
  out.limiter = u.limiter;
}

// Of the reads before and after each usable round; of all rounds where none is usable.
void add_bandwidth(KernelPoint& out, const std::vector<Measurement>& rounds, const Judge& machine) {
  const KernelCase& c = rounds.front().kernel_case;
  const int threads = std::max(1, machine.cores / c.parts) * std::max(1, c.shards_at_once);
  const auto best =
      machine.measured ? machine.measured->bandwidth("memory", threads) : std::nullopt;
  if (!best || best->bytes_per_s <= 0) {
    out.bandwidth_reason = "no measured bandwidth of this device";
    return;
  }
  const bool is_usable =
      std::ranges::any_of(rounds, [](const Measurement& m) { return has_latency(m.status); });
  std::vector<double> seen;
  for (const Measurement& m : rounds) {
    if (is_usable && !has_latency(m.status)) continue;
    if (!m.bandwidth.reason.empty()) out.bandwidth_reason = m.bandwidth.reason;
    for (const auto& state : {m.bandwidth.before, m.bandwidth.after}) {
      if (state) seen.push_back(*state);
    }
  }
  if (seen.empty()) {
    if (out.bandwidth_reason.empty()) out.bandwidth_reason = "no samples were taken";
    return;
  }
  out.bandwidth_reason.clear();
  out.bandwidth_share = median(seen) / best->bytes_per_s;
}

// Of retired samples the row's own signal still says it.
std::optional<double> clean_share_of(const Measurement& m) {
  if (const auto disturbed = disturbed_share(m.samples)) return 1 - *disturbed;
  if (m.retired_samples == 0) return std::nullopt;
  const auto* said = find_or_null(m.signals, "clean_share", &Signal::name);
  return !said ? std::nullopt : said->value;
}

void add_clean_share(KernelPoint& out, const std::vector<Measurement>& rounds) {
  std::vector<double> shares;
  for (const Measurement& m : rounds) {
    if (const auto share = clean_share_of(m)) shares.push_back(*share);
  }
  if (!shares.empty()) out.clean_share = median(shares);
}

KernelPoint point_of(const std::vector<Measurement>& rounds, const ReportingMachine& machine) {
  const Measurement& row = spokesman(rounds);
  const KernelCase& c = row.kernel_case;
  const Judge judge = judge_of(machine, c);
  const Problem problem = complete_problem(c.problem);
  const Work work = find_contract(problem.op)->work(problem.params);
  KernelPoint out{.key = c.key(),
                  .op = problem.op,
                  .problem = problem.text(),
                  .dtype = std::string(dtype_name(work.compute_dtype)),
                  .place = ShardPlace{c.backend, c.device, c.parts, 0}.text() +
                           (c.shards_at_once > 1 ? " x" + std::to_string(c.shards_at_once) : ""),
                  .mode = std::string(cache_mode_name(c.mode)) + ':' + std::to_string(c.sets),
                  .implementation = row.implementation.name,
                  .isa = row.implementation.isa,
                  .status = row.status,
                  .reason = row.reason,
                  .matmul_flops = work.matmul_flops,
                  .bytes = work.bytes(),
                  .constant_bytes = row.constant_bytes,
                  .workspace_bytes = row.workspace_bytes,
                  .one_time = row.one_time};
  add_bandwidth(out, rounds, judge);
  add_clean_share(out, rounds);
  const auto usable = fold_rounds(rounds, 0);
  if (usable) {
    out.status = usable->status;
    if (usable->status == Status::ok) out.reason.clear();
    if (out.reason.empty()) out.reason = usable->reason;
  }
  // Noisy rounds alone keep their label beside the figure: a dash would be no answer.
  const auto latency = usable ? usable : fold_usable_rounds(rounds, 0);
  if (!latency) {
    out.mfu_reason = out.reason.empty() ? std::string(status_name(out.status)) : out.reason;
    return out;
  }
  add_figures(out, *latency, c, work, judge);
  if (const auto bandwidth = collective_bandwidth(work, latency->ns)) {
    out.algbw_bytes_per_s = bandwidth->algorithm;
    out.busbw_bytes_per_s = bandwidth->bus;
  }
  return out;
}

}  // namespace

std::vector<KernelPoint> kernel_points(std::span<const Measurement> rows,
                                       const ReportingMachine& machine) {
  std::map<std::string, std::size_t> index;
  std::vector<std::vector<Measurement>> cases;
  for (const Measurement& row : rows) {
    const auto [it, is_new] = index.try_emplace(row.kernel_case.key(), cases.size());
    if (is_new) cases.emplace_back();
    cases[it->second].push_back(row);
  }
  return mapped(cases, [&](const auto& rounds) { return point_of(rounds, machine); });
}

std::map<std::string, KernelPoint> points_by_key(std::span<const Measurement> rows,
                                                 const ReportingMachine& machine) {
  std::map<std::string, KernelPoint> out;
  for (KernelPoint& point : kernel_points(rows, machine)) {
    const std::string key = point.key;
    out.emplace(key, std::move(point));
  }
  return out;
}

}  // namespace halmark::tune
