// halmark new-plugin: writes the installed template as a project of its own.
#include <fmt/format.h>

#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/facts.hpp"
#include "host/plugin/new_project.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  std::string out;  // "" = hm_<name> in the current folder
};

CommandResult execute(const Options& options) {
  const fs::path folder = options.out.empty() ? "hm_" + options.name : options.out;
  const std::vector<std::string> files =
      write_plugin_project(plugin_template_dir(), folder, options.name);

  const fs::path prefix = installation_prefix();
  const std::string build = (folder / "build").string();
  CommandResult out;
  out.data = {{"name", options.name}, {"folder", folder.string()}, {"files", files}};
  for (const std::string& file : files) out.text += (folder / file).string() + '\n';
  out.text += fmt::format(
      "\ncmake -S {0} -B {1} -DCMAKE_PREFIX_PATH={2}\ncmake --build {1}\n"
      "ctest --test-dir {1} --output-on-failure\n"
      "{4} bench --plugin {1} --backend {3} --op gemm --params m=64,n=256,k=256 --dtype f32 "
      "--variants all\n",
      folder.string(), build, prefix.empty() ? "<where halmark is installed>" : prefix.string(),
      options.name, program_path().string());
  if (prefix.empty()) {
    out.text +=
        "\nThis halmark runs from its build tree: cmake --install makes the package that "
        "the project needs.\n";
  }
  return out;
}

}  // namespace

Action add_new_plugin(OptionSet& app) {
  auto o = std::make_shared<Options>();
  app.add_option("name", o->name, "Name of the backend; its file will be hm_<name>.so")->required();
  app.add_option("--out,-o", o->out, "Folder to write (default: hm_<name>)");
  return [o](const GlobalOptions&) { return execute(*o); };
}

}  // namespace halmark::cli
