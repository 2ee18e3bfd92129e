// The ceilings that the rows of a run are judged by, and what probes of the run saw of them.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "core/device.hpp"
#include "core/numeric/clock.hpp"
#include "roofline/ceilings.hpp"

namespace halmark {

// Owned by whoever runs campaigns, longer than they run. One thread.
class RunPeaks {
 public:
  // `utc_now` dates what is seen: "2026-11-22T15:04:05Z".
  RunPeaks(Device device, std::function<std::string()> utc_now);

  // The peaks as they are now.
  const Device& device() const { return device_; }
  // Of a device apart from the host's CPU: no probe of a worker can take them again.
  bool are_apart() const { return !device_.kind.empty() && device_.kind != "cpu"; }
  // Of one of `shards` shards at once with `threads` threads each.
  const roofline::Ceilings& ceilings(int threads, int shards) const;
  // Ceilings of this machine that the run saw, with their occasions; no figure of earlier runs.
  const Device& seen() const { return seen_; }
  bool has_seen() const { return !seen_.peaks.empty() || !seen_.bandwidths.empty(); }
  // Grows whenever a ceiling changes.
  int revision() const { return revision_; }

  // Rates of one probe of the ceiling that `of` names; its figure is not read. A ceiling for a
  // thread count that was never probed becomes one of its own only where it is above what is
  // scaled from others: one probe in a slow minute must not lower it.
  void observe(Peak of, std::span<const double> rates, bool is_busy = false);
  void observe(Bandwidth of, std::span<const double> rates, bool is_busy = false);

  // What the last fresh probe of `what` said, where that was less than two seconds ago: a sweep of
  // impossible rows does not probe for each of them.
  const std::string* recent(const std::string& what) const;
  void remember(const std::string& what, std::string said);

 private:
  struct Said {
    SteadyClock::time_point when;
    std::string text;
  };
  template <class Ceiling>
  void add(std::vector<Ceiling>& known, double Ceiling::*rate, Ceiling of,
           std::span<const double> rates, bool is_busy, bool is_known, double scaled_per_s);

  Device device_, seen_;
  std::function<std::string()> utc_now_;
  int revision_ = 0;
  std::map<std::string, Said> said_;
  mutable std::map<std::pair<int, int>, roofline::Ceilings> ceilings_;  // by threads and shards
};

}  // namespace halmark
