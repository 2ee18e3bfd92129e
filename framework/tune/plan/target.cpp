#include "tune/plan/target.hpp"

#include <algorithm>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::tune {

namespace {

constexpr std::int64_t ring_bytes_max = 512ll << 20;
// Before `peaks` has found it: enough on the machines seen so far.
constexpr std::int64_t plateau_prior_bytes = 256ll << 20;

}  // namespace

std::int64_t Target::ring_bytes(int ranks) const {
  const std::int64_t plateau = measured && measured->ring_plateau_bytes
                                   ? *measured->ring_plateau_bytes
                                   : plateau_prior_bytes;
  return std::min({plateau, ring_bytes_max, memory_bytes / 4 / ranks});
}

BoundingDevice Target::bounding() const {
  return {.device = measured ? &*measured : nullptr, .threads = cores};
}

StackPlacement Target::placement(int ranks) const {
  if (!is_shared()) return {.backend = backend, .parts = 1};
  return {.backend = backend,
          .device = device,
          .parts = std::min(ranks_here(ranks), cores),
          .ring_bytes = ring_bytes(ranks_here(ranks)),
          .mode = in_stack ? CacheMode::in_stack : CacheMode::rotate_const,
          .winners = &winners,
          .per_node = is_spread(ranks) ? ranks_per_node : 0};
}

DeviceFacts Target::facts(int ranks) const {
  if (!is_shared()) {
    return {.measured = measured, .datasheet = datasheet, .asks_energy = asks_energy};
  }
  return {.measured = measured,
          .datasheet = datasheet,
          .shard = {.threads = std::max(1, cores / ranks_here(ranks)), .parts = ranks_here(ranks)},
          .asks_energy = asks_energy};
}

const Target& Target::of(const ShardPlace& place) const {
  for (const Target& target : named) {
    if (target.backend == place.backend && target.device == place.device) return target;
  }
  throw refused("nothing is known of device " + place.device_text(), {},
                "halmark devices lists what is here");
}

namespace {

// Ranks that lie on the device of `place`.
int ranks_beside(const Configuration& configuration, const ShardPlace& place) {
  return as_int(
      std::ranges::count(configuration.places, place.device_text(), &ShardPlace::device_text));
}

}  // namespace

StackPlacement Target::placement(const Configuration& configuration) const {
  if (configuration.places.empty()) return placement(configuration.devices());
  StackPlacement out{.mode = in_stack ? CacheMode::in_stack : CacheMode::rotate_const,
                     .winners = &winners};
  for (const ShardPlace& place : configuration.places) {
    const int at_once = ranks_beside(configuration, place);
    out.ranks.push_back({.backend = place.backend,
                         .device = place.device,
                         .parts = place.parts,
                         .at_once = at_once,
                         .ring_bytes = of(place).ring_bytes(at_once)});
  }
  return out;
}

DeviceFacts Target::facts(const Configuration& configuration) const {
  if (configuration.places.empty()) return facts(configuration.devices());
  DeviceFacts out{.asks_energy = asks_energy};
  for (const ShardPlace& place : configuration.places) {
    const Target& device = of(place);
    const int threads = device.is_apart ? 0 : std::max(1, device.cores / place.parts);
    out.of_ranks.push_back({.measured = device.measured,
                            .datasheet = device.datasheet,
                            .shard = {.threads = threads, .parts = place.parts}});
  }
  return out;
}

// Devices without memory of their own share the host's.
std::int64_t Target::memory_of_rank(const Configuration& configuration, int rank) const {
  if (configuration.places.empty()) return memory_of_rank(configuration.devices());
  const ShardPlace& place = configuration.places[as_size(rank)];
  const Target& device = of(place);
  if (device.is_apart) return device.memory_bytes / ranks_beside(configuration, place);
  const auto in_host = std::ranges::count_if(
      configuration.places, [this](const ShardPlace& p) { return !of(p).is_apart; });
  return device.memory_bytes / in_host;
}

}  // namespace halmark::tune
