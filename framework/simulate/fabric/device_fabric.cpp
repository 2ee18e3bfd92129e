#include "simulate/fabric/device_fabric.hpp"

#include <algorithm>
#include <array>

#include "core/text/error.hpp"
#include "simulate/fabric/fabric_plan.hpp"

namespace halmark::fabric {
namespace {

struct LinkWord {
  std::string_view word;
  Transport transport;
};

// By what device files call their links: the word that stands first in a name counts ("PCIe4 x16
// (pair NVLink bridge 300)" is PCIe). A name without any of them is taken for PCIe.
constexpr std::array link_words = {
    LinkWord{"NVLink", Transport::nvlink},  LinkWord{"PCIe", Transport::pcie},
    LinkWord{"xGMI", Transport::xgmi},      LinkWord{"ICI", Transport::ici},
    LinkWord{"Unified Bus", Transport::ub}, LinkWord{"HCCS", Transport::ub},
    LinkWord{"GbE RoCE", Transport::roce},  LinkWord{"GbE", Transport::tcp},
    LinkWord{"NeuronLink", Transport::ici}};

Transport transport_of(const std::string& name) {
  const auto place = [&](const LinkWord& w) { return name.find(w.word); };
  const LinkWord& first = *std::ranges::min_element(link_words, {}, place);
  return place(first) == std::string::npos ? Transport::pcie : first.transport;
}

constexpr const char* remedy = "name what joins them: --fabric NAME (halmark fabric show)";

}  // namespace

Topology device_fabric(const Device& device, std::int64_t devices) {
  Topology out{.id = own_link, .profile = "full", .device = device.id};
  FabricPlan plan;
  plan.node.devices = static_cast<int>(devices);
  const auto link = std::ranges::max_element(device.links, {}, &halmark::Link::bytes_per_s);
  if (devices > 1) {
    if (link == device.links.end()) {
      throw refused(device.id + " states no link to others of its kind", "--fabric", remedy);
    }
    const std::int64_t joined = link->domain_devices.value_or(devices);
    if (devices > joined) {
      throw refused(link->name + " joins " + std::to_string(joined) + " of " + device.id +
                        ", and " + std::to_string(devices) + " are wanted",
                    "--fabric", remedy);
    }
    const Transport transport = transport_of(link->name);
    out.name = link->name;
    plan.scale_up = {.link = {.figure = {.name = "scale_up",
                                         .transport = transport,
                                         .latency_ns = latency_floor_ns(transport, 1, 0),
                                         .bytes_per_s = link->bytes_per_s,
                                         .source = link->source}}};
  }
  expand(plan, out);
  if (out.levels.empty() && devices > 1) out.levels.push_back({"all", {out.devices()}});
  return out;
}

}  // namespace halmark::fabric
