// The tree of an expression, folded over operands; what is wrong is said where it stands.
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "expression/interval.hpp"

namespace halmark {

namespace {

using Node = Expression::Node;
using Kind = Operand::Kind;
using namespace expression;

class Evaluator {
 public:
  Evaluator(std::span<const Operand> operands, const std::string& where)
      : operands_(operands), where_(where) {}

  Operand value(const Node& n) const {
    switch (n.verb) {
      case Verb::constant:
        return n.constant;
      case Verb::parameter:
        return operands_[n.parameter];
      case Verb::logical_and:
      case Verb::logical_or:
        return logical(n);
      case Verb::logical_not: {
        const Truth t = as_truth(value(n.arms[0]), n);
        return truth(t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes);
      }
      case Verb::is_in:
        return truth(membership(n));
      case Verb::negate:
        return arithmetic(n, Verb::subtract, Operand::integers_between(0, 0), value(n.arms[0]));
      case Verb::minimum:
      case Verb::maximum:
        return extreme(n);
      case Verb::is_power_of_two:
        return truth(power_of_two(n));
      case Verb::log2:
        return logarithm(n);
      default:
        break;
    }
    const Operand a = value(n.arms[0]), b = value(n.arms[1]);
    switch (n.verb) {
      case Verb::equal:
        return truth(equal(a, b));
      case Verb::not_equal: {
        const Truth t = equal(a, b);
        return truth(t == Truth::unknown ? t : t == Truth::yes ? Truth::no : Truth::yes);
      }
      case Verb::less:
        return truth(ordered(n, a, b, true));
      case Verb::less_equal:
        return truth(ordered(n, a, b, false));
      case Verb::greater:
        return truth(ordered(n, b, a, true));
      case Verb::greater_equal:
        return truth(ordered(n, b, a, false));
      case Verb::divides:
        return truth(divisible(n, a, b));
      default:
        return arithmetic(n, n.verb, a, b);
    }
  }

  Truth as_truth(const Operand& o, const Node& n) const {
    switch (o.kind) {
      case Kind::unknown:
        return Truth::unknown;
      case Kind::boolean:
        return truth_if(o.low == 1, o.high == 0);
      case Kind::integers:
        return truth_if(o.low > 0 || o.high < 0, o.low == 0 && o.high == 0);
      default:
        fail(n, "a condition is needed here, not a float, a string or null");
    }
  }

 private:
  [[noreturn]] void fail(const Node& n, const std::string& what) const {
    throw refused(what, where_ + (where_.empty() ? "expression:" : ": expression:") +
                            std::to_string(n.line) + ':' + std::to_string(n.column));
  }

  Operand logical(const Node& n) const {
    const Truth decides = n.verb == Verb::logical_and ? Truth::no : Truth::yes;
    const Truth a = as_truth(value(n.arms[0]), n);
    if (a == decides) return truth(a);
    const Truth b = as_truth(value(n.arms[1]), n);
    if (b == decides) return truth(b);
    return truth(a == Truth::unknown ? a : b);
  }

  // a < b, or a <= b.
  Truth ordered(const Node& n, const Operand& a, const Operand& b, bool is_strict) const {
    if (a.kind == Kind::text && b.kind == Kind::text) {
      return (is_strict ? a.text < b.text : a.text <= b.text) ? Truth::yes : Truth::no;
    }
    require_numbers(n, a, b, "compare");
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return Truth::unknown;
    return expression::ordered(a, b, is_strict);
  }

  Truth membership(const Node& n) const {
    const Operand item = value(n.arms[0]);
    Truth out = Truth::no;
    for (std::size_t i = 1; i < n.arms.size(); ++i) {
      const Truth t = equal(item, value(n.arms[i]));
      if (t == Truth::yes) return t;
      if (t == Truth::unknown) out = t;
    }
    return out;
  }

  void require_numbers(const Node& n, const Operand& a, const Operand& b,
                       const std::string& verb) const {
    for (const Operand* o : {&a, &b}) {
      if (o->kind != Kind::unknown && !is_number(*o)) {
        fail(n, "cannot " + verb + " a number with a string, a condition or null");
      }
    }
  }

  Operand extreme(const Node& n) const {
    const bool is_least = n.verb == Verb::minimum;
    Operand out = value(n.arms[0]);
    for (std::size_t i = 1; i < n.arms.size(); ++i) {
      const Operand b = value(n.arms[i]);
      require_numbers(n, out, b, "compare");
      const bool is_known = out.kind != Kind::unknown && b.kind != Kind::unknown;
      out = is_known ? expression::extreme(is_least, out, b) : Operand{};
    }
    return out;
  }

  Truth power_of_two(const Node& n) const {
    const Operand a = value(n.arms[0]);
    if (a.kind == Kind::unknown) return Truth::unknown;
    if (a.kind != Kind::integers) fail(n, "is_pow2 needs an integer");
    const auto is_power = [](std::int64_t x) { return x > 0 && (x & (x - 1)) == 0; };
    if (a.low == a.high) return is_power(a.low) ? Truth::yes : Truth::no;
    for (const int bit : below(63)) {
      const std::int64_t power = std::int64_t{1} << bit;
      if (power >= a.low && power <= a.high) return Truth::unknown;
    }
    return Truth::no;
  }

  Operand logarithm(const Node& n) const {
    const Operand a = value(n.arms[0]);
    require_numbers(n, a, a, "take the logarithm of");
    if (a.kind == Kind::unknown) return a;
    if (low_of(a) <= 0) {
      if (is_single(a)) fail(n, "log2 of a number that is not positive");
      return {};
    }
    return Operand::reals_between(std::log2(low_of(a)), std::log2(high_of(a)));
  }

  // a divides b.
  Truth divisible(const Node& n, const Operand& a, const Operand& b) const {
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return Truth::unknown;
    if (a.kind != Kind::integers || b.kind != Kind::integers) fail(n, "divides needs integers");
    if (is_single(a) && is_single(b) && a.low == 0) fail(n, "division by zero");
    return divides(a, b);
  }

  Operand arithmetic(const Node& n, Verb verb, const Operand& a, const Operand& b) const {
    require_numbers(n, a, b, "compute");
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return {};
    const bool is_division = verb == Verb::floor_divide || verb == Verb::modulo ||
                             verb == Verb::divide || verb == Verb::ceil_div;
    if (is_division && low_of(b) <= 0 && high_of(b) >= 0) {
      if (is_single(b)) fail(n, "division by zero");
      return {};
    }
    if (verb == Verb::divide || a.kind == Kind::reals || b.kind == Kind::reals) {
      const auto out = real_arithmetic(verb, a, b);
      if (!out && is_single(a) && is_single(b)) fail(n, "the result is not a finite number");
      return out.value_or(Operand{});
    }
    const auto out = integer_arithmetic(verb, a, b);
    if (!out && is_single(a) && is_single(b)) fail(n, "the integer does not fit in 64 bits");
    return out.value_or(Operand{});
  }

  std::span<const Operand> operands_;
  const std::string& where_;
};

}  // namespace

Truth Expression::evaluate(std::span<const Operand> operands) const {
  const Evaluator evaluator(operands, where_);
  return evaluator.as_truth(evaluator.value(*root_), *root_);
}

}  // namespace halmark
