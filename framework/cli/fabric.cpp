// halmark fabric: topologies that Halmark knows by name, or of a file.
#include <memory>

#include "cli/console/paths.hpp"
#include "cli/console/terminal.hpp"
#include "pages/fabric/collectives_page.hpp"
#include "pages/fabric/fabric_page.hpp"

namespace halmark::cli {

Action add_fabric(OptionSet& app) {
  auto asked = std::make_shared<pages::CollectivesRequest>();
  OptionSet show =
      app.add_subcommand("show", "What a fabric gives its ranks at each level; alone: all of them");
  show.add_option("fabric", asked->fabric, "One of configs/fabrics, or a fabric file (*.toml)");
  show.add_example("  halmark fabric show nvl72    levels, links with their sources, bisection");
  OptionSet collectives = app.add_subcommand(
      "collectives", "The fastest way of each collective by size, against its bound");
  collectives.add_option("fabric", asked->fabric, "As of show")->required();
  collectives.add_flag("--simulate", asked->simulates, "Also message by message over the links");
  collectives.add_option("--groups", asked->groups, "Groups at once, of every Nth rank; simulates");
  return [asked, collectives](const GlobalOptions&) {
    const auto folders = config_dirs("fabrics");
    return shown(collectives.is_chosen() ? pages::collectives_page(*asked, folders)
                                         : pages::fabric_page(asked->fabric, folders));
  };
}

}  // namespace halmark::cli
