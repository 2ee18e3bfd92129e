// What is claimed, measured and finished as a whole: one case of one round, or all cases that are
// measured within the same stacks.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "core/json/json_type.hpp"
#include "plan/sweep.hpp"
#include "tune/evaluate/kernel_measurer.hpp"

namespace halmark::fleet {

struct WorkUnit {
  std::int64_t id = 0, run = 0;
  int attempt = 0;    // grows with each claim: who holds an earlier one has lost it
  std::string name;   // key of the case, or of the stacks: unique per run and round
  std::string batch;  // units of one batch share a crew of workers
  int round = 0;
  std::vector<KernelCase> cases;
  std::vector<Stack> stacks;  // of all ranks; of cases in the mode in_stack
};

// One unit per case and round of the order that has no stored row, cases of the same stacks in one;
// neighbours in the list share a batch.
std::vector<WorkUnit> units_of(std::int64_t run, std::span<const KernelCase> cases,
                               const CampaignOptions& options);

// How the cases of a run are measured, the same for all of its agents.
struct UnitSettings {
  MeasureSettings measure;  // rounds are those of the units
  std::uint64_t seed = 0;
};
template <class V, Of<UnitSettings> M>
void fields(V& v, M& m) {
  v("samples_min", m.measure.samples_min);
  v("sample_budget_s", m.measure.sample_budget_s);
  v("wall_cap_s", m.measure.wall_cap_s);
  v("warmup_cap_s", m.measure.warmup_cap_s);
  v("limits", m.measure.limits);
  v("seed", m.seed);
}

// {"cases": [...], "stacks": [...], "settings": {...}}: the text that travels.
std::string payload_of(const WorkUnit& unit, const UnitSettings& settings);
// Fills cases and stacks. Throws Error (exit 2) for a text that is no payload: the database names
// the unit.
UnitSettings read_payload(const std::string& payload, WorkUnit& unit);

}  // namespace halmark::fleet
