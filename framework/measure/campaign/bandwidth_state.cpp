// Single slices vary by 8 % within one state of the machine, so a state is a median of five. A
// probe takes what is missing to that: one slice where others are recent, all five after a long
// trial.
#include "measure/campaign/bandwidth_state.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/numeric/statistics.hpp"

namespace halmark {
namespace {

constexpr std::size_t slices_of_state = 5;
constexpr double state_s = 2;
constexpr double gap_s = 0.25;
constexpr double gap_beside_long_s = 0.1;
constexpr std::size_t states_kept = 1000;  // per set of cores and campaign

}  // namespace

std::int64_t memory_walk_bytes(const Device& device) {
  constexpr std::int64_t usual_plateau_bytes = 256 << 20;
  constexpr std::int64_t walk_bytes_max = 512 << 20;  // as a ring: more costs more than it shows
  if (!device.bandwidth("memory", 0)) return 0;
  return std::min(walk_bytes_max, device.ring_plateau_bytes.value_or(usual_plateau_bytes));
}

Result<std::vector<double>, std::string> read_slices(Crew& crew, std::int64_t walk_bytes,
                                                     int slices) {
  if (crew.device().kind != "cpu") {
    return std::string("no host probe: the device has memory of its own");
  }
  for (int shard = 1; shard < crew.size(); ++shard) {
    if (crew.device(shard).kind == "cpu" && crew.threads(shard) == crew.threads()) continue;
    return std::string("no host probe: the shards lie on devices that differ");
  }
  // What the arenas lack of the walk is mapped beside them.
  const std::int64_t walk_of_each = walk_bytes / crew.size();
  for (const int shard : below(crew.size())) {
    const std::int64_t limit = crew.worker(shard).memory_limit_bytes();
    const std::int64_t beside = walk_of_each - crew.worker(shard).arena_bytes();
    if (limit == 0 || beside <= limit / 4) continue;
    return std::string("no host probe: the memory that this run may use is too little for reads ") +
           "that no cache keeps (" + std::to_string(walk_bytes >> 20) + " MiB)";
  }
  const auto answers = crew.probe({.kind = protocol::ProbeKind::slices,
                                   .threads = crew.threads(),
                                   .windows = slices,
                                   .window_ms = 10,
                                   .working_set_bytes = walk_of_each});
  std::vector<double> slowest;
  for (const auto& answer : answers) {
    if (!answer) return answer.failure.reason;
    if (answer->rates.empty()) return answer->reason;
    if (slowest.empty()) slowest = answer->rates;
    slowest.resize(std::min(slowest.size(), answer->rates.size()));
    for (const auto i : indices(slowest)) {
      slowest[i] = std::min(slowest[i], answer->rates[i]);
    }
  }
  for (double& rate : slowest) rate *= crew.size();
  return slowest;
}

BandwidthState::Key BandwidthState::key_of(const Crew& crew) {
  return {crew.group().parts, crew.size()};
}

void BandwidthState::probe(Crew& crew, bool is_beside_long) {
  Seen& seen = seen_[key_of(crew)];
  if (seconds_since(seen.probed) < (is_beside_long ? gap_beside_long_s : gap_s)) return;
  std::erase_if(seen.slices, [](const Slice& s) { return seconds_since(s.when) > state_s; });
  seen.threads = crew.threads() * crew.size();
  const std::size_t known = std::min(seen.slices.size(), slices_of_state - 1);
  take(crew, as_int(slices_of_state - known), seen);
  seen.probed = SteadyClock::now();
}

void BandwidthState::take(Crew& crew, int slices, Seen& seen) {
  const auto rates = read_slices(crew, walk_bytes_, slices);
  seen.reason = rates ? "" : *rates.why();
  if (!rates) return;
  for (const double rate : *rates) {
    seen.slices.push_back({SteadyClock::now(), rate});
    if (++seen.since_state < slices_of_state || seen.slices.size() < slices_of_state) continue;
    seen.since_state = 0;
    if (seen.states.size() < states_kept) seen.states.push_back(*read(crew).bytes_per_s);
  }
}

BandwidthState::Reading BandwidthState::read(const Crew& crew) const {
  const auto* found = find_value(seen_, key_of(crew));
  if (!found) return {.reason = "not probed yet"};
  const Seen& seen = *found;
  std::vector<double> rates;
  double age_s = state_s;
  for (const Slice& slice : seen.slices) {
    const double slice_age_s = seconds_since(slice.when);
    if (slice_age_s > state_s) continue;
    rates.push_back(slice.bytes_per_s);
    age_s = std::min(age_s, slice_age_s);
  }
  if (rates.size() >= slices_of_state) return {median(rates), age_s, {}};
  const std::string few = "fewer than 5 reads of the memory within 2 s";
  return {.reason = seen.reason.empty() ? few : seen.reason};
}

void BandwidthState::add_to(RunPeaks& peaks) {
  for (auto& [key, seen] : seen_) {
    if (seen.states.empty()) continue;
    peaks.observe({.level = "memory",
                   .threads = seen.threads,
                   .working_set_bytes = walk_bytes_,
                   .access = "slices"},
                  seen.states);
    seen.states.clear();
  }
}

}  // namespace halmark
