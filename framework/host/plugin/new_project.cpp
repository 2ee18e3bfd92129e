#include "host/plugin/new_project.hpp"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

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
  throw refused(
      "'" + name + "' is no name of a backend", {},
      "start with a lower-case letter, then lower-case letters, digits and '_', at most " +
          std::to_string(name_length_max) + " in all: for example my_npu");
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

}  // namespace

std::vector<std::string> write_plugin_project(const fs::path& from, const fs::path& to,
                                              const std::string& name) {
  check_name(name);
  check_folder(to);
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

std::string plugin_project_steps(const fs::path& folder, const std::string& name,
                                 const fs::path& prefix, const fs::path& program) {
  const std::string build = (folder / "build").string();
  const std::string where = prefix.empty() ? "<where halmark is installed>" : prefix.string();
  std::string out = "\ncmake -S " + folder.string() + " -B " + build +
                    " -DCMAKE_PREFIX_PATH=" + where + "\ncmake --build " + build +
                    "\nctest --test-dir " + build + " --output-on-failure\n" + program.string() +
                    " bench --plugin " + build + " --backend " + name +
                    " --op gemm --params m=64,n=256,k=256 --dtype f32 --variants all\n";
  if (!prefix.empty()) return out;
  return out +
         "\nThis halmark runs from its build tree: cmake --install makes the package that the "
         "project needs.\n";
}

}  // namespace halmark
