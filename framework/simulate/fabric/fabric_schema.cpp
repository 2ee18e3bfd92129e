#include "simulate/fabric/fabric_schema.hpp"

#include "simulate/fabric/fabric_file.hpp"
#include "simulate/fabric/transport.hpp"

namespace halmark::fabric {
namespace {

// Words and counts with every key, single entities, and a torus, which has keys of its own.
constexpr const char* words = R"toml(id = "f"
name = "n"
profile = "full"
device = "h100-sxm"
notes = ["n"]
[node]
count = 2
devices = 2
numa = 2
[node.host]
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
[node.between_numa]
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
[scale_up]
kind = "two_tier"
nodes = 1
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
[scale_up.uplink]
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
[network]
kind = "leaf_spine"
nics = 2
ecmp = "ECMP"
nodes_per_leaf = 1
spines = 1
uplinks = 1
oversubscription = 2
transport = "tcp"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
length_km = 0
[network.uplink]
transport = "tcp"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
length_km = 0
[wan]
sites = 2
cables = 1
transport = "tcp"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
length_km = 0
[[tier]]
name = "device"
scope = "device"
bytes = 1
read_gbs = 1
latency_us = 1
source = "s"
)toml";

constexpr const char* single = R"toml(id = "f"
name = "n"
[[entity]]
name = "a"
kind = "device"
[[entity]]
name = "b"
kind = "device"
[[link]]
from = "a"
to = "b"
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
[[group]]
level = "l"
members = ["a", "b"]
)toml";

constexpr const char* torus = R"toml(id = "f"
name = "n"
[node]
devices = 1
count = 4
[scale_up]
kind = "torus"
shape = "2x2"
transport = "pcie"
latency_us = 100
bandwidth_gbs = 50
duplex = "full"
source = "s"
)toml";

constexpr KeyMeaning fabric_meanings[] = {
    {"id", "how commands name it"},
    {"name", "in words"},
    {"profile", "lite: at most 2 devices on one leaf without RDMA"},
    {"device", "id of the devices that stand in it"},
    {"notes", "sentences for a reader"},
    {"node", "servers, all alike"},
    {"count", "how many"},
    {"node.devices", "devices of each"},
    {"numa", "NUMA domains of each"},
    {"host", "from a device to its host"},
    {"between_numa", "between the domains of a node"},
    {"scale_up", "what joins devices closely"},
    {"kind", "its shape"},
    {"nodes", "nodes that one domain joins"},
    {"shape", "lengths of a torus or mesh, as \"4x4x8\""},
    {"uplink", "between switches of one tier and the next"},
    {"network", "what joins nodes"},
    {"nics", "network ports of each node"},
    {"ecmp", "how flows choose among equal ways"},
    {"nodes_per_leaf", "nodes below one leaf switch"},
    {"spines", "spine switches"},
    {"uplinks", "cables from one leaf to the spines"},
    {"oversubscription",
     "bandwidth below a leaf over that above; refused where the cables say otherwise"},
    {"wan", "what joins sites"},
    {"sites", "how many"},
    {"cables", "in parallel"},
    {"transport", "how data is carried; each has a least latency"},
    {"latency_us", "microseconds of an empty message, one way"},
    {"bandwidth_gbs", "GB/s, one way"},
    {"duplex", "both ways at once, one at a time, or one way only"},
    {"length_km", "kilometres of fibre, of a network"},
    {"source", "where the figures are from"},
    {"tier", "a memory"},
    {"tier[].name", "which"},
    {"scope", "what has one: each device, NUMA domain or node"},
    {"bytes", "its capacity"},
    {"read_gbs", "GB/s of reading"},
    {"write_gbs", "GB/s of writing; that of reading where absent"},
    {"tier[].latency_us", "microseconds until the first byte"},
    {"entity", "a single device, host, network port or switch"},
    {"entity[].kind", "what it is"},
    {"entity[].node", "node that it stands in"},
    {"entity[].numa", "NUMA domain that it stands in"},
    {"forwards", "messages of others go through it; devices do not where absent"},
    {"link", "a single link"},
    {"from", "an entity"},
    {"to", "an entity"},
    {"group", "devices of one group of a level"},
    {"level", "name of the level"},
    {"members", "its devices"},
};

}  // namespace

FileSchema fabric_schema() {
  KnownKeys keys;
  {
    const KeyWatch watch(keys);
    std::string text = words;
    text.replace(text.find("ECMP"), 4, ecmp_names().front());
    for (const std::string& one : {text, std::string(single), std::string(torus)}) {
      parse_fabric(one, "fabric");
    }
  }
  return {"fabric", "a fabric", "Examples: `configs/fabrics`, shown by `halmark fabric`.",
          keys_with_values(std::move(keys)), fabric_meanings};
}

}  // namespace halmark::fabric
