#include "export/write_files.hpp"

#include <filesystem>

#include "core/input/input_file.hpp"
#include "core/text/error.hpp"
#include "report/report.hpp"

namespace halmark::exports {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return path.ends_with('/') || fs::is_directory(path, ignored) || !fs::path(path).has_extension();
}

enum class FileState { absent, same, other };

struct OutFile {
  const TextFile* file;
  fs::path path;
  bool is_named = false;  // by the user, word for word
  FileState state = FileState::absent;
};

std::string word_of(FileState state) {
  return state == FileState::absent ? "written"
         : state == FileState::same ? "unchanged"
                                    : "replaced";
}

FileState file_state(const fs::path& path, const std::string& text) {
  std::error_code code;
  if (!fs::exists(path, code)) return FileState::absent;
  // What cannot be read, or is no text of such a size, is not what would be written.
  try {
    return read_input(path.string(), template_input) == text ? FileState::same : FileState::other;
  } catch (const Error&) {
    return FileState::other;
  }
}

std::vector<OutFile> targets_of(const std::vector<TextFile>& files, const std::string& path) {
  const bool is_all = is_folder(path);
  const fs::path folder = is_all ? fs::path(path) : fs::path(path).parent_path();
  std::vector<OutFile> out;
  for (const TextFile& file : files) {
    const bool is_named = out.empty() && !is_all;
    const fs::path to = is_named ? fs::path(path) : folder / file.name;
    out.push_back({&file, to, is_named, file_state(to, file.text)});
  }
  return out;
}

void require_replaceable(const std::vector<OutFile>& targets) {
  for (const OutFile& target : targets) {
    if (target.is_named || target.state != FileState::other) continue;
    throw refused("this file is there with other contents, and nothing was written",
                  target.path.string(), "--overwrite replaces it; or name another folder");
  }
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  if (!folder.empty()) fs::create_directories(folder, error);
  if (error) {
    throw Error(ExitCode::error, "the folder cannot be made: " + error.message(), folder.string(),
                "name another place with --out");
  }
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

std::string write_files(const std::vector<TextFile>& files, const std::string& path,
                        Existing existing) {
  const std::vector<OutFile> targets = targets_of(files, path);
  if (existing == Existing::refused) require_replaceable(targets);
  make_folder(targets.front().path.parent_path());
  std::string out;
  for (const OutFile& target : targets) {
    if (target.state != FileState::same) write_whole_file(target.file->text, target.path.string());
    if (target.file->text.starts_with("#!")) {
      std::error_code ignored;
      fs::permissions(target.path,
                      fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, ignored);
    }
    out += word_of(target.state) + (": " + target.path.string()) + '\n';
  }
  return out;
}

}  // namespace halmark::exports
