// How fast the memory is now: it falls by half for minutes while other guests use it, and no
// counter of this one shows it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/measured/measurement.hpp"
#include "core/numeric/clock.hpp"
#include "core/result.hpp"
#include "measure/campaign/crew.hpp"
#include "measure/campaign/run_peaks.hpp"

namespace halmark {

// What short reads walk through on a device with these figures, so that no cache keeps it; 0 = no
// share of the best could be told.
std::int64_t memory_walk_bytes(const Device& device);

// Rates of that many short reads by all shards at once, in bytes/s of all of them; or why there are
// none. The workers must be idle.
Result<std::vector<double>, std::string> read_slices(Crew& crew, std::int64_t walk_bytes,
                                                     int slices);

// Asks crews for short reads, never while they sample, and keeps those of the last two seconds per
// set of cores and number of shards. One thread.
class BandwidthState {
 public:
  // Slices of all shards walk through `walk_bytes`: more than the caches keep.
  explicit BandwidthState(std::int64_t walk_bytes) : walk_bytes_(walk_bytes) {}

  // At most every 250 ms, but on both sides of what takes longer than 100 ms: `is_beside_long`.
  // Takes one slice, or as many as a state lacks. The workers must be idle.
  void probe(Crew& crew, bool is_beside_long);

  struct Reading {
    std::optional<double> bytes_per_s;
    std::optional<double> age_s;  // of the newest slice
    std::string reason;           // why there is no state
  };
  Reading read(const Crew& crew) const;

  // Adds the states that were read to the peaks, as accesses of their own, and forgets them.
  void add_to(RunPeaks& peaks);

 private:
  struct Slice {
    SteadyClock::time_point when;
    double bytes_per_s = 0;  // of all shards
  };
  struct Seen {
    int threads = 0;  // of all shards
    std::vector<Slice> slices;
    std::vector<double> states;  // one per five slices
    std::size_t since_state = 0;
    std::string reason;  // of the last probe, where it gave nothing
    SteadyClock::time_point probed{};
  };
  using Key = std::tuple<int, int>;  // parts, shards at once
  static Key key_of(const Crew& crew);
  void take(Crew& crew, int slices, Seen& seen);

  std::int64_t walk_bytes_;
  std::map<Key, Seen> seen_;
};

}  // namespace halmark
