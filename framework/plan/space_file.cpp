#include "plan/space_file.hpp"

#include <algorithm>
#include <set>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/number.hpp"
#include "expression/expression.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {
namespace {

const std::vector<std::string> kinds = {"categorical", "ordinal", "int", "float"};
const std::vector<std::string> directions = {"minimize", "maximize"};
constexpr std::size_t parameters_max = 1000;
constexpr std::uint64_t listed_max = 65536;
constexpr std::int64_t divided_max = std::int64_t{1} << 40;

std::int64_t checked_integer(const ParamValue& value, const std::string& name,
                             const std::string& where) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return *i;
  throw refused("'" + name + "' is not an integer", where);
}

// One argument of divisors or powers_of_two: what it may be, and whether that depends on a point.
struct Argument {
  std::string text;
  std::vector<std::int64_t> values;
  bool is_parameter = false;
};

Argument argument_of(const std::string& text, const SpaceDescription& space,
                     const std::string& where) {
  Argument out{.text = text, .values = {}, .is_parameter = false};
  const auto literal = read_number<std::int64_t>(text);
  if (literal) {
    out.values = {*literal};
    return out;
  }
  if (const auto* fact = find_value(space.facts, text)) {
    out.values = {checked_integer(*fact, text, where)};
    return out;
  }
  for (const SearchDomain& domain : space.domains) {
    if (domain.name != text) continue;
    if (domain.levels() == 0 || domain.levels() > listed_max) {
      throw refused("parameter '" + text + "' has too many values to derive a domain from", where);
    }
    for (const std::uint64_t level : below(domain.levels())) {
      out.values.push_back(checked_integer(domain.value(as_double(level)), text, where));
    }
    out.is_parameter = true;
    return out;
  }
  throw refused("'" + text + "' is no integer, fact or earlier parameter", where);
}

std::string trimmed(std::string text) {
  const std::size_t first = text.find_first_not_of(" \t"), last = text.find_last_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::int64_t> divisors_of(std::int64_t n, const std::string& where) {
  if (n < 1 || n > divided_max) throw refused("divisors needs an integer from 1 to 2^40", where);
  std::vector<std::int64_t> out;
  for (std::int64_t d = 1; d * d <= n; ++d) {
    if (n % d != 0) continue;
    out.push_back(d);
    if (d != n / d) out.push_back(n / d);
  }
  return out;
}

// "divisors(K)" or "powers_of_two(1, devices)". Over a parameter it is the union of what each of
// its values allows, and a constraint that cuts that down again.
void add_derived_values(const std::string& text, SearchDomain& domain, SpaceDescription& space,
                        const std::string& where) {
  const std::size_t open = text.find('('), close = text.rfind(')');
  const std::string function = trimmed(text.substr(0, open));
  if (open == std::string::npos || close != text.size() - 1 ||
      (function != "divisors" && function != "powers_of_two")) {
    throw refused("'" + text + "' is not a list of values", where,
                  "known: divisors(n), powers_of_two(low, high)");
  }
  std::vector<Argument> arguments;
  std::string inside = text.substr(open + 1, close - open - 1);
  for (std::size_t comma = 0; comma != std::string::npos;) {
    comma = inside.find(',');
    arguments.push_back(argument_of(trimmed(inside.substr(0, comma)), space, where));
    if (comma != std::string::npos) inside = inside.substr(comma + 1);
  }
  std::set<std::int64_t> values;
  if (function == "divisors") {
    if (arguments.size() != 1) throw refused("divisors takes one value", where);
    for (const std::int64_t n : arguments[0].values) {
      for (const std::int64_t d : divisors_of(n, where)) values.insert(d);
    }
    if (arguments[0].is_parameter) {
      space.constraints.push_back({domain.name + " divides " + arguments[0].text,
                                   "divides(" + domain.name + ", " + arguments[0].text + ")",
                                   where});
    }
  } else {
    if (arguments.size() != 2) throw refused("powers_of_two takes two values", where);
    const std::int64_t low = std::ranges::min(arguments[0].values);
    const std::int64_t high = std::ranges::max(arguments[1].values);
    for (std::int64_t p = 1; p <= high; p *= 2) {
      if (p >= low) values.insert(p);
      if (p > high / 2) break;
    }
    for (const auto a : indices(2)) {
      if (!arguments[a].is_parameter) continue;
      const std::string sign = a == 0 ? " >= " : " <= ";
      space.constraints.push_back(
          {domain.name + sign + arguments[a].text, domain.name + sign + arguments[a].text, where});
    }
  }
  for (const std::int64_t v : values) domain.values.emplace_back(v);
}

SearchDomain read_parameter(const TomlTable& table, SpaceDescription& space,
                            std::vector<std::string>* notes) {
  SearchDomain out;
  out.name = table.string("name");
  const std::string where = table.where("name");
  const bool is_word = !out.name.empty() && std::ranges::all_of(out.name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.';
  });
  if (!is_word || std::isdigit(static_cast<unsigned char>(out.name[0])) != 0) {
    throw refused("parameter name '" + printable(out.name) + "' is no word", where,
                  "letters, digits, '_' and '.', not a digit first");
  }
  if (space.facts.contains(out.name)) {
    throw refused("'" + out.name + "' is a fact and a parameter", where);
  }
  const std::string kind = table.choice("kind", kinds);
  if (kind == "categorical" || kind == "ordinal") {
    out.kind = kind == "ordinal" ? DomainKind::ordinal : DomainKind::categorical;
    if (table.is_string("values")) {
      add_derived_values(table.string("values"), out, space, table.where("values"));
    } else {
      out.values = table.values("values");
    }
    if (out.kind == DomainKind::ordinal) {
      for (const ParamValue& v : out.values) {
        if (!std::holds_alternative<std::int64_t>(v) && !std::holds_alternative<double>(v)) {
          throw refused("an ordinal parameter has numbers, not '" + text_of(v) + "'",
                        table.where("values"), "use kind = \"categorical\"");
        }
      }
    }
  } else {
    const bool is_int = kind == "int";
    out.kind = is_int ? DomainKind::integer : DomainKind::real;
    constexpr auto largest = as_double(domain_integer_max);
    const double bound = is_int ? largest : 1e300;
    out.low = table.number("low", -bound, bound);
    out.high = table.number("high", -bound, bound);
    if (table.has("step")) out.step = table.number("step", is_int ? 1 : 1e-300, bound);
    out.is_log = table.boolean_or("log", false);
  }
  out.when = table.string_or("when", "");
  const double wished = out.high;
  out.check(where);
  if (notes != nullptr && out.high != wished) {
    notes->push_back(where + ": the high end of '" + out.name + "' is " + text_of(out.high) +
                     ", the last value that its step reaches");
  }
  return out;
}

