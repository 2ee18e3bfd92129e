#include "tune/evaluate/step/step_over_fabric.hpp"

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "tune/plan/named_fabric.hpp"
#include "tune/sources/fabric_source.hpp"

namespace halmark::tune {

void price_over_fabric(PricedStep& step, const std::string& name,
                       const std::vector<std::filesystem::path>& fabrics) {
  const auto topology = named_fabric(name, step.graph.configuration, fabrics);
  if (!topology) return;
  if (!step.device) {
    throw refused("a fabric joins devices, and none is named", "--fabric", "add --device");
  }
  const roofline::Links links(*step.device, std::nullopt);
  const FabricSource source(*topology, roofline::Ceilings(*step.device, 0),
                            links.reduces_in_switch);
  step.fabric = topology->id;
  for (const auto i : indices(step.graph.operators)) {
    const Operator& op = step.graph.operators[i];
    if (op.kind != OperatorKind::collective) continue;
    const auto latency = source.latency(op.local, op.local_work, op.group_stride);
    if (latency) step.over_fabric.emplace(i, *latency);
  }
}

}  // namespace halmark::tune
