// What collectives and transfers cost over a fabric: a source between tables and the roofline.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "latency/placed_source.hpp"
#include "roofline/ceilings.hpp"
#include "simulate/collectives/known_systems.hpp"
#include "simulate/fabric/topology.hpp"
#include "simulate/group_levels.hpp"
#include "tune/sources/library_time.hpp"

namespace halmark::tune {

// Ranks of one group inside a level of NVLink or PCIe whose rate is at most a factor of two from
// one that was measured: the curves of measured systems, with their interval. All else:
// library_time over the levels that the group spans, and where its innermost part has a curve never
// below that. One thread.
class FabricSource final : public PlacedSource {
 public:
  // `ceilings`: of the device that the ranks are, whose bound no figure is below. `adds_in_switch`:
  // its link has switches that add. Throws as simulate::fabric_levels_of does.
  FabricSource(const fabric::Topology& topology, roofline::Ceilings ceilings, bool adds_in_switch);

  using PlacedSource::latency;
  // Provenance fabric, the way chosen as implementation. Nothing for what is no collective, for one
  // rank, and where the fabric is too small.
  std::optional<Latency> latency(const Problem& problem, const Work& work,
                                 std::int64_t stride) const override;

  // Of one rank, one direction, over the outermost level that `devices` of the fabric span; 0 of
  // one device.
  double bytes_per_s(std::int64_t devices) const;
  std::int64_t devices() const { return whole_.ranks(); }

 private:
  // What one group of ranks has.
  struct Group {
    simulate::GroupLevels levels;
    std::vector<fabric::Transport> transports;  // of each
    std::int64_t inner_ranks = 0;               // in its innermost level and those like it
    bool is_inner = false;                      // and that is all of them
    std::optional<simulate::Wire> inner;  // of measured systems, where the innermost level fits
    double inner_bytes_per_s = 0;
  };
  const std::optional<Group>& group(std::int64_t ranks, std::int64_t stride) const;
  std::optional<Group> made(std::int64_t ranks, std::int64_t stride) const;
  std::optional<LibraryTime> by_curve(simulate::Collective collective, double bytes,
                                      const Group& group) const;

  std::string id_;
  roofline::Ceilings ceilings_;
  bool adds_in_switch_;
  simulate::FabricLevels whole_;
  std::vector<fabric::Transport> transports_;  // by level of whole_
  mutable std::map<std::pair<std::int64_t, std::int64_t>, std::optional<Group>> groups_;
  mutable std::map<std::pair<simulate::Collective, double>, std::optional<simulate::CollectiveFit>>
      fits_;  // by collective and rate
};

}  // namespace halmark::tune
