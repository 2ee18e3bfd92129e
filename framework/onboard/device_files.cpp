#include "onboard/device_files.hpp"

#include <unistd.h>

#include <utility>

#include "core/input/places.hpp"
#include "core/json/json.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "onboard/onboard_view.hpp"
#include "plan/device/device_folder.hpp"
#include "report/report.hpp"

namespace halmark::onboard {
namespace {

namespace fs = std::filesystem;

// Two devices of one name with other clocks stay apart.
void require_same_device(const Plan& plan) {
  if (!is_device_folder(plan.folder)) return;
  const Device there = read_device_folder(plan.folder).device;
  if (there.fingerprint == plan.device.fingerprint) return;
  throw refused("holds another device: " + there.name + ", " + there.fingerprint,
                plan.folder.string(), "give another name by --out, or remove the folder");
}

[[noreturn]] void cannot_write(const fs::path& place, const std::error_code& code) {
  throw Error(ExitCode::error, "cannot be written: " + code.message(), place.string(),
              "name another folder by --out");
}

}  // namespace

DeviceFiles::DeviceFiles(const Plan& plan, std::string release, std::string utc)
    : plan_(plan), release_(std::move(release)), utc_(std::move(utc)) {
  require_same_device(plan);
  folder_ = plan.folder.string() + ".new-" + std::to_string(::getpid());
  require_writable(folder_ / device_file_name, "--out");
}

DeviceFiles::~DeviceFiles() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

void DeviceFiles::put(const std::string& name, const std::string& text) {
  write_whole_file(text, (folder_ / name).string());
  sums_[name] = sha256_of(text);
}

void DeviceFiles::put_tables(std::span<const FittedKind> kinds) {
  const std::string file = plan_.request.backend + '-' + release_ + ".parquet";
  const Tables made = tables(kinds, {.id = plan_.device.id,
                                     .backend = plan_.request.backend,
                                     .release = release_,
                                     .file = file,
                                     .source = "measured " + utc_ + " by halmark onboard"});
  put(file, made.parquet);
  put("manifest.toml", made.manifest);
}

ForecastFile DeviceFiles::forecast() const {
  return forecast_files({folder_}, plan_.device.id).front();
}

Device DeviceFiles::device() const {
  Device out = plan_.device;
  out.folder = folder_.string();
  return out;
}

void DeviceFiles::write(Outcome& outcome, const std::string& evidence) {
  put("evidence.csv", evidence);
  put("report.json", outcome_json(plan_, outcome).dump(1) + '\n');
  // A list of devices made meanwhile has one where the device file is: it comes last.
  const std::string device = device_text(plan_.device);
  sums_[device_file_name] = sha256_of(device);
  std::string sums;
  for (const auto& [name, sum] : sums_) sums += sum + "  " + name + '\n';
  outcome.checksum = sha256_of(sums);
  write_whole_file(sums, (folder_ / sums_file_name).string());
  put(device_file_name, device);
  std::error_code code;
  fs::remove_all(plan_.folder, code);
  fs::rename(folder_, plan_.folder, code);
  if (code) cannot_write(plan_.folder, code);
}

}  // namespace halmark::onboard
