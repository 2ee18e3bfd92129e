// The space: domains, constraints known beforehand, and the valid points in a fixed order. Points
// are numbered by a decision diagram (subtrees that meet the same remaining constraints are one),
// so that counting, nth and uniform drawing need no list.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/chosen/search_domain.hpp"

namespace halmark {

// One coordinate per domain, in the order of the domains (SearchDomain says what a coordinate is);
// `absent` where the parameter is inactive.
using Point = std::vector<double>;
inline constexpr double absent = std::numeric_limits<double>::infinity();

// Name and value of each active parameter, in the order of the domains.
using Setting = std::vector<std::pair<std::string, ParamValue>>;

// Evaluated as soon as every domain that it names is bound, so that a violation prunes a subtree.
struct Constraint {
  std::string name;                  // the reason of a discard: "tp_does_not_divide_heads"
  std::vector<std::string> domains;  // those that `holds` reads; each must have levels
  std::function<bool(const Point&)> holds;
};

class Diagram;
class SpaceRules;

class Space {
 public:
  static constexpr std::uint64_t uncountable = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t choices_max = 512;

  // Throws Error (exit 2): a duplicate name or value, an empty domain, a constraint over an unknown
  // domain, an expression that cannot be read (line and column), too many points to number (2^62).
  Space(std::vector<SearchDomain> domains, std::vector<Constraint> constraints);
  explicit Space(const SpaceDescription& description);
  ~Space();
  Space(Space&&) noexcept;
  Space& operator=(Space&&) noexcept;

  std::span<const SearchDomain> domains() const;
  // All combinations of levels, valid or not, a conditional parameter counted as if active;
  // `uncountable` when a domain is a continuum or has more than 65536 levels.
  std::uint64_t product() const;
  // Valid points; `uncountable` as above.
  std::uint64_t size() const;
  bool is_countable() const { return size() != uncountable; }
  // Combinations that each constraint discarded (a pruned subtree counts all its points).
  const std::map<std::string, std::uint64_t>& discarded() const;

  // Of the valid points, in lexicographic order of coordinates. Countable spaces only.
  Point point(std::uint64_t index) const;
  std::uint64_t index(const Point& valid_point) const;
  // Right length, on the levels, inactive parameters absent, every constraint met.
  bool contains(const Point& point) const;
  // Identity of a valid point: its index where the space is countable, else a 64-bit hash of the
  // coordinates of its active parameters.
  std::uint64_t identity(const Point& valid_point) const;

  // The valid point that u in [0,1)^domains maps to: uniform u give uniform valid points, and
  // evenly spread u evenly spread points. Nothing when the space is empty, or when constraints over
  // continua are missed.
  std::optional<Point> from_unit(std::span<const double> u) const;
  // Uniform among the valid points; `seed` decides. Nothing only for an empty space or one whose
  // constraints over continua were missed 1000 times.
  std::optional<Point> draw(std::uint64_t seed) const;
  // The same with at most `attempts` tries, which are taken off.
  std::optional<Point> draw(std::uint64_t seed, std::uint64_t& attempts) const;

  // The point with every inactive parameter absent and every newly active one filled from `seed`.
  // Not necessarily valid: constraints are not looked at.
  Point settle(Point point, std::uint64_t seed) const;
  bool is_active(const Point& point, std::size_t domain) const;

  // Valid points that differ in one parameter (and in what it switches on or off): every other
  // choice of a category (of more than choices_max, that number of them, by `seed`), previous and
  // next level of an order; a continuum gives two Gaussian steps of `reach` of its range.
  std::vector<Point> neighbours(const Point& valid_point, std::uint64_t seed,
                                double reach = 0.1) const;
  // Those that differ in this parameter.
  std::vector<Point> neighbours_along(std::size_t domain, const Point& valid_point,
                                      std::uint64_t seed, double reach = 0.1) const;

  Setting setting(const Point& point) const;
  // The valid point of these names and values. Throws Error (exit 2) naming the parameter: unknown,
  // missing, outside of its domain, inactive; or the constraint that is broken.
  Point point_of(const Setting& setting) const;

 private:
  std::unique_ptr<SpaceRules> rules_;
  std::unique_ptr<Diagram> diagram_;
};

}  // namespace halmark
