#include "tune/shards/shard_times.hpp"

#include <algorithm>
#include <utility>

#include "core/lists.hpp"
#include "core/text/units.hpp"
#include "roofline/ceilings.hpp"
#include "roofline/estimate.hpp"
#include "simulate/fabric/routes.hpp"
#include "tune/sources/fabric_source.hpp"

namespace halmark::tune {
namespace {

int threads_of(const Device& device) {
  int out = 0;
  for (const Peak& peak : device.peaks) out = std::max(out, peak.threads);
  return out;
}

}  // namespace

ShardOf shard_of(const Device& device, std::int64_t shards) {
  const std::int64_t parts = device.is_measured && device.kind == "cpu" ? shards : 1;
  ShardOf out;
  out.share.parts = as_int(parts);
  if (parts > 1) {
    out.share.threads = std::max(1, threads_of(device) / as_int(parts));
  }
  if (device.memory_bytes > 0) out.memory_bytes = device.memory_bytes / parts;
  return out;
}

simulate::OperatorTime shard_times(const Device& device, const ShardOf& shard,
                                   const fabric::Topology* topology) {
  auto rates = std::make_shared<RooflineRates>(device, shard.share);
  std::shared_ptr<FabricSource> fabric;
  if (topology != nullptr) {
    fabric = std::make_shared<FabricSource>(
        *topology, roofline::Ceilings(device, shard.share.threads, shard.share.parts),
        roofline::Links(device, std::nullopt).reduces_in_switch);
  }
  return [rates, fabric](const Operator& op) -> std::optional<double> {
    if (op.kind != OperatorKind::collective) return rates->local_ns(op.rank_work);
    const std::int64_t ranks = op.local.params.value_or("ranks", 1);
    if (fabric) {
      const auto latency = fabric->latency(op.local, op.local_work, op.group_stride);
      if (latency) return latency->ns;
    }
    return rates->ns(op.local_work, ranks);
  };
}

simulate::OperatorTime chain_times(std::shared_ptr<const PricedLatencies> known) {
  return [known = std::move(known)](const Operator& op) -> std::optional<double> {
    const auto latency = latency_of(known->chain, op);
    if (!latency || !has_latency(latency->status)) return std::nullopt;
    return latency->ns;
  };
}

simulate::OperatorTime over_route(simulate::OperatorTime time, const fabric::Topology& topology,
                                  std::int64_t from, std::int64_t to) {
  const std::vector<int> devices = topology.devices();
  const int source = devices.at(as_size(from));
  const fabric::Router router(topology);
  const fabric::RouteTree tree = router.to(devices.at(as_size(to)));
  const fabric::Route route = router.route(tree, source);
  if (route.links.empty()) return time;
  return [time = std::move(time), latency_ns = route.latency_ns,
          bytes_per_s = route.bytes_per_s](const Operator& op) -> std::optional<double> {
    if (op.kind != OperatorKind::collective || op.split != Split::pipeline) return time(op);
    return latency_ns + op.local_work.message_bytes / bytes_per_s * ns_per_s;
  };
}

}  // namespace halmark::tune
