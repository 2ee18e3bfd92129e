#include "search/space/space_rules.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

constexpr std::uint64_t numbered_levels_max = 65536;
constexpr double numbered_points_max = 0x1.0p62;

std::string too_many_points(double combinations, const std::vector<SearchDomain>& domains,
                            const std::vector<std::uint64_t>& levels) {
  const auto longest = std::ranges::max_element(levels) - levels.begin();
  const auto d = as_size(longest);
  return "the space has " + number_text(combinations, 2) + " combinations, and " +
         number_text(numbered_points_max, 2) + " can be numbered: shorten its lists, '" +
         domains[d].name + "' with " + std::to_string(levels[d]) + " values first";
}

bool is_integral(const ParamValue& v) { return std::holds_alternative<std::int64_t>(v); }

// The hull of what a domain may say.
Operand hull(const SearchDomain& domain) {
  switch (domain.kind) {
    case DomainKind::integer:
      return Operand::integers_between(as_int64(domain.low), as_int64(domain.high));
    case DomainKind::real:
      return Operand::reals_between(domain.low, domain.high);
    default:
      break;
  }
  if (domain.values.size() == 1) return Operand::of(domain.values.front());
  if (!std::ranges::all_of(domain.values, is_integral)) return {};
  std::int64_t low = std::get<std::int64_t>(domain.values.front()), high = low;
  for (const ParamValue& v : domain.values) {
    low = std::min(low, std::get<std::int64_t>(v));
    high = std::max(high, std::get<std::int64_t>(v));
  }
  return Operand::integers_between(low, high);
}

}  // namespace

SpaceRules::SpaceRules(std::vector<SearchDomain> domains, std::vector<Constraint> constraints,
                       std::vector<StatedConstraint> stated,
                       const std::map<std::string, ParamValue>& facts)
    : domains_(std::move(domains)) {
  std::set<std::string> known;
  for (SearchDomain& domain : domains_) {
    domain.check();
    if (!known.insert(domain.name).second) {
      throw refused("domain '" + domain.name + "' is declared twice");
    }
    levels_.push_back(domain.levels());
    unbound_.push_back(domain.when.empty() ? hull(domain) : Operand{});
  }
  add_when(facts);
  for (Constraint& c : constraints) {
    Rule rule{.name = c.name, .domains = {}, .holds = std::move(c.holds), .expression = {}};
    for (const std::string& name : c.domains) {
      const auto it = std::ranges::find(domains_, name, &SearchDomain::name);
      if (it == domains_.end()) {
        throw refused("constraint '" + c.name + "' names no domain '" + name + "'");
      }
      rule.domains.push_back(as_size(it - domains_.begin()));
    }
    std::ranges::sort(rule.domains);
    rules_.push_back(std::move(rule));
  }
  for (StatedConstraint& c : stated) {
    Expression expression(c.expression, names(), facts, c.where);
    rules_.push_back({.name = c.name.empty() ? c.expression : c.name,
                      .domains = expression.parameters(),
                      .holds = {},
                      .expression = std::move(expression)});
  }
  choose_numbered();
  for (const auto r : indices(rules_)) {
    const bool is_outer =
        std::ranges::any_of(rules_[r].domains, [&](std::size_t d) { return !is_numbered_[d]; });
    if (is_outer && !rules_[r].expression) {
      throw refused("constraint '" + rules_[r].name + "' names a domain without few levels");
    }
    if (is_outer) outer_rules_.push_back(r);
  }
}

std::vector<std::string> SpaceRules::names() const { return mapped(domains_, &SearchDomain::name); }

void SpaceRules::add_when(const std::map<std::string, ParamValue>& facts) {
  for (const auto d : indices(domains_)) {
    when_.emplace_back();
    if (domains_[d].when.empty()) continue;
    const std::string where = "domain '" + domains_[d].name + "', when";
    Expression expression(domains_[d].when, names(), facts, where);
    if (!expression.parameters().empty() && expression.parameters().back() >= d) {
      throw refused("a condition may name only parameters declared before it", where);
    }
    when_.back() = std::move(expression);
  }
}

