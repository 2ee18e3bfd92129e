#include "simulate/fabric/plan_reader.hpp"

#include <charconv>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark::fabric {
namespace {

constexpr std::int64_t count_max = 65536;
constexpr double gigabyte = 1e9, ns_per_us = 1e3;

int count_or(const TomlTable& table, std::string_view key, int fallback) {
  return as_int(table.integer_or(key, 1, count_max, fallback));
}

Duplex read_duplex(const TomlTable& table) {
  if (!table.has("duplex")) return Duplex::full;
  const std::string text = table.choice("duplex", {"full", "half", "one_way"});
  return text == "full" ? Duplex::full : text == "half" ? Duplex::half : Duplex::one_way;
}

std::optional<StatedFigure> figure_if(const TomlTable& table, const std::string& section,
                                      const std::string& key, int ends) {
  const auto child = table.table(key);
  if (!child) return std::nullopt;
  return read_figure(*child, section + '.' + key, ends);
}

NodePlan read_node(const TomlTable& table) {
  NodePlan out{.count = count_or(table, "count", 1),
               .devices = as_int(table.integer("devices", 1, count_max)),
               .numa = count_or(table, "numa", 1),
               .where = table.where("devices")};
  if (out.numa > out.devices) {
    throw refused(std::to_string(out.numa) + " NUMA domains, but " + std::to_string(out.devices) +
                      " devices to stand in them",
                  table.where("numa"), "at most one domain per device");
  }
  out.host = figure_if(table, "node", "host", 2);
  out.between_numa = figure_if(table, "node", "between_numa", 2);
  if (out.host && out.numa > 1 && !out.between_numa) {
    throw refused("nothing joins the " + std::to_string(out.numa) + " NUMA domains",
                  table.where("numa"), "add [node.between_numa]");
  }
  return out;
}

// "16x16x24": a list could not say the same length twice.
std::vector<int> read_shape(const TomlTable& table) {
  const std::string text = table.string("shape");
  std::vector<int> out;
  const char* at = text.data();
  const char* const end = at + text.size();
  for (;;) {
    int length = 0;
    const auto [rest, error] = std::from_chars(at, end, length);
    if (error != std::errc() || length < 1 || length > count_max) break;
    out.push_back(length);
    if (rest == end) return out;
    if (*rest != 'x') break;
    at = rest + 1;
  }
  throw refused("'" + printable(text) + "' is no shape of a torus", table.where("shape"),
                "lengths with x between them, as in \"4x4x8\"");
}

ScaleUpPlan read_scale_up(const TomlTable& table) {
  using Kind = ScaleUpPlan::Kind;
  const std::string kind = table.choice("kind", {"switch", "two_tier", "torus", "mesh"});
  const bool is_torus = kind == "torus" || kind == "mesh";
  ScaleUpPlan out{.kind = is_torus             ? Kind::torus
                          : kind == "two_tier" ? Kind::two_tier
                                               : Kind::one_switch,
                  .wraps = kind != "mesh",
                  .link = read_figure(table, "scale_up", is_torus ? 2 : 1),
                  .where = table.where(is_torus ? "shape" : "nodes")};
  if (is_torus) {
    out.dims = read_shape(table);
  } else {
    out.nodes = count_or(table, "nodes", 1);
  }
  if (out.kind != Kind::two_tier) return out;
  out.uplink = figure_if(table, "scale_up", "uplink", 0);
  if (!out.uplink) {
    throw refused("nothing joins the switches of the nodes", table.where("kind"),
                  "add [scale_up.uplink], or use kind = \"switch\"");
  }
  return out;
}

// What is stated of oversubscription has to follow from the cables.
void check_oversubscription(const TomlTable& table, const NetworkPlan& plan) {
  if (!table.has("oversubscription")) return;
  const double stated = table.number("oversubscription", 1e-3, 1e3);
  const int below = plan.nodes_per_leaf * (plan.kind == NetworkPlan::Kind::rail ? 1 : plan.nics);
  const double down = below * plan.link.figure.bytes_per_s;
  const double up = plan.uplinks * plan.uplink->figure.bytes_per_s;
  if (std::abs(down / up - stated) <= 0.01 * stated) return;
  throw refused("oversubscription is " + number_text(stated) + ", but " + std::to_string(below) +
                    " x " + number_text(plan.link.figure.bytes_per_s / gigabyte) +
                    " GB/s below and " + std::to_string(plan.uplinks) + " x " +
                    number_text(plan.uplink->figure.bytes_per_s / gigabyte) + " GB/s above make " +
                    number_text(down / up, 4),
                table.where("oversubscription"), "correct the figure or the cables");
}

NetworkPlan read_network(const TomlTable& table) {
  using Kind = NetworkPlan::Kind;
  const std::string kind = table.choice("kind", {"leaf", "leaf_spine", "rail"});
  NetworkPlan out{.kind = kind == "leaf"   ? Kind::leaf
                          : kind == "rail" ? Kind::rail
                                           : Kind::leaf_spine,
                  .nics = count_or(table, "nics", 1),
                  .link = read_figure(table, "network", 1),
                  .where = table.where("kind")};
  if (!is_network(out.link.figure.transport)) {
    throw refused(
        std::string(transport_name(out.link.figure.transport)) + " is no transport of a network",
        table.where("transport"), "ib, roce or tcp");
  }
  out.uplink = figure_if(table, "network", "uplink", 0);
  if (table.has("ecmp")) out.ecmp = *parse_ecmp(table.choice("ecmp", ecmp_names()));
  if (out.kind == Kind::leaf) return out;
  out.nodes_per_leaf = as_int(table.integer("nodes_per_leaf", 1, count_max));
  out.spines = as_int(table.integer("spines", 1, count_max));
  out.uplinks = as_int(table.integer("uplinks", 1, count_max));
  if (!out.uplink) {
    throw refused("nothing joins leaves and spines", table.where("kind"), "add [network.uplink]");
  }
  check_oversubscription(table, out);
  return out;
}

}  // namespace

