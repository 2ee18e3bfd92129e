#include "plan/device/device_judgement.hpp"

#include <algorithm>
#include <iterator>

#include "core/text/error.hpp"
#include "plan/device/device_lint.hpp"

namespace halmark {
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

DeviceJudgement judge_devices(const std::vector<std::string>& paths,
                              const std::vector<std::filesystem::path>& folders) {
  const std::vector<DeviceFile> known = known_device_files(folders);
  const std::vector<DeviceFile> files = paths.empty() ? known : files_of(paths);
  DeviceJudgement out;
  Json findings = Json::array();
  for (const DeviceFile& file : files) {
    for (const DeviceFinding& finding : lint_device(file, known)) {
      const std::string severity(severity_name(finding.severity));
      out.errors += finding.severity == DeviceFinding::Severity::error ? 1 : 0;
      out.text += finding.where + ": " + severity + ": " + finding.text + '\n';
      findings.push_back({{"device", file.device.id},
                          {"where", finding.where},
                          {"severity", severity},
                          {"text", finding.text}});
    }
  }
  out.text += std::to_string(files.size()) + " device files, " + std::to_string(out.errors) +
              " errors, " + std::to_string(findings.size() - out.errors) + " warnings\n";
  out.data = {{"files", files.size()}, {"errors", out.errors}, {"findings", findings}};
  return out;
}

}  // namespace halmark
