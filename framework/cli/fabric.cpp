// halmark fabric: topologies that Halmark knows by name, or of a file.
#include <memory>

#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "pages/fabric/collectives_page.hpp"
#include "pages/fabric/fabric_page.hpp"
#include "simulate/fabric/fabric_file.hpp"

namespace halmark::cli {

Action add_fabric(OptionSet& app) {
  auto wanted = std::make_shared<std::string>();
  OptionSet show =
      app.add_subcommand("show", "What a fabric gives its ranks at each level; alone: all of them");
  show.add_option("fabric", *wanted, "One of configs/fabrics, or a fabric file (*.toml)");
  show.add_example("  halmark fabric show nvl72    levels, links with their sources, bisection");
  OptionSet collectives = app.add_subcommand(
      "collectives", "The fastest way of each collective by size, against its bound");
  collectives.add_option("fabric", *wanted, "As of show")->required();
  return [wanted, collectives](const GlobalOptions&) {
    const auto folders = config_dirs("fabrics");
    if (collectives.is_chosen()) {
      return shown(pages::collectives_page(fabric::known_fabric(*wanted, folders)));
    }
    return shown(wanted->empty() ? pages::fabrics_page(fabric::known_fabrics(folders))
                                 : pages::fabric_page(fabric::known_fabric(*wanted, folders)));
  };
}

}  // namespace halmark::cli