// An expression that cannot be read is refused here, where its place in the file is known.
void check_expressions(const SpaceDescription& space, const std::vector<TomlTable>& tables) {
  auto names = mapped(space.domains, &SearchDomain::name);
  for (const StatedConstraint& c : space.constraints) {
    Expression(c.expression, names, space.facts, c.where);
  }
  for (const auto i : indices(tables)) {
    if (space.domains[i].when.empty()) continue;
    const std::vector<std::string> earlier(names.begin(), names.begin() + as_int64(i));
    Expression(space.domains[i].when, earlier, space.facts, tables[i].where("when"));
  }
}

SpaceDescription read(const TomlTable& root, std::vector<std::string>* notes) {
  SpaceDescription out;
  if (const auto facts = root.table("facts")) {
    for (const std::string& name : facts->keys()) out.facts[name] = facts->value(name);
  }
  std::set<std::string> known;
  const std::vector<TomlTable> parameters = root.tables("parameter");
  for (const TomlTable& table : parameters) {
    out.domains.push_back(read_parameter(table, out, notes));
    if (!known.insert(out.domains.back().name).second) {
      throw refused("parameter '" + out.domains.back().name + "' is declared twice",
                    table.where("name"));
    }
    if (out.domains.size() > parameters_max) {
      throw refused("more than 1000 parameters", table.where("name"));
    }
  }
  if (out.domains.empty()) throw refused("no [[parameter]]", root.where("parameter"));
  for (const TomlTable& table : root.tables("constraint")) {
    out.constraints.push_back({table.string_or("name", table.string("expression")),
                               table.string("expression"), table.where("expression")});
  }
  for (const TomlTable& table : root.tables("objective")) {
    out.objectives.push_back({.name = table.string("name"),
                              .unit = table.string_or("unit", ""),
                              .is_maximised = table.has("direction") &&
                                              table.choice("direction", directions) == "maximize"});
  }
  if (out.objectives.empty()) {
    throw refused("no [[objective]]", root.where("objective"),
                  "add one with a name: what shall be minimised or maximised");
  }
  check_expressions(out, parameters);
  root.finish();
  return out;
}

}  // namespace

SpaceDescription read_space(const std::string& path, std::vector<std::string>* notes) {
  return read(TomlTable::parse_file(path, "space"), notes);
}

SpaceDescription parse_space(std::string_view text, std::string_view where,
                             std::vector<std::string>* notes) {
  return read(TomlTable::parse(text, where), notes);
}

}  // namespace halmark
