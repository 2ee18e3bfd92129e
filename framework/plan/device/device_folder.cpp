#include "plan/device/device_folder.hpp"

#include "core/input/input_file.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"

namespace halmark {
namespace {

constexpr const char* again = "copy the folder once more, or write a new one: halmark onboard";

void require_sum(const std::filesystem::path& file, const std::string& sums) {
  const std::string line =
      sha256_of(read_input(file.string(), toml_input)) + "  " + file.filename().string();
  if (sums.find(line) == std::string::npos) {
    throw refused("is not the file that " + std::string(sums_file_name) + " states", file.string(),
                  again);
  }
}

}  // namespace

bool is_device_folder(const std::filesystem::path& folder) {
  std::error_code absent;
  return std::filesystem::is_regular_file(folder / device_file_name, absent);
}

DeviceFile read_device_folder(const std::filesystem::path& folder) {
  const std::string sums = read_input((folder / sums_file_name).string(), toml_input);
  for (const char* name : {device_file_name, "manifest.toml"}) require_sum(folder / name, sums);
  DeviceFile out = read_device_file((folder / device_file_name).string());
  out.device.folder = folder.string();
  return out;
}

}  // namespace halmark
