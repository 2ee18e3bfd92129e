// The collectives by name, and the least time that roofline allows each over the levels of a
// fabric. Sizes are those of nccl-tests: one rank's buffer of all_reduce, broadcast and send_recv;
// what all ranks hold together of all_gather and reduce_scatter; one rank's buffer of all_to_all.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/work.hpp"
#include "simulate/collectives/fabric_levels.hpp"

namespace halmark::simulate {

enum class Collective {
  all_reduce,
  all_gather,
  reduce_scatter,
  all_to_all,
  broadcast,
  send_recv,
};

std::span<const Collective> all_collectives();
std::string_view collective_name(Collective collective);
std::optional<Collective> collective_named(std::string_view name);

// busbw / algbw (nccl-tests, doc/PERFORMANCE.md); 0 of one rank.
double bus_factor(Collective collective, double ranks);

// Message, transfer and exchange of `bytes` over `ranks`; nothing else.
Work collective_work(Collective collective, double bytes, std::int64_t ranks);

// roofline::Links::least over the innermost level as the link and all levels outside of it together
// as the network: each may have adapters of its own, unless it says that it shares them. 0 of one
// rank.
double collective_bound_s(Collective collective, double bytes, const FabricLevels& fabric);

}  // namespace halmark::simulate
