#include "core/latency.hpp"

#include <algorithm>
#include <vector>

#include "core/lists.hpp"
#include "core/text/enum_names.hpp"

namespace halmark {

namespace {
constexpr auto provenances =
    enum_names<Provenance>("measured", "imported", "interpolated", "fabric", "roofline");
}  // namespace

std::string_view provenance_name(Provenance provenance) { return provenances.of(provenance); }
std::optional<Provenance> parse_provenance(std::string_view text) {
  return provenances.parse(text);
}

namespace {

// Two undisturbed processes outvote a suspect one; with fewer, all that is usable counts.
std::vector<const Measurement*> counted(std::span<const Measurement> rounds) {
  const bool trusts_ok_only = std::ranges::count(rounds, Status::ok, &Measurement::status) >= 2;
  std::vector<const Measurement*> out;
  for (const Measurement& m : rounds) {
    if (!has_latency(m.status)) continue;
    if (!trusts_ok_only || m.status == Status::ok) out.push_back(&m);
  }
  return out;
}

// A meter is of all that ran on its device at once: of one execution by one shard. A device's own
// meter goes first, because that of the packages counts what else the machine does.
struct Metered {
  double joules = 0;
  std::string meter;
};

std::optional<Metered> metered(const Measurement& row) {
  const KernelCase& k = row.kernel_case;
  const double devices = 1 + as_double(std::ranges::count(k.device, '+'));
  const auto ranks = as_double(k.problem.params.value_or("ranks", k.shards_at_once));
  const double shards = std::max(1.0, ranks / devices);
  for (const auto& [name, meter] : {std::pair{"device_energy_uj", k.backend + ':' + k.device},
                                    std::pair{"package_energy_uj", std::string("rapl")}}) {
    const auto* said = find_or_null(row.signals, name, &Signal::name);
    if (!said || !said->value) continue;
    return Metered{*said->value * 1e-6 / shards, meter};
  }
  return std::nullopt;
}

bool is_only_noisy(const Measurement& row) {
  return row.status == Status::invalid && row.was_sampled();
}

}  // namespace

std::optional<Latency> fold_rounds(std::span<const Measurement> rounds, double lower_bound_ns) {
  std::vector<double> medians, speeds, cores, joules;
  Latency out{.lower_bound_ns = lower_bound_ns, .provenance = Provenance::measured};
  Interval inside{0, 0};
  for (const Measurement* m : counted(rounds)) {
    if (m->status == Status::suspect && out.status == Status::ok) {
      out.status = Status::suspect;
      out.reason = m->reason;
    }
    medians.push_back(m->duration_ns_median);
    inside = m->duration_ns_interval;
    for (const auto& state : {m->bandwidth.before, m->bandwidth.after}) {
      if (state) speeds.push_back(*state);
    }
    for (const auto& peak : {m->peak_flops_before, m->peak_flops_after}) {
      if (peak) cores.push_back(*peak);
    }
    out.implementation = m->implementation.name;
    if (const auto energy = metered(*m)) {
      joules.push_back(energy->joules);
      out.energy_origin = energy->meter;
    }
  }
  if (medians.empty()) return std::nullopt;
  out.rounds = static_cast<int>(medians.size());
  out.ns = median(medians);
  if (!speeds.empty()) out.bytes_per_s = median(speeds);
  if (!cores.empty()) out.flops_per_s = median(cores);
  if (!joules.empty()) out.energy_j = median(joules);
  // One process: its own interval is all there is, and it understates the spread between processes.
  const Interval between = medians.size() == 1 ? inside : median_interval(medians).interval;
  out.low_ns = std::min(between.low, out.ns);
  out.high_ns = std::max(between.high, out.ns);
  return out;
}

std::optional<Latency> fold_usable_rounds(std::span<const Measurement> rounds,
                                          double lower_bound_ns) {
  if (auto latency = fold_rounds(rounds, lower_bound_ns)) return latency;
  std::vector<Measurement> noisy;
  for (const Measurement& row : rounds) {
    if (!is_only_noisy(row)) continue;
    noisy.push_back(row);
    noisy.back().status = Status::suspect;
    noisy.back().reason = "only noisy measurements: " + row.reason;
  }
  return fold_rounds(noisy, lower_bound_ns);
}

std::vector<double> process_medians_ns(std::span<const Measurement> rounds) {
  std::vector<double> out;
  for (const Measurement* m : counted(rounds)) out.push_back(m->duration_ns_median);
  if (!out.empty()) return out;
  for (const Measurement& m : rounds) {
    if (is_only_noisy(m)) out.push_back(m.duration_ns_median);
  }
  return out;
}

}  // namespace halmark
