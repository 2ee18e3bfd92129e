#include "fleet/fleet.hpp"

#include <fmt/format.h>

#include "core/input/places.hpp"
#include "core/text/error.hpp"
#include "fleet/agent_loop.hpp"
#include "fleet/fleet_measurer.hpp"
#include "fleet/fleet_view.hpp"
#include "fleet/sessions.hpp"
#include "sql/postgresql.hpp"

namespace halmark::fleet {
std::unique_ptr<tune::KernelMeasurer> measurer(Store& store, const std::string& fingerprint,
                                               const std::map<std::string, std::string>& plugins,
                                               std::function<void(const std::string&)> say) {
  auto* shared = dynamic_cast<SharedStore*>(&store);
  if (shared == nullptr) {
    throw refused("a fleet works over a shared database", "--fleet",
                  "give postgresql://USER@HOST/DATABASE");
  }
  return std::make_unique<FleetMeasurer>(
      *shared,
      FleetOptions{
          .need = {.classes = classes_of(fingerprint), .plugins = plugins, .tool = tool_text()},
          .say = std::move(say)});
}

report::View serve_node(const NodeFacts& node, AgentOptions options) {
  options.node = node_name(options.node);
  if (options.spool.empty()) {
    options.spool = (state_dir() / ("spool-" + options.node + ".db")).string();
  }
  options.sentinel_file = (state_dir() / ("sentinel-" + options.node + ".json")).string();
  // Rows go there when the server is away: too late to learn that they cannot.
  require_writable(options.spool, "--spool");
  require_writable(options.sentinel_file, "");
  const AgentEnd end = run_agent(node, options);
  return {.data = {{"measured", end.measured}, {"failed", end.failed}, {"lost", end.lost}},
          .text = fmt::format("{} rows measured, {} of them failed, {} leases lost\n", end.measured,
                              end.failed, end.lost)};
}

report::View view_of(const std::string& url) {
  require_shared(url);
  const auto session = agent_session(url);
  if (!WorkTable::is_there(*session)) return fleet_view({}, {});
  WorkTable table(*session);
  return fleet_view(table.agents(), table.runs());
}

}  // namespace halmark::fleet
