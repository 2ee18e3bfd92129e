#include "export/write_files.hpp"

#include <filesystem>

#include "core/text/error.hpp"
#include "report/report.hpp"

namespace halmark::exports {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored) || !fs::path(path).has_extension();
}

}  // namespace

std::string files_text(const std::vector<TextFile>& files) {
  std::string out;
  for (const TextFile& file : files) {
    if (&file != &files.front()) out += "\n# ---- " + file.name + '\n';
    out += file.text;
  }
  return out;
}

std::string write_files(const std::vector<TextFile>& files, const std::string& path) {
  const fs::path folder = is_folder(path) ? fs::path(path) : fs::path(path).parent_path();
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) {
    throw Error(ExitCode::error, "the folder cannot be made: " + error.message(), folder.string());
  }
  std::string out;
  for (const TextFile& file : files) {
    const bool is_first = &file == &files.front();
    const fs::path to = is_first && !is_folder(path) ? fs::path(path) : folder / file.name;
    write_whole_file(file.text, to.string());
    if (file.text.starts_with("#!")) {
      fs::permissions(to, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, error);
    }
    out += "written: " + to.string() + '\n';
  }
  return out;
}

}  // namespace halmark::exports
