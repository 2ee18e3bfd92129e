// halmark config and halmark backup: what holds for every command, the keys of files, copies.
#include <memory>

#include "cli/console/facts.hpp"
#include "tune/devices/settings.hpp"
#include "tune/reference/reference.hpp"
#include "tune/stored/backup.hpp"
#include "verify/database.hpp"

namespace halmark::cli {

struct ConfigOptions {
  std::string kind;
  bool is_page = false, is_effective = false;  // the one view that there is
};

Action add_config(OptionSet& app) {
  auto o = std::make_shared<ConfigOptions>();
  OptionSet show = app.add_subcommand("show", "Each setting, its value, and where it is from");
  show.add_flag("--effective", o->is_effective, "Of all sources together, as it always is");
  OptionSet schema = app.add_subcommand("schema", "Keys of files as JSON Schema, other tables");
  schema
      .add_option("kind", o->kind,
                  "sweep, kernels, device, space, fabric, traffic, nodes, expression, gate or "
                  "glossary")
      .required();
  schema.add_flag("--markdown", o->is_page, "As a page instead");
  app.add_example(
      "  halmark config show --effective\n  halmark config schema sweep > sweep.schema.json");
  return [o, show](const GlobalOptions& global) {
    if (show.is_chosen())
      return shown(
          tune::settings_view({global.db, global.color, global.progress, global.worker_memory,
                               global.plugins, global.phase_limits}));
    CommandResult out{.data = tune::reference_json(o->kind)};
    out.text = o->is_page ? tune::reference_markdown(o->kind) : dump_json(out.data, 2) + '\n';
    return out;
  };
}

Action add_backup(OptionSet& app) {
  auto folder = std::make_shared<std::string>();
  app.add_option("--to", *folder, "Folder of the copies (default: backups beside the database)");
  app.add_example("  halmark backup --db night.db    verified copies; the latest 7 are kept");
  return [folder](const GlobalOptions& global) {
    return shown(
        tune::backup_view(tune::back_up(database_path(global), *folder, require_sound_database)));
  };
}

}  // namespace halmark::cli
