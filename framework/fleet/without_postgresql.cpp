// Built without libpqxx: every use says so.
#include "core/text/error.hpp"
#include "fleet/agent_loop.hpp"
#include "fleet/fleet.hpp"

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

report::View serve_node(tune::NamedDevices&, AgentOptions) { throw absent(); }

report::View view_of(const std::string&) { throw absent(); }

}  // namespace halmark::fleet
