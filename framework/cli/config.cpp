// halmark config and halmark backup: what holds for every command, the keys of files, copies.

#include "cli/console/facts.hpp"
#include "tune/devices/settings.hpp"
#include "tune/reference/reference.hpp"
#include "tune/stored/backup.hpp"
#include "verify/database.hpp"

namespace halmark::cli {

Action add_config(OptionSet& app) {
  OptionSet show = app.add_subcommand("show", "Each setting, its value, and where it is from");
  show.add_flag("--effective", "Of all sources together, as it always is");
  OptionSet schema = app.add_subcommand("schema", "Keys of files as JSON Schema, other tables");
  const auto kind = schema
                        .add<std::string>("kind",
                                          "sweep, kernels, device, space, fabric, traffic, nodes, "
                                          "expression, gate or glossary")
                        .required();
  const auto is_page = schema.add_flag("--markdown", "As a page instead");
  return [=](const GlobalOptions& global) {
    if (show.is_chosen())
      return shown(
          tune::settings_view({global.db, global.color, global.progress, global.worker_memory,
                               global.plugins, global.phase_limits}));
    CommandResult out{.data = tune::reference_json(*kind)};
    out.text = *is_page ? tune::reference_markdown(*kind) : dump_json(out.data, 2) + '\n';
    return out;
  };
}

Action add_backup(OptionSet& app) {
  const auto folder =
      app.add<std::string>("--to", "Folder of the copies (default: backups beside the database)");
  return [folder](const GlobalOptions& global) {
    return shown(
        tune::backup_view(tune::back_up(database_path(global), *folder, require_sound_database)));
  };
}

}  // namespace halmark::cli
