#include "library_path.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace hm_openvino {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view library = "libopenvino_c.so";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::vector<fs::path> parts_of(const std::string& list) {
  std::vector<fs::path> parts;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    if (end > begin) parts.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// Entries of a folder whose names start so, in order; none of an unreadable one.
std::vector<fs::path> entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator at(folder, none), end; !none && at != end; at.increment(none)) {
    if (at->path().filename().string().starts_with(prefix)) found.push_back(at->path());
  }
  std::ranges::sort(found);
  return found;
}

// A package of the registry has its libraries with a version at the end and no plain name.
void add_libraries(const fs::path& folder, std::vector<std::string>& out) {
  for (const fs::path& file : entries(folder, library)) out.push_back(file.string());
}

// PREFIX/bin in PATH is a Python environment or a system whose packages lie in
// PREFIX/lib/python3*/site-packages (Debian: dist-packages).
void add_python_packages(const fs::path& prefix, std::vector<std::string>& out) {
  for (const fs::path& python : entries(prefix / "lib", "python3")) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      add_libraries(python / packages / "openvino/libs", out);
    }
  }
}

}  // namespace

std::vector<std::string> library_candidates() {
  std::vector<std::string> out;
  if (const std::string named = variable("HALMARK_OPENVINO"); !named.empty()) {
    add_libraries(named, out);
    add_libraries(fs::path(named) / "libs", out);
    if (out.empty()) out.push_back(named);
    return out;
  }
  out.emplace_back(library);  // what the loader finds by itself
  for (const fs::path& folder : parts_of(variable("LD_LIBRARY_PATH"))) add_libraries(folder, out);
  for (const char* folder : {"/usr/local/lib", "/usr/lib/x86_64-linux-gnu",
                             "/usr/lib/aarch64-linux-gnu", "/usr/lib64"}) {
    add_libraries(folder, out);
  }
  for (const fs::path& folder : parts_of(variable("PATH"))) {
    add_python_packages(folder.parent_path(), out);
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    add_python_packages(fs::path(home) / ".local", out);
  }
  return out;
}

}  // namespace hm_openvino
