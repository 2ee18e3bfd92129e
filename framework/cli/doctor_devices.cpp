// halmark doctor --devices: the figures of device files, judged.
#include <algorithm>
#include <filesystem>

#include "cli/console/paths.hpp"
#include "cli/device_tables.hpp"
#include "plan/device_lint.hpp"

namespace halmark::cli {
namespace {

std::vector<DeviceFile> files_of(const std::vector<std::string>& paths) {
  std::vector<DeviceFile> out;
  for (const std::string& path : paths) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) {
      out.push_back(read_device_file(path));
      continue;
    }
    std::vector<DeviceFile> found = known_device_files({path});
    if (found.empty()) throw refused("no device file (*.toml) is here", path);
    std::ranges::move(found, std::back_inserter(out));
  }
  return out;
}

}  // namespace

CommandResult lint_devices_result(const std::vector<std::string>& paths) {
  const std::vector<DeviceFile> known = known_device_files(config_dirs("devices"));
  const std::vector<DeviceFile> files = paths.empty() ? known : files_of(paths);
  CommandResult out;
  Json findings = Json::array();
  std::size_t errors = 0;
  for (const DeviceFile& file : files) {
    for (const DeviceFinding& finding : lint_device(file, known)) {
      const std::string severity(severity_name(finding.severity));
      errors += finding.severity == DeviceFinding::Severity::error ? 1 : 0;
      out.text += finding.where + ": " + severity + ": " + finding.text + '\n';
      findings.push_back({{"device", file.device.id},
                          {"where", finding.where},
                          {"severity", severity},
                          {"text", finding.text}});
    }
  }
  out.text += std::to_string(files.size()) + " device files, " + std::to_string(errors) +
              " errors, " + std::to_string(findings.size() - errors) + " warnings\n";
  out.data = {{"files", files.size()}, {"errors", errors}, {"findings", findings}};
  out.exit_code = errors > 0 ? ExitCode::gate_failed : ExitCode::ok;
  return out;
}

}  // namespace halmark::cli
