#include "fleet/nodes/contradiction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {
namespace {

// One ceiling of a device, whichever kind it is.
struct Ceiling {
  std::string name;  // "peak f32_vector avx2 of 2 threads"
  double per_s = 0;
  const char* unit = "";  // of 1e9 of it
};

std::string of_threads(int threads) {
  return threads == 0 ? "" : fmt::format(" of {} threads", threads);
}

std::vector<Ceiling> ceilings_of(const std::optional<Device>& device) {
  std::vector<Ceiling> out;
  if (!device) return out;
  for (const Peak& p : device->peaks) {
    out.push_back({fmt::format("peak {}{}{}{}", p.path, p.isa.empty() ? "" : " ", p.isa,
                               of_threads(p.threads)),
                   p.flops_per_s, "GFLOP/s"});
  }
  for (const Bandwidth& b : device->bandwidths) {
    out.push_back({fmt::format("bandwidth {} {}{}", b.level, b.access, of_threads(b.threads)),
                   b.bytes_per_s, "GB/s"});
  }
  return out;
}

std::string figure(double per_s, const char* unit) {
  return fmt::format("{:.4g} {}", per_s / 1e9, unit);
}

// Highest figure of the sheet for the path; nothing where it has none.
std::optional<double> sheet_peak(const Device& sheet, const std::string& path) {
  std::optional<double> out;
  for (const Peak& p : sheet.peaks) {
    if (p.path != path) continue;
    out = std::max({out.value_or(0), p.flops_per_s, p.flops_per_s_high.value_or(0)});
  }
  return out;
}

std::string above_datasheet(const Device& measured, const Device& sheet) {
  for (const Peak& p : measured.peaks) {
    const auto most = sheet_peak(sheet, p.path);
    if (!most || p.flops_per_s <= datasheet_margin * *most) continue;
    return fmt::format("its measured peak {} is {}, and the datasheet of {} has {}", p.path,
                       figure(p.flops_per_s, "GFLOP/s"), sheet.name, figure(*most, "GFLOP/s"));
  }
  return {};
}

// The same ceiling of those peers that have a device of this class.
std::vector<double> of_peers(const Ceiling& ceiling, const std::string& of_class,
                             std::span<const Peer> peers) {
  std::vector<double> out;
  for (const Peer& peer : peers) {
    const tune::NamedDevices devices = devices_of_node(peer.facts);
    for (const tune::NamedDevice& d : devices.devices()) {
      if (classes_of(d.machine.rows_fingerprint).front() != of_class) continue;
      for (const Ceiling& theirs : ceilings_of(d.machine.measured)) {
        if (theirs.name == ceiling.name) out.push_back(theirs.per_s);
      }
      break;
    }
  }
  return out;
}

std::string far_from_peers(const Device& measured, const std::string& of_class,
                           std::span<const Peer> peers) {
  for (const Ceiling& own : ceilings_of(measured)) {
    const std::vector<double> theirs = of_peers(own, of_class, peers);
    if (theirs.empty()) continue;
    const double usual = median(theirs);
    if (own.per_s <= class_spread_max * usual && usual <= class_spread_max * own.per_s) continue;
    return fmt::format("its {} is {}, and that of class {} is {} ({} of {})", own.name,
                       figure(own.per_s, own.unit), of_class, figure(usual, own.unit),
                       theirs.size() == 1 ? "one agent" : fmt::format("{} agents", theirs.size()),
                       peers.front().node + (peers.size() > 1 ? " and others" : ""));
  }
  return {};
}

}  // namespace

std::string contradiction_of(const NodeFacts& own, std::span<const Peer> peers) {
  std::set<std::string> seen;
  const tune::NamedDevices devices = devices_of_node(own);
  for (const tune::NamedDevice& d : devices.devices()) {
    const std::string of_class = classes_of(d.machine.rows_fingerprint).front();
    if (!d.machine.measured || !seen.insert(of_class).second) continue;
    if (d.machine.datasheet) {
      if (auto why = above_datasheet(*d.machine.measured, *d.machine.datasheet); !why.empty()) {
        return why;
      }
    }
    if (auto why = far_from_peers(*d.machine.measured, of_class, peers); !why.empty()) return why;
  }
  return {};
}

}  // namespace halmark::fleet
