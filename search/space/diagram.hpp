// A decision diagram over the numbered domains of a space: which levels may follow a prefix, and
// how many valid points lie below. Prefixes that the rest of the rules cannot tell apart share a
// node.
#pragma once

#include <map>
#include <unordered_map>
#include <vector>

#include "search/space/space_rules.hpp"

namespace halmark {

class Diagram {
 public:
  // Throws Error (exit 2) when the diagram has more than edges_max edges.
  explicit Diagram(const SpaceRules& rules);
  static constexpr std::size_t edges_max = 60'000'000;

  std::uint64_t count() const { return nodes_[root_].count; }
  const std::map<std::string, std::uint64_t>& discarded() const { return discarded_; }

  // Writes the coordinates of the numbered domains of valid point `index` (< count()).
  void write(std::uint64_t index, Point& point) const;
  // The same by one fraction of [0, 1) per domain. False when there is no valid point.
  bool write_from_unit(std::span<const double> u, Point& point) const;
  // The index of the numbered part; nothing when it is not valid.
  std::optional<std::uint64_t> find(const Point& point) const;

 private:
  struct Node {
    std::uint64_t count = 0;
    std::uint32_t first_edge = 0;
    std::uint32_t edges = 0;
    bool is_active = true;  // false: the domain is absent here, its one edge goes on
  };
  // `to` < 0: no way, by rule -to - 1. `before`: valid points below the edges to the left.
  struct Edge {
    std::int32_t to = 0;
    std::uint64_t before = 0;
  };
  struct KeyHash {
    std::size_t operator()(const std::vector<std::int32_t>& key) const;
  };

  std::uint32_t build(std::size_t depth);
  // Where a prefix goes whose domain at `depth` was just bound.
  std::int32_t onward(std::size_t depth);
  std::vector<std::int32_t> live_key(std::size_t depth) const;
  std::uint32_t node_of(std::size_t depth, bool is_active, const std::vector<std::int32_t>& to);
  void count_discarded();

  const SpaceRules& rules_;
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::uint32_t root_ = 0;
  std::map<std::string, std::uint64_t> discarded_;

  // While building.
  Point prefix_;
  Operands operands_;
  std::vector<std::vector<std::size_t>> touching_;  // per depth: rules to look at once it is bound
  std::vector<std::size_t> last_of_;                // per rule: depth of its last numbered domain
  std::vector<std::vector<std::size_t>> when_users_;  // per depth: later conditions that read it
  std::vector<std::uint32_t> depth_of_;               // per node
  std::vector<std::unordered_map<std::vector<std::int32_t>, std::uint32_t, KeyHash>> memo_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> alike_;
};

}  // namespace halmark
