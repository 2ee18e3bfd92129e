#include "simulate/fabric/fabric_text.hpp"

#include <algorithm>

#include "core/json/json.hpp"
#include "core/text/text.hpp"

namespace halmark::fabric {
namespace {

constexpr double us = 1e-6, gb = 1e9;

// Strings of JSON are strings of TOML.
std::string quoted(const std::string& text) { return Json(text).dump(); }

// TOML's floats have a digit on either side of the point, integers need none.
std::string number(double value) { return number_text(value, 7); }

std::string link_text(const MeasuredLink& link, double latency_s) {
  return "transport = " + quoted(std::string(transport_name(link.transport))) +
         "\nlatency_us = " + number(latency_s / us) +
         "\nbandwidth_gbs = " + number(link.bytes_per_s / gb) +
         "\nsource = " + quoted(link.source) + '\n';
}

std::string tier_text(const MeasuredTier& tier) {
  std::string out = "\n[[tier]]\nname = " + quoted(tier.name) +
                    "\nscope = \"node\"\nbytes = " + std::to_string(tier.bytes) +
                    "\nread_gbs = " + number(tier.read_bytes_per_s / gb) + '\n';
  if (tier.write_bytes_per_s > 0) {
    out += "write_gbs = " + number(tier.write_bytes_per_s / gb) + '\n';
  }
  return out + "latency_us = " + number(tier.latency_s / us) + "\nsource = " + quoted(tier.source) +
         '\n';
}

}  // namespace

std::string fabric_text(const MeasuredFabric& fabric) {
  std::string out = "# Written by halmark fabric probe.\nid = " + quoted(fabric.id) +
                    "\nname = " + quoted(fabric.name) + '\n';
  if (!fabric.notes.empty()) out += "notes = " + Json(fabric.notes).dump() + '\n';
  const int nodes = fabric.network ? 2 : 1, devices = fabric.network ? 1 : fabric.devices;
  out += "\n[node]\ncount = " + std::to_string(nodes) + "\ndevices = " + std::to_string(devices) +
         "\n\n[node.host]\n" + link_text(fabric.inside, fabric.inside.latency_s / 2);
  if (fabric.network) {
    // The links inside of both machines are part of what was measured.
    const double rest = fabric.network->latency_s - fabric.inside.latency_s;
    const double least = latency_floor_ns(fabric.network->transport, 1, 0) * 1e-9;
    out += "\n[network]\nkind = \"leaf\"\n" + link_text(*fabric.network, std::max(least, rest / 2));
  }
  for (const MeasuredTier& tier : fabric.tiers) out += tier_text(tier);
  return out;
}

}  // namespace halmark::fabric
