// Fabric files as tests write them: by words, and at random link by link.
#pragma once

#include "tests/unit/simulate/suite.hpp"

namespace halmark::fabric::test {

inline std::string figure_text(const std::string& transport, double latency_us,
                               double bandwidth_gbs) {
  return "transport = \"" + transport + "\"\nlatency_us = " + std::to_string(latency_us) +
         "\nbandwidth_gbs = " + std::to_string(bandwidth_gbs) + "\nsource = \"test\"\n";
}

inline std::string torus_text(const std::string& kind, const std::string& shape, int devices,
                              double bandwidth_gbs) {
  return "id = \"t\"\nname = \"t\"\n[node]\ndevices = " + std::to_string(devices) +
         "\n[scale_up]\nkind = \"" + kind + "\"\nshape = \"" + shape + "\"\n" +
         figure_text("ici", 1, bandwidth_gbs);
}

// Two tiers: every device of a node has an adapter of its own.
inline std::string leaf_spine_text(int nodes, int per_leaf, int spines, int uplinks) {
  return "id = \"l\"\nname = \"l\"\n[node]\ncount = " + std::to_string(nodes) +
         "\ndevices = 1\n[node.host]\n" + figure_text("pcie", 0.5, 64) +
         "[network]\nkind = \"leaf_spine\"\nnodes_per_leaf = " + std::to_string(per_leaf) +
         "\nspines = " + std::to_string(spines) + "\nuplinks = " + std::to_string(uplinks) + "\n" +
         figure_text("ib", 1, 50) + "[network.uplink]\n" + figure_text("ib", 0.5, 50);
}

// Switches as a random tree with further links, parallel ones too; each device on one to three of
// them. Devices forward nothing, every fifth link is half duplex.
inline std::string random_text(std::uint64_t seed, int devices, int switches) {
  std::mt19937_64 random(seed);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  std::string out = "id = \"r\"\nname = \"r\"\n";
  const auto add = [&](const std::string& name, const std::string& kind) {
    out += "[[entity]]\nname = \"" + name + "\"\nkind = \"" + kind + "\"\n";
  };
  const auto join = [&](const std::string& from, const std::string& to) {
    out += "[[link]]\nfrom = \"" + from + "\"\nto = \"" + to +
           "\"\ncables = " + std::to_string(1 + below(3)) + "\n" +
           (below(5) == 0 ? "duplex = \"half\"\n" : "") +
           figure_text("ib", 1 + below(4), 1 + below(9));
  };
  const auto device = [](int i) { return "d" + std::to_string(i); };
  const auto hub = [](int i) { return "s" + std::to_string(i); };
  for (int i = 0; i < devices; ++i) add(device(i), "device");
  for (int i = 0; i < switches; ++i) add(hub(i), "switch");
  for (int i = 1; i < switches; ++i) join(hub(below(i)), hub(i));
  for (int i = 0; i < switches; ++i) {
    const int other = below(switches);
    if (other != i) join(hub(i), hub(other));
  }
  for (int i = 0; i < devices; ++i) {
    for (int links = 1 + below(3); links > 0; --links) join(device(i), hub(below(switches)));
  }
  return out;
}

}  // namespace halmark::fabric::test
