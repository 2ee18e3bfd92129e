#include "core/input/places.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>

#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

namespace fs = std::filesystem;

fs::path xdg(const char* variable, const char* fallback) {
  if (const char* value = std::getenv(variable); value != nullptr && *value == '/') {
    return fs::path(value) / "halmark";
  }
  const char* home = std::getenv("HOME");
  return fs::path(home != nullptr && *home != '\0' ? home : "/tmp") / fallback / "halmark";
}

// Nothing where it can be.
std::string why_not_writable(const fs::path& file) {
  const fs::path folder = fs::absolute(file).parent_path();
  std::error_code code;
  fs::create_directories(folder, code);
  if (code) return "cannot be written: its folder cannot be made: " + code.message();
  // It is replaced by another of the same name, so the folder decides as well.
  for (const fs::path& place : {folder, file}) {
    if (!fs::exists(place, code) || ::access(place.c_str(), W_OK) == 0) continue;
    return std::string("cannot be written: ") + std::strerror(errno);
  }
  return {};
}

}  // namespace

fs::path program_path() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored);
}

std::vector<fs::path> config_dirs(std::string_view kind) {
  std::vector<fs::path> out;
  if (const char* path = std::getenv("HALMARK_CONFIG_PATH")) {
    std::string_view rest(path);
    while (!rest.empty()) {
      const std::size_t colon = rest.find(':');
      if (colon != 0) out.push_back(fs::path(rest.substr(0, colon)) / kind);
      if (colon == std::string_view::npos) break;
      rest.remove_prefix(colon + 1);
    }
  }
  const fs::path prefix = program_path().parent_path().parent_path();
  std::error_code ignored;
  const fs::path own = user_config_dir(kind);
  if (fs::is_directory(own, ignored)) out.push_back(own);
  // In a build tree a link to those of the source tree.
  const fs::path shipped = fs::canonical(prefix / "share/halmark/configs", ignored);
  if (!shipped.empty() && fs::is_directory(shipped / kind, ignored)) {
    out.push_back(shipped / kind);
  }
  return out;
}

fs::path user_config_dir(std::string_view kind) { return xdg("XDG_CONFIG_HOME", ".config") / kind; }

fs::path installation_prefix() {
  const fs::path prefix = program_path().parent_path().parent_path();
  std::error_code ignored;
  return fs::exists(prefix / "include/halmark/halmark_plugin.h", ignored) ? prefix : fs::path();
}

fs::path plugin_template_dir() {
  const fs::path installed =
      program_path().parent_path().parent_path() / "share/halmark/plugin_template";
  std::error_code ignored;
  if (fs::is_directory(installed, ignored)) return installed;
  throw unfit("the template of a plugin is not installed: " + installed.string(),
              "reinstall halmark: cmake --install");
}

fs::path state_dir() { return xdg("XDG_STATE_HOME", ".local/state"); }

fs::path measured_device_path(std::string_view fingerprint) {
  return state_dir() / "devices" / (std::string(fingerprint) + ".toml");
}

fs::path builds_dir() { return state_dir() / "builds"; }

fs::path measured_limits_path(std::string_view fingerprint) {
  return measured_device_path(std::string(fingerprint) + "-limits");
}

std::string remedy_of_place(const fs::path& file, std::string_view option) {
  std::string out;
  if (!option.empty()) out = "name another file with " + std::string(option);
  const std::string below = state_dir().string() + '/';
  if (fs::absolute(file).string().starts_with(below)) {
    append_item(out, ", or ", "set XDG_STATE_HOME to a folder that this user can write");
  }
  return out;
}

void require_writable(const fs::path& file, std::string_view option) {
  const std::string why = why_not_writable(file);
  if (why.empty()) return;
  throw Error(ExitCode::error, why, file.string(), remedy_of_place(file, option));
}

}  // namespace halmark