StatedFigure read_figure(const TomlTable& table, std::string name, int ends) {
  StatedFigure out{.where = table.where("transport"), .latency_where = table.where("latency_us")};
  LinkFigure& figure = out.figure;
  figure.name = std::move(name);
  figure.transport = *parse_transport(table.choice("transport", transport_names()));
  figure.latency_ns = table.number("latency_us", 0, 1e7) * ns_per_us;
  figure.bytes_per_s = table.number("bandwidth_gbs", 1e-6, 1e6) * gigabyte;
  figure.duplex = read_duplex(table);
  if (is_network(figure.transport)) figure.length_km = table.number_or("length_km", 0, 40000, 0);
  figure.source = table.string("source");
  const double floor = latency_floor_ns(figure.transport, ends, figure.length_km);
  if (figure.latency_ns < floor * (1 - 1e-9)) {
    const std::string over =
        figure.length_km > 0 ? " and " + number_text(figure.length_km) + " km of fibre" : "";
    throw refused("implausible_latency: " + number_text(figure.latency_ns / ns_per_us) +
                      " us one way over " + std::string(transport_name(figure.transport)) + over +
                      ", which takes at least " + number_text(floor / ns_per_us, 4) + " us here",
                  out.latency_where, "correct the latency or the transport");
  }
  return out;
}

FabricPlan read_plan(const TomlTable& root) {
  FabricPlan out;
  for (const char* section : {"scale_up", "network", "wan"}) {
    if (root.has("node") || !root.has(section)) continue;
    throw refused("[" + std::string(section) + "] joins nodes, and there are none",
                  root.where(section), "add [node] with count and devices");
  }
  if (const auto node = root.table("node")) out.node = read_node(*node);
  if (const auto scale_up = root.table("scale_up")) out.scale_up = read_scale_up(*scale_up);
  if (const auto network = root.table("network")) out.network = read_network(*network);
  const auto wan = root.table("wan");
  if (!wan) return out;
  if (!out.network) {
    throw refused("sites are joined by their networks", wan->where("sites"), "add [network]");
  }
  out.wan = WanPlan{.sites = as_int(wan->integer("sites", 2, 64)),
                    .cables = count_or(*wan, "cables", 1),
                    .link = read_figure(*wan, "wan", 0),
                    .where = wan->where("sites")};
  return out;
}

}  // namespace halmark::fabric
