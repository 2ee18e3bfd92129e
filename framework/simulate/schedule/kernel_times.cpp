#include "simulate/schedule/kernel_times.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"

namespace halmark::schedule {
namespace {

// Bits of a value that stand for it alike everywhere.
std::uint64_t mixed(std::uint64_t value) { return hash_u64(value, 0); }

double drawn(const Latency& latency, double at) {
  const double low = std::min(latency.low_ns, latency.ns);
  const double high = std::max(latency.high_ns, latency.ns);
  return at < 0.5 ? low + 2 * at * (latency.ns - low)
                  : latency.ns + (2 * at - 1) * (high - latency.ns);
}

}  // namespace

KernelTimes::KernelTimes(const PricedStep& step, const Programs& programs,
                         const TimeSources& sources)
    : programs_(programs) {
  const std::size_t operators = step.graph.operators.size();
  latencies_.resize(operators + programs.extra.size());
  std::vector<bool> is_used(latencies_.size());
  for (const Part& part : programs.parts) is_used[as_size(part.op)] = true;
  for (const auto i : indices(latencies_)) {
    if (!is_used[i]) continue;
    std::optional<Latency> known;
    std::string name;
    if (i < operators) {
      known = sources.of_operator(i);
      name = "operator '" + step.graph.operators[i].name + "'";
    } else {
      const ExtraCollective& extra = programs.extra[i - operators];
      if (sources.of_collective) {
        known = sources.of_collective(extra.problem, extra.work, extra.stride);
      }
      name = extra.problem.text();
    }
    if (!known || !std::isfinite(known->ns) || known->ns < 0) {
      throw refused("no time of " + name + (known ? ": " + known->reason : std::string()), {},
                    "name a device that states its peaks, a fabric, or another --latency");
    }
    latencies_[i] = *std::move(known);
    has_intervals_ |= latencies_[i].low_ns < latencies_[i].high_ns;
    provenance_ = std::max(provenance_, latencies_[i].provenance);
  }
}

double KernelTimes::stated_ns(const Piece& piece) const {
  double out = 0;
  for (const std::uint32_t i : below(piece.parts)) {
    const Part& part = programs_.parts[piece.part + i];
    out += part.passes * latencies_[as_size(part.op)].ns;
  }
  return out;
}

double KernelTimes::drawn_ns(const Piece& piece, std::int64_t device) const {
  double out = 0;
  for (const std::uint32_t i : below(piece.parts)) {
    const Part& part = programs_.parts[piece.part + i];
    const auto op = as_uint64(part.op);
    const std::uint64_t key = mixed(mixed(mixed(seed_) ^ run_) ^ (as_uint64(device) << 32 | op));
    out += part.passes * drawn(latencies_[as_size(part.op)], uniform_01(key));
  }
  return out;
}

}  // namespace halmark::schedule
