// What may be searched, as values: the domain of each parameter, and the description of a space as
// a person writes it. How points are numbered, drawn and checked is the search's own affair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace halmark {

// null, bool, integer, float or string.
using ParamValue = std::variant<std::nullptr_t, bool, std::int64_t, double, std::string>;

// "null", "true", "4", "0.5" (shortest that reads back), "bf16".
std::string text_of(const ParamValue& value);

enum class DomainKind {
  categorical,  // choices whose order carries no meaning
  ordinal,      // choices whose order carries meaning: neighbours are previous and next
  integer,      // low, low + step, ... up to high
  real,         // low to high, all of it or in steps
};

inline constexpr std::int64_t domain_integer_max = std::int64_t{1} << 53;  // exact as a double

// A coordinate is what samplers compute with: the level 0 .. levels()-1 where there are levels
// (choice number, or (value - low) / step), the value itself where there are none.
struct SearchDomain {
  std::string name;
  DomainKind kind = DomainKind::categorical;
  std::vector<ParamValue> values = {};  // categorical and ordinal: distinct, at least one
  double low = 0, high = 0;             // integer and real: both included where a step meets them
  double step = 0;                      // integer: 0 means 1; real: 0 means no steps
  bool is_log = false;                  // integer and real: even in the logarithm; without steps
  std::string when = {};                // expression over earlier domains; "" = always active

  // Throws Error (exit 2) on an empty or repeated domain, low > high, a log of what is not
  // positive, a step together with a log. Reduces `high` to the last value that a step reaches.
  void check(const std::string& where = {});

  std::uint64_t levels() const;  // 0 = a continuum
  ParamValue value(double coordinate) const;
  // The coordinate of a value; nothing when it is outside of the domain. An integral float is an
  // integer here and the other way round.
  std::optional<double> coordinate(const ParamValue& value) const;

  bool has_order() const { return kind != DomainKind::categorical; }
  // Position in [0, 1] along the domain's own scale (log where it is logarithmic), and back to the
  // nearest coordinate. Choices lie evenly, in their order.
  double unit(double coordinate) const;
  double from_unit(double unit) const;
};

// A constraint known before measuring, in the language of expression/expression.hpp.
struct StatedConstraint {
  std::string name;        // the reason of a discard; the expression itself when not named
  std::string expression;  // true = allowed
  std::string where;       // file:line:column of the text, for refusals
};

struct SearchObjective {
  std::string name;
  std::string unit;
  bool is_maximised = false;  // negated once, by whoever tells a sampler
};

struct SpaceDescription {
  std::vector<SearchDomain> domains;
  std::vector<StatedConstraint> constraints;
  std::map<std::string, ParamValue> facts;  // constants that expressions may name
  std::vector<SearchObjective> objectives;  // at least one
};

}  // namespace halmark
