#include "tune/plan/named_fabric.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/digest.hpp"
#include "core/text/error.hpp"
#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric_levels_of.hpp"

namespace halmark::tune {
namespace {

constexpr const char* flag = "--fabric";

fabric::Topology read(const std::string& name, const std::string& where,
                      const std::vector<std::filesystem::path>& fabrics) {
  try {
    fabric::Topology out = fabric::known_fabric(name, fabrics);
    simulate::fabric_levels_of(out);  // what collectives are priced over
    return out;
  } catch (const Error& error) {
    const std::string& place = error.where();  // of a fault in its file, else its id or nothing
    if (place.find(':') != std::string::npos) throw;
    throw refused((place.empty() ? "" : "fabric '" + place + "': ") + error.what(), where,
                  error.remedy());
  }
}

}  // namespace

void take_fabric(Sweep& sweep, const std::string& name) {
  if (name.empty()) return;
  sweep.fabric = name;
  sweep.fabric_where = flag;
}

std::optional<fabric::Topology> named_fabric(const std::string& name,
                                             const Configuration& configuration,
                                             const std::vector<std::filesystem::path>& fabrics) {
  const std::int64_t devices[] = {configuration.devices()};
  return named_fabric(name, flag, devices, fabrics);
}

std::optional<fabric::Topology> named_fabric(const std::string& name, const std::string& where,
                                             std::span<const std::int64_t> devices,
                                             const std::vector<std::filesystem::path>& fabrics) {
  if (name.empty()) return std::nullopt;
  fabric::Topology out = read(name, where, fabrics);
  const auto has = as_int64(out.devices().size());
  const std::int64_t wanted = devices.empty() ? 0 : std::ranges::max(devices);
  if (wanted > has) {
    throw refused(fmt::format("fabric '{}' does not fit the configuration: it has {} devices, and "
                              "{} are wanted",
                              out.id, has, wanted),
                  where,
                  fmt::format("ask for at most {} shards, or name a larger one: halmark fabric "
                              "show lists them",
                              has));
  }
  return out;
}

std::string fabric_digest(const fabric::Topology& topology) {
  std::string text;
  for (const fabric::Entity& entity : topology.entities) text += entity.name + '\n';
  for (const fabric::LinkFigure& f : topology.figures) {
    text += fmt::format("{} {} {} {}\n", fabric::transport_name(f.transport), f.latency_ns,
                        f.bytes_per_s, fabric::duplex_name(f.duplex));
  }
  for (const fabric::Link& link : topology.links) {
    text += fmt::format("{} {} {} {}\n", link.from, link.to, link.figure, link.cables);
  }
  return sha256_of(text);
}

}  // namespace halmark::tune
