// What is printed beside the closed form of a collective: what measured systems with such links
// took, and what its events over the links of the topology take.
#pragma once

#include "core/json/json.hpp"
#include "simulate/collectives/known_systems.hpp"
#include "simulate/traffic/contention.hpp"

namespace halmark::pages {

class CollectiveColumns {
 public:
  // Nothing beside it.
  CollectiveColumns() = default;
  // `of_group`: the levels of one of `groups` groups. Refers to the topology.
  CollectiveColumns(const fabric::Topology& topology, const simulate::FabricLevels& of_group,
                    bool simulates, std::int64_t groups);

  std::vector<std::string> titles() const;
  // As many cells as titles; keys of the row are added to `data`.
  std::vector<std::string> cells(simulate::Collective collective, double bytes,
                                 const simulate::ChosenCollective& best, Json& data) const;
  // Lines below the table, and the same as keys of the document.
  std::string note() const;
  Json json() const;

 private:
  void add_measured(simulate::Collective collective, double bytes, Json& data,
                    std::vector<std::string>& cells) const;
  void add_events(simulate::Collective collective, double bytes,
                  const simulate::ChosenCollective& best, Json& data,
                  std::vector<std::string>& cells) const;

  const fabric::Topology* topology_ = nullptr;
  simulate::FabricLevels of_group_;
  bool simulates_ = false;
  traffic::Contention contention_;
  // The wire that measured systems have as well; of one node alone.
  std::optional<simulate::Wire> wire_;
};

}  // namespace halmark::pages
