// What needs no database: the devices of a node, fingerprints of a fleet, texts of launchers.
#include <fmt/format.h>

#include <algorithm>

#include "core/text/error.hpp"
#include "core/text/url.hpp"
#include "fleet/fleet.hpp"
#include "fleet/work_table.hpp"

namespace halmark::fleet {

std::vector<std::string> classes_of(const std::string& fingerprint) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  while (begin <= fingerprint.size()) {
    const std::size_t end = std::min(fingerprint.find('+', begin), fingerprint.size());
    std::string one = fingerprint.substr(begin, end - begin);
    one = one.substr(0, one.find('@'));
    if (std::ranges::find(out, one) == out.end()) out.push_back(std::move(one));
    begin = end + 1;
  }
  return out;
}

void require_shared(const std::string& url) {
  if (is_postgresql_url(url)) return;
  throw refused("a fleet works over a database in a server, and this names none",
                without_password(url), "give postgresql://USER@HOST/DATABASE");
}

std::string fleet_fingerprint(const std::string& fingerprint) {
  std::string out;
  for (const char c : fingerprint + '+') {
    if (c != '+') {
      out += c;
      continue;
    }
    out.resize(std::min(out.size(), out.rfind('@')));
    out += "@fleet+";
  }
  out.pop_back();
  return out;
}

tune::NamedDevices devices_of_node(const std::vector<FoundPlugin>& found,
                                   const tune::LocalMachine& machine) {
  std::vector<ShardPlace> places;
  for (const FoundPlugin& plugin : found) {
    if (!plugin.is_loaded() || !plugin.description) continue;
    for (const protocol::DeviceDescription& device : plugin.description->devices) {
      places.push_back({.backend = plugin.description->name, .device = device.id});
    }
  }
  return tune::NamedDevices::present_or_not(places, found, machine);
}

report::View started_view(std::span<const Started> started) {
  report::View out{.data = {{"started", Json::array()}}};
  for (const Started& s : started) {
    out.data["started"].push_back({{"place", s.place}, {"detail", s.detail}, {"ok", s.is_ok}});
    out.text += fmt::format("{}: {}{}\n", s.place, s.is_ok ? "" : "failed: ", s.detail);
  }
  return out;
}

report::View text_view(const std::string& text) { return {.data = {{"text", text}}, .text = text}; }

}  // namespace halmark::fleet
