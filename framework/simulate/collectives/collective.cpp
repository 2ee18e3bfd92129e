#include "simulate/collectives/collective.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/text/enum_names.hpp"
#include "roofline/links.hpp"

namespace halmark::simulate {
namespace {

struct Named {
  Collective collective;
  std::string_view name;
  Exchange exchange;
};

constexpr std::array table{
    Named{Collective::all_reduce, "all_reduce", Exchange::reduce},
    Named{Collective::all_gather, "all_gather", Exchange::gather},
    Named{Collective::reduce_scatter, "reduce_scatter", Exchange::gather},
    Named{Collective::all_to_all, "all_to_all", Exchange::personal},
    Named{Collective::broadcast, "broadcast", Exchange::copy},
    Named{Collective::send_recv, "send_recv", Exchange::shift},
};
static_assert(has_row_of_each(table, &Named::collective));

constexpr std::array all{Collective::all_reduce, Collective::all_gather, Collective::reduce_scatter,
                         Collective::all_to_all, Collective::broadcast,  Collective::send_recv};
static_assert(all.size() == table.size());

const Named& row_of(Collective collective) { return table[as_size(collective)]; }

}  // namespace

std::span<const Collective> all_collectives() { return all; }

std::string_view collective_name(Collective collective) { return row_of(collective).name; }

std::optional<Collective> collective_named(std::string_view name) {
  for (const Named& row : table) {
    if (row.name == name) return row.collective;
  }
  return std::nullopt;
}

double bus_factor(Collective collective, double ranks) {
  if (ranks <= 1) return 0;
  switch (collective) {
    case Collective::all_reduce:
      return 2 * (ranks - 1) / ranks;
    case Collective::all_gather:
    case Collective::reduce_scatter:
    case Collective::all_to_all:
      return (ranks - 1) / ranks;
    case Collective::broadcast:
    case Collective::send_recv:
      break;
  }
  return 1;
}

Work collective_work(Collective collective, double bytes, std::int64_t ranks) {
  const auto n = as_double(ranks);
  return {.message_bytes = bytes,
          .transfer_bytes = bytes * bus_factor(collective, n),
          .exchange = ranks > 1 ? row_of(collective).exchange : Exchange::none};
}

double collective_bound_s(Collective collective, double bytes, const FabricLevels& fabric) {
  const std::int64_t ranks = fabric.ranks();
  if (ranks <= 1) return 0;
  std::vector<FabricLevel> levels;
  std::ranges::copy_if(fabric.levels, std::back_inserter(levels),
                       [](const FabricLevel& level) { return level.ranks > 1; });
  Link link{.name = "innermost level", .bytes_per_s = levels.front().bytes_per_s};
  link.reduces_in_switch = levels.front().in_switch_ranks_min > 0;
  std::optional<double> network;
  double beside = 0;  // of the network, what leaves by other adapters than those of the link
  bool is_of_link = true;
  for (std::size_t i = 1; i < levels.size(); ++i) {
    is_of_link = is_of_link && levels[i].shares_adapter;
    link.domain_devices = levels.front().ranks;
    network = network.value_or(0) + levels[i].bytes_per_s;
    if (!is_of_link) beside += levels[i].bytes_per_s;
  }
  Device device;
  device.links = {link};
  const roofline::Links links(device, network);
  double bound = 0;
  for (const roofline::Passage& p : links.least(collective_work(collective, bytes, ranks), ranks)) {
    double rate = link.bytes_per_s;
    if (p.over == roofline::Passage::Over::network) rate = network.value_or(rate);
    if (p.over == roofline::Passage::Over::both) rate += beside;
    bound = std::max(bound, p.bytes / rate);
  }
  return bound;
}

}  // namespace halmark::simulate
