// halmark new-plugin: writes the installed template as a project of its own.

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "host/plugin/new_project.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

CommandResult execute(const std::string& name, const fs::path& folder) {
  const std::vector<std::string> files = write_plugin_project(plugin_template_dir(), folder, name);

  CommandResult out;
  out.data = {{"name", name}, {"folder", folder.string()}, {"files", files}};
  for (const std::string& file : files) out.text += (folder / file).string() + '\n';
  out.text += plugin_project_steps(folder, name, installation_prefix(), program_path());
  return out;
}

}  // namespace

Action add_new_plugin(OptionSet& app) {
  const auto name =
      app.add<std::string>("name", "Name of the backend; its file will be hm_<name>.so").required();
  const auto out = app.add<std::string>("--out,-o", "Folder to write (default: hm_<name>)");
  return [=](const GlobalOptions&) { return execute(*name, out->empty() ? "hm_" + *name : *out); };
}

}  // namespace halmark::cli
