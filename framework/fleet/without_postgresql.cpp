// Built without libpqxx: every use says so.
#include "core/text/error.hpp"
#include "fleet/agent_loop.hpp"
#include "fleet/fleet.hpp"
#include "fleet/nodes/node_check.hpp"
#include "fleet/nodes/planning.hpp"

namespace halmark::fleet {
namespace {

Error absent() {
  return unfit("this halmark was built without PostgreSQL, over which fleets work",
               "install libpqxx-dev and build again");
}

}  // namespace

std::unique_ptr<tune::KernelMeasurer> measurer(Store&, const std::string&,
                                               const std::map<std::string, std::string>&,
                                               std::function<void(const std::string&)>) {
  throw absent();
}

report::View serve_node(const NodeFacts&, AgentOptions) { throw absent(); }

std::optional<NodeFacts> facts_to_plan_with(const PlanningQuestion&) { throw absent(); }

NodeCheck check_node(const NodeFacts&, const std::string&, const std::string&) { throw absent(); }

report::View view_of(const std::string&) { throw absent(); }

}  // namespace halmark::fleet
