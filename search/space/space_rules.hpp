// The rules of a space: its domains, when each is active, and the constraints over them. Answers
// about one point or a prefix of one; the diagram counts points with it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "expression/expression.hpp"
#include "search/space/space.hpp"

namespace halmark {

struct Rule {
  std::string name;
  std::vector<std::size_t> domains;  // ascending
  std::function<bool(const Point&)> holds;
  std::optional<Expression> expression;  // instead of `holds`
};

// Operands of all domains, bound or not; kept beside a prefix that grows and shrinks.
using Operands = std::vector<Operand>;

class SpaceRules {
 public:
  SpaceRules(std::vector<SearchDomain> domains, std::vector<Constraint> constraints,
             std::vector<StatedConstraint> stated, const std::map<std::string, ParamValue>& facts);

  const std::vector<SearchDomain>& domains() const { return domains_; }
  const std::vector<Rule>& rules() const { return rules_; }
  // Has levels, few enough to be numbered, and is switched on by such domains only.
  bool is_numbered(std::size_t domain) const { return is_numbered_[domain]; }
  const std::vector<std::size_t>& numbered() const { return numbered_; }
  const std::optional<Expression>& when(std::size_t domain) const { return when_[domain]; }
  std::uint64_t levels(std::size_t domain) const { return levels_[domain]; }

  // What is known before anything is bound.
  const Operands& unbound() const { return unbound_; }
  // What a bound coordinate says; `absent` says nothing.
  Operand operand(std::size_t domain, double coordinate) const;
  Operands operands(const Point& point) const;

  // `is_complete`: every domain of the rule is bound. A rule that is not an expression waits for
  // it.
  Truth judge(std::size_t rule, const Point& point, const Operands& operands,
              bool is_complete) const;
  bool is_active(std::size_t domain, const Operands& operands) const;
  // On its levels or in its range.
  bool is_inside(std::size_t domain, double coordinate) const;
  // The first rule that the complete point breaks.
  std::optional<std::size_t> broken(const Point& point) const;
  // The rules that the diagram cannot decide: those that name a domain outside of it.
  bool meets_outer_rules(const Point& point) const;

 private:
  void add_when(const std::map<std::string, ParamValue>& facts);
  void choose_numbered();
  std::vector<std::string> names() const;

  std::vector<SearchDomain> domains_;
  std::vector<std::uint64_t> levels_;
  std::vector<Rule> rules_;
  std::vector<std::optional<Expression>> when_;
  std::vector<bool> is_numbered_;
  std::vector<std::size_t> numbered_, outer_rules_;
  std::vector<Operands> level_operands_;  // of numbered domains
  Operands unbound_;
};

}  // namespace halmark
