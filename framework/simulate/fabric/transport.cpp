#include "simulate/fabric/transport.hpp"

#include <array>

#include "core/text/enum_names.hpp"

namespace halmark::fabric {
namespace {

struct Row {
  Transport transport;
  std::string_view name;
  double end_ns;     // least share of one end that is no switch: adapter, bus or software
  double switch_ns;  // least of a link between two switches
};

// Kernel TCP: a round trip takes 20 to 60 us, and two system calls with an interrupt at each end
// never less than 5 us, so 1.25 us an end. RDMA: about 2 us a round trip through one switch.
// Switches: InfiniBand port 0.1 to 0.25 us, Ethernet 0.4 to 0.6 us (cut-through parts 0.2). PCIe: a
// posted write takes 150 ns and more. Links within a domain: a hop of NVLink, xGMI, ICI or UB costs
// hundreds of ns; between caches of one socket, tens.
constexpr std::array rows = {Row{Transport::shared_memory, "shared_memory", 10, 10},
                             Row{Transport::pcie, "pcie", 50, 50},
                             Row{Transport::nvlink, "nvlink", 100, 100},
                             Row{Transport::xgmi, "xgmi", 50, 50},
                             Row{Transport::ici, "ici", 50, 50},
                             Row{Transport::ub, "ub", 100, 100},
                             Row{Transport::ib, "ib", 250, 90},
                             Row{Transport::roce, "roce", 250, 200},
                             Row{Transport::tcp, "tcp", 1250, 200}};
static_assert(has_row_of_each(rows, &Row::transport));

// Light in fibre: refractive index 1.468 (Corning SMF-28, 1550 nm), 299,792.458 km/s.
constexpr double fibre_ns_per_km = 1.468 / 299792.458 * 1e9;

const Row& row_of(Transport transport) { return rows[static_cast<std::size_t>(transport)]; }

}  // namespace

std::string_view transport_name(Transport transport) { return row_of(transport).name; }

std::optional<Transport> parse_transport(std::string_view text) {
  for (const Row& row : rows) {
    if (row.name == text) return row.transport;
  }
  return std::nullopt;
}

std::vector<std::string> transport_names() {
  std::vector<std::string> out;
  for (const Row& row : rows) out.emplace_back(row.name);
  return out;
}

bool is_rdma(Transport transport) {
  return transport == Transport::ib || transport == Transport::roce;
}

bool is_network(Transport transport) { return is_rdma(transport) || transport == Transport::tcp; }

double latency_floor_ns(Transport transport, int ends, double length_km) {
  const Row& row = row_of(transport);
  return (ends == 0 ? row.switch_ns : row.end_ns * ends) + length_km * fibre_ns_per_km;
}

}  // namespace halmark::fabric
