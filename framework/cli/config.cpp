// halmark config, backup, completion, man and new-plugin: what holds for every command, the keys of
// files, copies, and what shells, man and plugin authors get of this program.
#include "cli/console/command.hpp"
#include "core/version.hpp"
#include "host/plugin/new_project.hpp"
#include "pages/help/completion.hpp"
#include "pages/help/first_help.hpp"
#include "pages/help/man_page.hpp"
#include "report/report.hpp"
#include "tune/devices/settings.hpp"
#include "tune/reference/reference.hpp"
#include "tune/stored/backup.hpp"
#include "verify/database.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

CommandResult new_plugin(const std::string& name, const fs::path& folder) {
  const std::vector<std::string> files = write_plugin_project(plugin_template_dir(), folder, name);
  CommandResult out;
  out.data = {{"name", name}, {"folder", folder.string()}, {"files", files}};
  for (const std::string& file : files) out.text += (folder / file).string() + '\n';
  out.text += plugin_project_steps(folder, name, installation_prefix(), program_path());
  return out;
}

CommandResult manual(HelpTable help, const fs::path& folder, bool is_page) {
  help.version = std::string("halmark ") + tool_version;
  std::error_code absent;  // said of the first page
  fs::create_directories(folder, absent);
  const std::vector<ManPage> pages =
      is_page ? std::vector<ManPage>{{"commands.md", commands_markdown(help)}} : man_pages(help);
  CommandResult result;
  for (const ManPage& page : pages) {
    result.write({(folder / page.file).string()},
                 [&](const std::string& path) { write_whole_file(page.text, path); });
  }
  return result;
}

}  // namespace

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
  return [=](const GlobalOptions& global) -> CommandResult {
    if (show.is_chosen())
      return tune::settings_view({global.db, global.color, global.progress, global.worker_memory,
                                  global.plugins, global.phase_limits});
    CommandResult out;
    out.data = tune::reference_json(*kind);
    out.text = *is_page ? tune::reference_markdown(*kind) : dump_json(out.data, 2) + '\n';
    return out;
  };
}

Action add_backup(OptionSet& app) {
  const auto folder =
      app.add<std::string>("--to", "Folder of the copies (default: backups beside the database)");
  return [folder](const GlobalOptions& global) {
    return tune::backup_view(tune::back_up(database_path(global), *folder, require_sound_database));
  };
}

Action add_completion(OptionSet& app) {
  const auto shell = app.add<std::string>("shell", "bash, zsh or fish").required();
  return [shell, app](const GlobalOptions&) {
    return report::View{.text = completion_script(app.help(), *shell)};
  };
}

Action add_man(OptionSet& app) {
  const auto folder =
      app.add<std::string>("folder", "Where the pages are written; made where it is absent")
          .required();
  const auto is_page = app.add_flag("--markdown", "One page of all commands, commands.md, instead");
  return [=](const GlobalOptions&) { return manual(app.help(), *folder, *is_page); };
}

Action add_new_plugin(OptionSet& app) {
  const auto name =
      app.add<std::string>("name", "Name of the backend; its file will be hm_<name>.so").required();
  const auto out = app.add<std::string>("--out,-o", "Folder to write (default: hm_<name>)");
  return
      [=](const GlobalOptions&) { return new_plugin(*name, out->empty() ? "hm_" + *name : *out); };
}

}  // namespace halmark::cli