// Continua and long ranges stay outside of the diagram; so does what they switch on or off, and,
// where the product is too large to number, the longest ranges that no rule names.
void SpaceRules::choose_numbered() {
  is_numbered_.assign(domains_.size(), true);
  double product = 1;
  for (const auto d : indices(domains_)) {
    bool numbered = levels_[d] > 0 && levels_[d] <= numbered_levels_max;
    if (when_[d]) {
      for (const std::size_t p : when_[d]->parameters()) numbered = numbered && is_numbered_[p];
    }
    is_numbered_[d] = numbered;
    if (numbered) product *= as_double(levels_[d]);
  }
  std::set<std::size_t> named;
  for (const Rule& rule : rules_) named.insert(rule.domains.begin(), rule.domains.end());
  for (const auto& when : when_) {
    if (when) named.insert(when->parameters().begin(), when->parameters().end());
  }
  while (product > numbered_points_max) {
    std::optional<std::size_t> longest;
    for (const auto d : indices(domains_)) {
      const bool is_range =
          domains_[d].kind == DomainKind::integer || domains_[d].kind == DomainKind::real;
      if (!is_numbered_[d] || named.contains(d) || !is_range) continue;
      if (!longest || levels_[d] > levels_[*longest]) longest = d;
    }
    if (!longest) throw refused(too_many_points(product, domains_, levels_));
    is_numbered_[*longest] = false;
    product /= as_double(levels_[*longest]);
  }
  for (const auto d : indices(domains_)) {
    level_operands_.emplace_back();
    if (!is_numbered_[d]) continue;
    numbered_.push_back(d);
    for (const std::uint64_t level : below(levels_[d])) {
      const ParamValue value = domains_[d].value(as_double(level));
      // Views of text point at the domain's own values, which stay where they are.
      level_operands_[d].push_back(
          Operand::of(domains_[d].values.empty() ? value : domains_[d].values[as_size(level)]));
    }
  }
}

Operand SpaceRules::operand(std::size_t domain, double coordinate) const {
  if (coordinate == absent) return {};
  if (is_numbered_[domain]) return level_operands_[domain][as_size(coordinate)];
  return Operand::of(domains_[domain].value(coordinate));  // a number: no text to outlive
}

Operands SpaceRules::operands(const Point& point) const {
  Operands out;
  out.reserve(point.size());
  for (const auto d : indices(point)) out.push_back(operand(d, point[d]));
  return out;
}

Truth SpaceRules::judge(std::size_t rule, const Point& point, const Operands& operands,
                        bool is_complete) const {
  const Rule& r = rules_[rule];
  if (r.expression) return r.expression->evaluate(operands);
  if (!is_complete) return Truth::unknown;
  return r.holds(point) ? Truth::yes : Truth::no;
}

bool SpaceRules::is_active(std::size_t domain, const Operands& operands) const {
  return !when_[domain] || when_[domain]->evaluate(operands) == Truth::yes;
}

bool SpaceRules::is_inside(std::size_t domain, double x) const {
  if (levels_[domain] > 0) {
    return x >= 0 && x < as_double(levels_[domain]) && x == std::floor(x);
  }
  return x >= domains_[domain].low && x <= domains_[domain].high;
}

std::optional<std::size_t> SpaceRules::broken(const Point& point) const {
  const Operands all = operands(point);
  for (const auto r : indices(rules_)) {
    if (judge(r, point, all, true) == Truth::no) return r;
  }
  return std::nullopt;
}

bool SpaceRules::meets_outer_rules(const Point& point) const {
  if (outer_rules_.empty()) return true;
  const Operands all = operands(point);
  return std::ranges::none_of(
      outer_rules_, [&](std::size_t r) { return judge(r, point, all, true) == Truth::no; });
}

}  // namespace halmark
