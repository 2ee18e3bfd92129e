#include "verify/front_proof/front_proof_space.hpp"

#include <algorithm>
#include <charconv>

#include "core/lists.hpp"
#include "core/text/error.hpp"

namespace halmark::front_proof {
namespace {

constexpr std::uint64_t combinations_max = std::uint64_t{1} << 24;

// A level's text that is a whole number is one.
ParamValue value_of(const std::string& text) {
  std::int64_t number = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), number);
  if (end.ec == std::errc() && end.ptr == text.data() + text.size()) return number;
  return text;
}

}  // namespace

ProofSpace::ProofSpace(const Proof& proof) : proof_(proof) {
  for (const Domain& d : proof.domains) {
    if (d.values.empty()) throw Broken(proof.space_line, "domain '" + d.name + "' has no value");
    combinations_ *= d.values.size();
    if (combinations_ > combinations_max) {
      throw Unreadable(proof.space_line, "more combinations than can be listed");
    }
    auto& values = values_.emplace_back();
    for (const std::string& text : d.values) values.push_back(value_of(text));
  }
  strides_.assign(proof.domains.size(), 1);
  for (std::size_t d = strides_.size(); d-- > 1;) {
    strides_[d - 1] = strides_[d] * proof.domains[d].values.size();
  }
  check_tables();
  if (proof.configs.empty()) check_formulas(proof.formulas, proof.space_line);
  for (const auto& [levels, c] : proof.configs) check_formulas(c.objectives, c.line);
  compile_constraints();
  list_valid();
}

std::size_t ProofSpace::level(std::uint64_t combination, std::size_t domain) const {
  return combination / strides_[domain] % proof_.domains[domain].values.size();
}

void ProofSpace::check_tables() const {
  const auto check = [this](const auto& table) {
    std::size_t expected = 1;
    for (const std::size_t d : table.over) expected *= proof_.domains[d].values.size();
    if (expected != table.values.size()) {
      throw Broken(table.line, "the table has " + std::to_string(table.values.size()) +
                                   " values for " + std::to_string(expected) + " combinations");
    }
  };
  for (const auto& table : proof_.facts) check(table);
  for (const auto& table : proof_.slots) {
    check(table);
    for (const std::size_t k : table.values) {
      if (k >= proof_.kernels.size()) throw Broken(table.line, "names an unknown kernel");
    }
  }
}

// Sums, maxima, minima, and products with what is not negative cannot fall when a time grows;
// neither can -(amount / x) where x > 0 grows, which therefore stands outermost.
ProofSpace::Sign ProofSpace::check(const Node& node, std::size_t line) const {
  using Op = Node::Op;
  const auto require = [line](bool holds, const char* why) {
    if (!holds) throw Broken(line, std::string("the formula may fall when a time grows: ") + why);
  };
  switch (node.op) {
    case Op::number:
      return {false, node.number >= 0, node.number > 0};
    case Op::fact: {
      const auto& values = proof_.facts[node.index].values;
      const double least = *std::ranges::min_element(values);
      return {false, least >= 0, least > 0};
    }
    case Op::kernel:
      if (node.index >= proof_.kernels.size()) throw Broken(line, "names an unknown kernel");
      return {true, true, true};
    case Op::slot:
      return {true, true, true};
    case Op::sum:
    case Op::max:
    case Op::min: {
      Sign out{.is_positive = node.op == Op::min};
      if (node.operands.empty()) throw Broken(line, "an operation without operands");
      for (const Node& operand : node.operands) {
        const Sign sign = check(operand, line);
        out.knows_times |= sign.knows_times;
        out.is_nonnegative &= sign.is_nonnegative;
        out.is_positive = node.op == Op::min ? out.is_positive && sign.is_positive
                                             : out.is_positive || sign.is_positive;
      }
      return out;
    }
    case Op::scale:
    case Op::divide:
    case Op::rate:
      break;
  }
  if (node.operands.size() != 2) throw Broken(line, "an operation without two operands");
  const Sign first = check(node.operands[0], line), second = check(node.operands[1], line);
  if (node.op == Op::scale) {
    require(!first.knows_times && first.is_nonnegative, "a factor that is no number >= 0");
    return {second.knows_times, second.is_nonnegative, first.is_positive && second.is_positive};
  }
  if (node.op == Op::divide) {
    require(!second.knows_times && second.is_positive, "a divisor that is no number > 0");
    return {first.knows_times, first.is_nonnegative, first.is_positive};
  }
  require(!first.knows_times && first.is_nonnegative, "an amount that is no number >= 0");
  require(second.is_nonnegative, "a rate over what may be negative");
  return {true, false, false};
}

