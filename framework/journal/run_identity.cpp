// Fingerprints of versions up to 0.1 were of the whole machine: a sweep under `taskset -c 0` had
// that of one on every core. What rows say of their CPUs tells them apart; where they say nothing,
// they prove nothing.
#include "journal/run_identity.hpp"

#include <algorithm>
#include <charconv>

#include "core/lists.hpp"

namespace halmark {
namespace {

bool is_earlier(const std::string& fingerprint) {
  return fingerprint.find('@') == std::string::npos && fingerprint.starts_with("cpu-");
}

// CPUs in "0-3,8"; 0 for what is not such a list.
int count_of(const std::string& list) {
  int count = 0;
  const char* next = list.data();
  const char* const end = next + list.size();
  while (next < end) {
    int first = 0;
    const auto begin = std::from_chars(next, end, first);
    if (begin.ec != std::errc()) return 0;
    int last = first;
    next = begin.ptr;
    if (next < end && *next == '-') {
      const auto range = std::from_chars(next + 1, end, last);
      if (range.ec != std::errc() || last < first) return 0;
      next = range.ptr;
    }
    count += last - first + 1;
    if (next < end && *next++ != ',') return 0;
  }
  return count;
}

bool is_proven_here(std::span<const Measurement> rows, const EarlierIdentity& here) {
  bool has_whole = false;
  for (const Measurement& row : rows) {
    const std::string affinity = affinity_of(row);
    if (affinity.empty()) continue;  // a failure before anything ran
    const auto* own = find_value(here.affinity, row.kernel_case.parts);
    if (!own || *own != affinity) return false;
    has_whole = has_whole || row.kernel_case.parts == 1;
  }
  return has_whole;
}

int threads_of(const Device& device) {
  int out = 0;
  for (const Peak& peak : device.peaks) out = std::max(out, peak.threads);
  for (const Bandwidth& bandwidth : device.bandwidths) out = std::max(out, bandwidth.threads);
  return out;
}

}  // namespace

std::string affinity_of(const Measurement& row) {
  constexpr std::string_view lead = "affinity=";
  if (!row.environment.starts_with(lead)) return {};
  const std::size_t end = row.environment.find(' ');
  return row.environment.substr(lead.size(), end == std::string::npos ? end : end - lead.size());
}

bool is_run_of(const Store& store, std::int64_t run, const MachineIdentity& machine) {
  const std::string fingerprint = store.run_info(run).fingerprint;
  if (fingerprint == machine.fingerprint) return true;
  return !machine.earlier.fingerprint.empty() && fingerprint == machine.earlier.fingerprint &&
         is_proven_here(store.run_measurements(run), machine.earlier);
}

std::optional<std::int64_t> find_run(const Store& store, std::string_view plan_hash,
                                     const MachineIdentity& machine) {
  if (const auto run = store.find_run(plan_hash, machine.fingerprint)) return run;
  if (machine.earlier.fingerprint.empty()) return std::nullopt;
  const auto run = store.find_run(plan_hash, machine.earlier.fingerprint);
  return run && is_run_of(store, *run, machine) ? run : std::nullopt;
}

std::vector<std::int64_t> runs_with_winners(const Store& store, const MachineIdentity& machine) {
  std::vector<std::int64_t> out = store.runs_with_winners(machine.fingerprint);
  if (!machine.earlier.fingerprint.empty()) {
    for (const std::int64_t run : store.runs_with_winners(machine.earlier.fingerprint)) {
      if (is_run_of(store, run, machine)) out.push_back(run);
    }
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

bool are_rows_of(const Device& device, const std::string& fingerprint,
                 std::span<const Measurement> rows) {
  if (fingerprint != device.fingerprint) return false;
  if (!is_earlier(fingerprint)) return true;
  const int threads = threads_of(device);
  bool is_proven = false;
  for (const Measurement& row : rows) {
    const std::string affinity = affinity_of(row);
    if (affinity.empty()) continue;
    if (count_of(affinity) != std::max(1, threads / std::max(1, row.kernel_case.parts))) {
      return false;
    }
    is_proven = true;
  }
  return is_proven;
}

}  // namespace halmark
