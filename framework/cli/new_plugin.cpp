// halmark new-plugin: writes the installed template as a project of its own.
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "host/plugin/new_project.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

struct NewPluginOptions {
  std::string name;
  std::string out;  // "" = hm_<name> in the current folder
};

CommandResult execute(const NewPluginOptions& options) {
  const fs::path folder = options.out.empty() ? "hm_" + options.name : options.out;
  const std::vector<std::string> files =
      write_plugin_project(plugin_template_dir(), folder, options.name);

  CommandResult out;
  out.data = {{"name", options.name}, {"folder", folder.string()}, {"files", files}};
  for (const std::string& file : files) out.text += (folder / file).string() + '\n';
  out.text += plugin_project_steps(folder, options.name, installation_prefix(), program_path());
  return out;
}

}  // namespace

Action add_new_plugin(OptionSet& app) {
  auto o = std::make_shared<NewPluginOptions>();
  app.add_option("name", o->name, "Name of the backend; its file will be hm_<name>.so")->required();
  app.add_option("--out,-o", o->out, "Folder to write (default: hm_<name>)");
  return [o](const GlobalOptions&) { return execute(*o); };
}

}  // namespace halmark::cli
