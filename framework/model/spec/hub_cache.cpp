#include "model/spec/hub_cache.hpp"

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

namespace halmark {

namespace fs = std::filesystem;

namespace {

std::optional<fs::path> folder_of(const char* variable, const char* below) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value) / below;
}

// The first of them that is named is the only one, as for the hub's own tools.
std::optional<fs::path> cache_folder() {
  for (const auto& [variable, below] : {std::pair{"HF_HUB_CACHE", ""},
                                        {"HUGGINGFACE_HUB_CACHE", ""},
                                        {"HF_HOME", "hub"},
                                        {"XDG_CACHE_HOME", "huggingface/hub"},
                                        {"HOME", ".cache/huggingface/hub"}}) {
    if (auto folder = folder_of(variable, below)) return folder;
  }
  return std::nullopt;
}

// "models--organisation--name".
std::vector<fs::path> folders_of(const fs::path& cache, std::string_view name) {
  std::string wanted = "--";
  for (const char c : name) wanted += c == '/' ? std::string("--") : std::string(1, c);
  const bool has_owner = name.find('/') != std::string_view::npos;
  std::vector<fs::path> out;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(cache, code)) {
    const std::string found = entry.path().filename().string();
    const bool is_it = has_owner ? found == "models" + wanted
                                 : found.starts_with("models--") && found.ends_with(wanted);
    if (is_it) out.push_back(entry.path());
  }
  return out;
}

std::optional<fs::path> config_in(const fs::path& snapshot) {
  std::error_code code;
  const fs::path file = snapshot / "config.json";
  return fs::is_regular_file(file, code) ? std::optional(file) : std::nullopt;
}

std::optional<fs::path> latest(const fs::path& model) {
  std::optional<fs::path> out;
  fs::file_time_type newest;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(model / "snapshots", code)) {
    const auto file = config_in(entry.path());
    if (!file) continue;
    const auto written = fs::last_write_time(*file, code);
    if (out && written <= newest) continue;
    out = file;
    newest = written;
  }
  return out;
}

}  // namespace

std::optional<fs::path> cached_config(std::string_view name) {
  const auto cache = cache_folder();
  if (!cache || name.empty() || name.find("..") != std::string_view::npos) return std::nullopt;
  const std::vector<fs::path> models = folders_of(*cache, name);
  if (models.size() != 1) return std::nullopt;
  return latest(models.front());
}

}  // namespace halmark
