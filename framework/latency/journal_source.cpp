// Rows come as values: where they are stored is the caller's affair. A figure is judged at the
// peaks that the caller names, which need not be those of the day when it was measured.
#include "latency/journal_source.hpp"

#include <utility>

#include "core/lists.hpp"
#include "latency/case_bounds.hpp"
#include "latency/judged.hpp"

namespace halmark {
namespace {

bool is_true(const Latency& latency) { return latency.status != Status::quarantined; }

bool is_better(const Latency& a, const Latency& b) {
  return is_true(a) != is_true(b) ? is_true(a) : a.ns < b.ns;
}

}  // namespace

JournalSource::JournalSource(std::span<const Measurement> rows, const Device& device,
                             std::string name) {
  std::map<KernelCase, std::vector<Measurement>> cases;
  for (const Measurement& m : rows) {
    const KernelCase& c = m.kernel_case;
    const bool is_whole = c.parts == 1 && c.shards_at_once == 1;
    if (is_whole && c.staging() == CacheMode::rotate_const) cases[c].push_back(m);
  }
  const CaseBounds bounds({.device = &device, .threads = 0});
  for (const auto& [kernel_case, rounds] : cases) {
    const auto folded = fold_usable_rounds(rounds, 0);
    if (!folded) continue;
    Latency latency = judged(*folded, bounds.of(kernel_case).bound);
    if (!is_true(latency)) latency.reason += "; measured: " + name;
    const auto [known, is_new] = times_.try_emplace(kernel_case.problem, latency);
    if (!is_new && is_better(latency, known->second)) known->second = std::move(latency);
  }
}

std::optional<Latency> JournalSource::latency(const Problem& problem, const Work&) const {
  const auto* found = find_value(times_, problem);
  if (!found) return std::nullopt;
  return *found;
}

std::vector<LatencyPoint> JournalSource::points() const {
  std::vector<LatencyPoint> out;
  for (const auto& [problem, latency] : times_) {
    if (is_true(latency)) out.push_back({problem, latency.ns});
  }
  return out;
}

}  // namespace halmark
