// halmark new-plugin: writes the installed template as a project of its own.
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <memory>

#include "cli/console/command.hpp"
#include "cli/console/paths.hpp"
#include "core/input/input_file.hpp"

namespace halmark::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::string name;
  std::string out;  // "" = hm_<name> in the current folder
};

constexpr std::size_t name_length_max = 32;
constexpr std::string_view name_token = "@NAME@";

// The name becomes part of a file name, a CMake target and text inside C++ literals.
void check_name(const std::string& name) {
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool is_good = !name.empty() && name.size() <= name_length_max && is_letter(name.front()) &&
                       std::ranges::all_of(name, [&](char c) {
                         return is_letter(c) || (c >= '0' && c <= '9') || c == '_';
                       });
  if (is_good) return;
  throw refused("'" + name + "' is no name of a backend", {},
                fmt::format("start with a lower-case letter, then lower-case letters, digits and "
                            "'_', at most {} in all: for example my_npu",
                            name_length_max));
}

void check_folder(const fs::path& folder) {
  std::error_code code;
  if (!fs::exists(folder, code)) return;
  if (!fs::is_directory(folder, code)) {
    throw refused("there is a file of this name", folder.string(), "name another folder: --out");
  }
  if (!fs::is_empty(folder, code) || code) {
    throw refused("this folder is not empty", folder.string(), "name another folder: --out");
  }
}

std::string filled_in(std::string text, const std::string& name) {
  for (std::size_t at = text.find(name_token); at != std::string::npos;
       at = text.find(name_token, at + name.size())) {
    text.replace(at, name_token.size(), name);
  }
  return text;
}

void write_file(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out)
    throw Error(ExitCode::error, "cannot write the file", file.string(), "free space there");
}

std::vector<std::string> write_project(const fs::path& from, const fs::path& to,
                                       const std::string& name) {
  std::error_code code;
  fs::create_directories(to, code);
  if (code) {
    throw Error(ExitCode::error, "cannot create the folder: " + code.message(), to.string());
  }
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(from)) {
    const fs::path file = entry.path().filename();
    write_file(to / file, filled_in(read_input(entry.path().string(), template_input), name));
    files.push_back(file.string());
  }
  std::ranges::sort(files);
  return files;
}

CommandResult execute(const Options& options) {
  check_name(options.name);
  const fs::path folder = options.out.empty() ? "hm_" + options.name : options.out;
  check_folder(folder);
  const std::vector<std::string> files = write_project(plugin_template_dir(), folder, options.name);

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