void ProofSpace::check_formulas(const std::vector<Node>& formulas, std::size_t line) const {
  if (formulas.size() != proof_.objectives.size()) {
    throw Broken(line, "there is not one formula per objective");
  }
  for (const Node& f : formulas) check(f, line);
}

void ProofSpace::compile_constraints() {
  auto names = mapped(proof_.domains, &Domain::name);
  for (const ConstraintText& c : proof_.constraints) {
    auto& compiled = constraints_.emplace_back();
    if (c.expression.empty()) continue;
    try {
      compiled.emplace(c.expression, names, std::map<std::string, ParamValue>{}, c.name);
    } catch (const Error& e) {
      throw Broken(proof_.space_line, e.line());
    }
  }
}

std::optional<bool> ProofSpace::breaks(std::uint64_t combination, std::size_t constraint) const {
  const auto& compiled = constraints_[constraint];
  if (!compiled) return std::nullopt;
  std::vector<Operand> operands = mapped(indices(values_), [&](const auto d) {
    return Operand::of(values_[d][level(combination, d)]);
  });
  return compiled->evaluate(operands) == Truth::no;
}

void ProofSpace::list_valid() {
  is_valid_.assign(combinations_, proof_.configs.empty());
  if (!proof_.configs.empty()) configs_.assign(combinations_, nullptr);
  for (const auto& [levels, c] : proof_.configs) {
    std::uint64_t combination = 0;
    bool is_inside = levels.size() == strides_.size() && c.front < proof_.fronts.size();
    for (std::size_t d = 0; is_inside && d < levels.size(); ++d) {
      is_inside = levels[d] < proof_.domains[d].values.size();
      combination += levels[d] * strides_[d];
    }
    if (!is_inside) throw Broken(c.line, "this configuration lies outside of the space");
    is_valid_[combination] = true;
    configs_[combination] = &c;
  }
  for (std::uint64_t c = 0; c < combinations_; ++c) {
    for (std::size_t k = 0; k < constraints_.size() && is_valid_[c]; ++k) {
      if (!breaks(c, k).value_or(false)) continue;
      if (!configs_.empty()) {
        throw Broken(configs_[c]->line, "breaks constraint '" + proof_.constraints[k].name + "'");
      }
      is_valid_[c] = false;
    }
    configurations_ += is_valid_[c] ? 1 : 0;
  }
}

std::size_t ProofSpace::front(std::uint64_t combination) const {
  return configs_.empty() ? 0 : configs_[combination]->front;
}

const std::vector<Node>& ProofSpace::formulas(std::uint64_t combination) const {
  return configs_.empty() ? proof_.formulas : configs_[combination]->objectives;
}

template <typename T>
const T& ProofSpace::look_up(const Table<T>& table, std::uint64_t combination) const {
  std::size_t at = 0;
  for (const std::size_t d : table.over) {
    at = at * proof_.domains[d].values.size() + level(combination, d);
  }
  return table.values[at];
}

double ProofSpace::value(const Node& node, std::uint64_t c,
                         const std::vector<double>& times) const {
  using Op = Node::Op;
  const auto operand = [&](std::size_t i) { return value(node.operands[i], c, times); };
  switch (node.op) {
    case Op::number:
      return node.number;
    case Op::fact:
      return look_up(proof_.facts[node.index], c);
    case Op::kernel:
      return times[node.index];
    case Op::slot:
      return times[look_up(proof_.slots[node.index], c)];
    case Op::scale:
      return operand(0) * operand(1);
    case Op::divide:
      return operand(0) / operand(1);
    case Op::rate:
      return -(operand(0) / operand(1));
    case Op::sum:
    case Op::max:
    case Op::min:
      break;
  }
  double out = node.op == Op::sum ? 0 : operand(0);
  for (std::size_t i = node.op == Op::sum ? 0 : 1; i < node.operands.size(); ++i) {
    const double next = operand(i);
    out = node.op == Op::sum   ? out + next
          : node.op == Op::max ? std::max(out, next)
                               : std::min(out, next);
  }
  return out;
}

std::vector<double> ProofSpace::objectives(std::uint64_t combination,
                                           const std::vector<double>& times) const {
  return mapped(formulas(combination), [&](const Node& f) { return value(f, combination, times); });
}

void ProofSpace::add_kernels(const Node& node, std::uint64_t combination,
                             std::vector<std::size_t>& out) const {
  if (node.op == Node::Op::kernel) out.push_back(node.index);
  if (node.op == Node::Op::slot) out.push_back(look_up(proof_.slots[node.index], combination));
  for (const Node& operand : node.operands) add_kernels(operand, combination, out);
}

std::vector<std::size_t> ProofSpace::kernels(std::uint64_t combination) const {
  std::vector<std::size_t> out;
  for (const Node& f : formulas(combination)) add_kernels(f, combination, out);
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

}  // namespace halmark::front_proof
