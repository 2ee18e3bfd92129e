// Zones "intel-rapl:N" are packages (AMD's too); "intel-rapl:N:M" are parts of one, and the memory-
// mapped interface shows the same counters once more.
#include "measure/sampling/package_energy.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace halmark {
namespace {

std::optional<double> number_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  double value = 0;
  if (!(in >> value) || value < 0) return std::nullopt;
  return value;
}

bool is_package(const std::string& zone) {
  constexpr std::string_view prefix = "intel-rapl:";
  return zone.starts_with(prefix) && zone.find(':', prefix.size()) == zone.npos;
}

}  // namespace

std::filesystem::path PackageEnergy::root_of_machine() {
  const char* named = std::getenv("HALMARK_POWERCAP");
  return named != nullptr && *named != 0 ? named : "/sys/class/powercap";
}

PackageEnergy::PackageEnergy(const std::filesystem::path& root) {
  std::error_code absent;
  for (const auto& entry : std::filesystem::directory_iterator(root, absent)) {
    if (is_package(entry.path().filename().string())) zones_.push_back({.folder = entry.path()});
  }
  if (zones_.empty()) {
    reason_ = root.string() + " has no package";
    return;
  }
  std::ranges::sort(zones_, {}, &Zone::folder);
  for (Zone& zone : zones_) {
    const auto now = number_in(zone.folder / "energy_uj");
    const auto range = number_in(zone.folder / "max_energy_range_uj");
    if (!now) reason_ = (zone.folder / "energy_uj").string() + " cannot be read";
    if (!range) reason_ = (zone.folder / "max_energy_range_uj").string() + " cannot be read";
    if (!reason_.empty()) break;
    zone.last_uj = *now;
    zone.range_uj = *range;
  }
  if (!reason_.empty()) zones_.clear();
}

std::optional<double> PackageEnergy::microjoules_since() {
  if (zones_.empty()) return std::nullopt;
  double out = 0;
  for (Zone& zone : zones_) {
    const auto now = number_in(zone.folder / "energy_uj");
    if (!now) {
      reason_ = (zone.folder / "energy_uj").string() + " cannot be read any more";
      zones_.clear();
      return std::nullopt;
    }
    // The counter goes up to its range and on from zero.
    out += *now >= zone.last_uj ? *now - zone.last_uj : *now + zone.range_uj - zone.last_uj;
    zone.last_uj = *now;
  }
  return out;
}

}  // namespace halmark
