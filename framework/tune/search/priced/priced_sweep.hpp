// A sweep on times that are known: the one call that `halmark tune --latency` makes. Nothing is
// opened but what the choice names, and nothing is written: its caller keeps the front.
#pragma once

#include <functional>
#include <memory>
#include <variant>

#include "core/chosen/deployment.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"
#include "tune/plan/plan.hpp"
#include "tune/search/priced/priced_search.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

class PricedSweep {
 public:
  // Throws Error (exit 2) for a device, model or sweep that cannot be priced, and as named_fabric
  // does.
  PricedSweep(const Sweep& sweep, LatencyChoice choice, const Folders& models,
              const Folders& devices, const Folders& fabrics);
  const TunePlan& plan() const { return *plan_; }
  std::uint64_t trials() const;       // at most
  SearchedFront front_facts() const;  // of every front that is found: its device

  // Of steps, or of a sweep with [request]. `progress` is called with the number of trials of the
  // latter so far. Throws Error (exit 2) as priced_latencies and the searches do.
  std::variant<RunReport, ServedReport> search(const std::function<bool()>& should_stop,
                                               const std::function<void(std::size_t)>& progress,
                                               const PricedExtras& extras = {}) const;

 private:
  std::vector<std::string> basis(const PricedLatencies& latencies) const;

  LatencyChoice choice_;
  Folders devices_;
  std::unique_ptr<TunePlan> plan_;
};

}  // namespace halmark::tune
