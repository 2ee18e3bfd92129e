// The space: finite domains, constraints known beforehand, and the valid points in a fixed order.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace halmark {

enum class DomainKind {
  categorical,  // order carries no meaning
  ordinal,      // order carries meaning: neighbours are previous and next
};

struct SearchDomain {
  std::string name;
  DomainKind kind = DomainKind::categorical;
  std::vector<std::string> values;  // as printed and recorded; distinct
};

// One index per domain, in the order of the domains.
using Point = std::vector<std::int32_t>;

// Evaluated as soon as every domain that it names is bound, so that a violation prunes a subtree.
struct Constraint {
  std::string name;                  // the reason of a discard: "tp_does_not_divide_heads"
  std::vector<std::string> domains;  // those that `holds` reads
  std::function<bool(const Point&)> holds;
};

class Space {
 public:
  static constexpr std::uint64_t points_max = 10'000'000;  // materialised

  // Throws Error (exit 2): a duplicate name or value, an empty domain, a constraint over an unknown
  // domain, more than points_max valid points.
  Space(std::vector<SearchDomain> domains, std::vector<Constraint> constraints);

  std::span<const SearchDomain> domains() const { return domains_; }
  std::uint64_t product() const;
  std::size_t size() const { return valid_.size(); }
  Point point(std::size_t index) const;  // of the valid points, in lexicographic order
  bool contains(const Point& point) const;
  // Points that each constraint discarded (a pruned subtree counts all its points).
  const std::map<std::string, std::uint64_t>& discarded() const { return discarded_; }
  // Canonical identity: the mixed-radix rank.
  std::uint64_t rank(const Point& point) const;

 private:
  void enumerate(Point& prefix, std::uint64_t rank);
  std::vector<SearchDomain> domains_;
  std::vector<Constraint> constraints_;
  std::vector<std::vector<std::size_t>> due_;  // per domain: constraints that it completes
  std::vector<std::uint64_t> weights_;         // mixed-radix weight of each domain
  std::vector<std::uint64_t> valid_;           // ranks, ascending
  std::map<std::string, std::uint64_t> discarded_;
};

}  // namespace halmark
