// halmark completion and halmark man: what shells and man know of this program, from its own help.
#include <filesystem>

#include "cli/console/command.hpp"
#include "core/version.hpp"
#include "pages/help/completion.hpp"
#include "pages/help/first_help.hpp"
#include "pages/help/man_page.hpp"
#include "report/report.hpp"

namespace halmark::cli {

Action add_completion(OptionSet& app) {
  const auto shell = app.add<std::string>("shell", "bash, zsh or fish").required();
  return [shell, app](const GlobalOptions&) {
    return CommandResult{.text = completion_script(app.help(), *shell)};
  };
}

Action add_man(OptionSet& app) {
  const auto folder =
      app.add<std::string>("folder", "Where the pages are written; made where it is absent")
          .required();
  const auto is_page = app.add_flag("--markdown", "One page of all commands, commands.md, instead");
  return [=](const GlobalOptions&) {
    HelpTable help = app.help();
    help.version = std::string("halmark ") + tool_version;
    CommandResult result;
    std::error_code absent;  // said of the first page
    std::filesystem::create_directories(*folder, absent);
    const std::vector<ManPage> pages =
        *is_page ? std::vector<ManPage>{{"commands.md", commands_markdown(help)}} : man_pages(help);
    for (const ManPage& page : pages) {
      const std::string path = (std::filesystem::path(*folder) / page.file).string();
      write_whole_file(page.text, path);
      result.text += "written: " + path + '\n';
    }
    return result;
  };
}

}  // namespace halmark::cli
