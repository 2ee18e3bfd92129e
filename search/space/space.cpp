#include "search/space/space.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"
#include "core/text/error.hpp"
#include "search/space/diagram.hpp"
#include "search/space/space_rules.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t even_draws_max = 1000;
constexpr std::uint64_t short_order = 64;

// A standard normal deviate (Box and Muller 1958).
double normal(std::uint64_t seed) {
  constexpr double tau = 6.283185307179586;
  const double u = 1 - uniform_01(hash_u64(seed, 0)), v = uniform_01(hash_u64(seed, 1));
  return std::sqrt(-2 * std::log(u)) * std::cos(tau * v);
}

}  // namespace

Space::Space(std::vector<SearchDomain> domains, std::vector<Constraint> constraints)
    : rules_(std::make_unique<SpaceRules>(std::move(domains), std::move(constraints),
                                          std::vector<StatedConstraint>{},
                                          std::map<std::string, ParamValue>{})),
      diagram_(std::make_unique<Diagram>(*rules_)) {}

Space::Space(const SpaceDescription& description)
    : rules_(std::make_unique<SpaceRules>(description.domains, std::vector<Constraint>{},
                                          description.constraints, description.facts)),
      diagram_(std::make_unique<Diagram>(*rules_)) {}

Space::~Space() = default;
Space::Space(Space&&) noexcept = default;
Space& Space::operator=(Space&&) noexcept = default;

std::span<const SearchDomain> Space::domains() const { return rules_->domains(); }

std::uint64_t Space::product() const {
  if (domains().empty()) return 0;
  if (rules_->numbered().size() < domains().size()) return uncountable;
  std::uint64_t out = 1;
  for (const auto d : indices(domains())) out *= rules_->levels(d);
  return out;
}

std::uint64_t Space::size() const {
  if (domains().empty()) return 0;
  return rules_->numbered().size() < domains().size() ? uncountable : diagram_->count();
}

const std::map<std::string, std::uint64_t>& Space::discarded() const {
  return diagram_->discarded();
}

Point Space::point(std::uint64_t index) const {
  if (!is_countable() || index >= size()) {
    throw Error(ExitCode::error, "the space has no point " + std::to_string(index));
  }
  Point out(domains().size(), absent);
  diagram_->write(index, out);
  return out;
}

std::uint64_t Space::index(const Point& valid_point) const {
  const auto out = is_countable() ? diagram_->find(valid_point) : std::nullopt;
  if (!out) throw Error(ExitCode::error, "the point is not valid, or the space is not countable");
  return *out;
}

bool Space::contains(const Point& point) const {
  if (point.size() != domains().size() || point.empty()) return false;
  if (!diagram_->find(point)) return false;
  if (is_countable()) return true;
  const Operands operands = rules_->operands(point);
  for (const auto d : indices(point)) {
    if (rules_->is_numbered(d)) continue;
    if (rules_->is_active(d, operands) != (point[d] != absent)) return false;
    if (point[d] != absent && !rules_->is_inside(d, point[d])) return false;
  }
  return rules_->meets_outer_rules(point);
}

std::uint64_t Space::identity(const Point& valid_point) const {
  if (is_countable()) return index(valid_point);
  std::uint64_t out = valid_point.size();
  for (const auto d : indices(valid_point)) {
    // -0.0 and 0.0 are one value.
    const double x = valid_point[d] == 0 ? 0.0 : valid_point[d];
    if (x != absent) out = hash_combine(hash_combine(out, d), std::bit_cast<std::uint64_t>(x));
  }
  return out;
}

std::optional<Point> Space::from_unit(std::span<const double> u) const {
  Point out(domains().size(), absent);
  if (out.empty() || !diagram_->write_from_unit(u, out)) return std::nullopt;
  if (is_countable()) return out;
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (rules_->is_numbered(d) || !is_active(out, d)) continue;
    const std::uint64_t levels = rules_->levels(d);
    const SearchDomain& domain = domains()[d];
    out[d] = levels == 0 || domain.is_log ? domain.from_unit(u[d])
                                          : std::floor(u[d] * as_double(levels));
  }
  return rules_->meets_outer_rules(out) ? std::optional(std::move(out)) : std::nullopt;
}

std::optional<Point> Space::draw(std::uint64_t seed) const {
  std::uint64_t attempts = even_draws_max;
  return draw(seed, attempts);
}

