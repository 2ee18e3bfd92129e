// What tune asks of a fleet: kernels are put into the table of work, and their rows waited for.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "fleet/work_table.hpp"
#include "journal/shared_store.hpp"
#include "tune/evaluate/kernel_measurer.hpp"

namespace halmark::fleet {

struct FleetOptions {
  Fitness need;  // of the plan
  // A line for people, when nobody takes what is there; may be empty.
  std::function<void(const std::string&)> say = {};
  double poll_s = 0.5;
  double pending_notice_s = 10;  // without a claim, after which it says why
};

class FleetMeasurer : public tune::KernelMeasurer {
 public:
  // Refers to the store.
  FleetMeasurer(SharedStore& store, FleetOptions options);

  Run begin(const RunInfo& run, bool starts_new_run) override;
  std::vector<Measurement> measure(std::int64_t run, std::span<const KernelCase> cases,
                                   const MeasureSettings& settings,
                                   const CampaignOptions& options) override;

 private:
  void wait(std::int64_t all, const CampaignOptions& options, const std::vector<std::int64_t>& ids);
  UnitCounts look(std::span<const std::int64_t> ids);
  void store_failed(std::span<const std::int64_t> ids);
  void explain_waiting(double waited_s, const UnitCounts& counts);

  SharedStore& store_;
  FleetOptions options_;
  WorkTable table_;
  bool has_explained_ = false;
};

// Why no agent takes such units: none is there, none of this class, build or version; "" where one
// could.
std::string pending_reason(const Fitness& need, std::span<const Agent> agents);

}  // namespace halmark::fleet