std::optional<Point> Space::draw(std::uint64_t seed, std::uint64_t& attempts) const {
  std::vector<double> u(domains().size());
  for (std::uint64_t attempt = 0; attempt < even_draws_max && attempts > 0; ++attempt, --attempts) {
    const std::uint64_t key = hash_combine(seed, attempt);
    for (const auto d : indices(u)) u[d] = uniform_01(hash_u64(key, d));
    if (auto out = from_unit(u)) return out;
    if (size() == 0) break;
  }
  return std::nullopt;
}

bool Space::is_active(const Point& point, std::size_t domain) const {
  const auto& when = rules_->when(domain);
  if (!when) return true;
  // Only the parameters that the condition reads.
  Operands operands(point.size());
  for (const std::size_t p : when->parameters()) operands[p] = rules_->operand(p, point[p]);
  return when->evaluate(operands) == Truth::yes;
}

Point Space::settle(Point point, std::uint64_t seed) const {
  for (std::size_t d = 0; d < point.size(); ++d) {
    if (!rules_->when(d)) continue;
    if (!is_active(point, d)) {
      point[d] = absent;
    } else if (point[d] == absent) {
      const double u = uniform_01(hash_u64(seed, d));
      const std::uint64_t levels = rules_->levels(d);
      point[d] = levels == 0 ? domains()[d].from_unit(u) : std::floor(u * as_double(levels));
    }
  }
  return point;
}

std::vector<Point> Space::neighbours_along(std::size_t d, const Point& valid_point,
                                           std::uint64_t seed, double reach) const {
  std::vector<Point> out;
  const double x = valid_point[d];
  if (x == absent) return out;
  const auto add = [&](double coordinate) {
    if (coordinate == x) return;
    Point other = valid_point;
    other[d] = coordinate;
    other = settle(std::move(other), hash_combine(seed, d));
    if (contains(other)) out.push_back(std::move(other));
  };
  const std::uint64_t levels = rules_->levels(d);
  const SearchDomain& domain = domains()[d];
  if (levels > 0 && !domain.has_order()) {
    // An even step from a drawn place visits each choice once.
    const bool is_long = levels > choices_max;
    const std::uint64_t first = is_long ? uniform_below(hash_combine(seed, d), levels) : 0;
    std::uint64_t step = is_long ? levels / choices_max : 1;
    while (std::gcd(step, levels) != 1) ++step;
    for (const std::uint64_t v : below(std::min(levels, choices_max))) {
      add(as_double((first + v * step) % levels));
    }
    return out;
  }
  if (levels > 0) {
    if (x > 0) add(x - 1);
    if (x + 1 < as_double(levels)) add(x + 1);
  }
  // One level of a long order is no step.
  if (levels == 0 || levels > short_order) {
    for (const std::uint64_t k : below(2)) {
      const double step = reach * normal(hash_combine(seed, 2 * d + k));
      add(domain.from_unit(domain.unit(x) + step));
    }
  }
  return out;
}

std::vector<Point> Space::neighbours(const Point& valid_point, std::uint64_t seed,
                                     double reach) const {
  std::vector<Point> out;
  for (std::size_t d = 0; d < valid_point.size(); ++d) {
    for (Point& p : neighbours_along(d, valid_point, seed, reach)) out.push_back(std::move(p));
  }
  return out;
}

Setting Space::setting(const Point& point) const {
  Setting out;
  for (const auto d : indices(point)) {
    if (point[d] != absent) out.emplace_back(domains()[d].name, domains()[d].value(point[d]));
  }
  return out;
}

Point Space::point_of(const Setting& setting) const {
  Point out(domains().size(), absent);
  for (const auto& [name, value] : setting) {
    const auto it = std::ranges::find(domains(), name, &SearchDomain::name);
    if (it == domains().end()) {
      auto known = mapped(domains(), &SearchDomain::name);
      throw refused("the space has no parameter '" + name + "'", {}, suggestion(name, known));
    }
    const auto d = as_size(it - domains().begin());
    const auto x = it->coordinate(value);
    if (!x) throw refused("'" + text_of(value) + "' is outside of the domain of '" + name + "'");
    out[d] = *x;
  }
  for (std::size_t d = 0; d < out.size(); ++d) {
    if (is_active(out, d) == (out[d] != absent)) continue;
    throw refused("parameter '" + domains()[d].name + "' " +
                  (out[d] == absent ? "is missing" : "is not active in this configuration"));
  }
  if (const auto rule = rules_->broken(out)) {
    throw refused("the configuration breaks the constraint '" + rules_->rules()[*rule].name + "'");
  }
  return out;
}

}  // namespace halmark
