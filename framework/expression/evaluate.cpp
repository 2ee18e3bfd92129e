#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/text/error.hpp"
#include "expression/node.hpp"

namespace halmark {

Operand Operand::of(const ParamValue& value) {
  Operand out;
  if (const auto* b = std::get_if<bool>(&value)) {
    out.kind = Kind::boolean;
    out.low = out.high = *b ? 1 : 0;
  } else if (const auto* i = std::get_if<std::int64_t>(&value)) {
    out = integers_between(*i, *i);
  } else if (const auto* d = std::get_if<double>(&value)) {
    out = reals_between(*d, *d);
  } else if (const auto* s = std::get_if<std::string>(&value)) {
    out.kind = Kind::text;
    out.text = *s;
  } else {
    out.kind = Kind::null;
  }
  return out;
}

Operand Operand::integers_between(std::int64_t low, std::int64_t high) {
  Operand out;
  out.kind = Kind::integers;
  out.low = low;
  out.high = high;
  return out;
}

Operand Operand::reals_between(double low, double high) {
  Operand out;
  out.kind = Kind::reals;
  out.low_real = low;
  out.high_real = high;
  return out;
}

namespace {

using Node = Expression::Node;
using Kind = Operand::Kind;

Operand truth(Truth value) {
  Operand out;
  out.kind = Kind::boolean;
  out.low = value == Truth::yes ? 1 : 0;
  out.high = value == Truth::no ? 0 : 1;
  return out;
}

Truth truth_if(bool surely, bool surely_not) {
  return surely ? Truth::yes : surely_not ? Truth::no : Truth::unknown;
}

bool is_number(const Operand& o) { return o.kind == Kind::integers || o.kind == Kind::reals; }
bool is_single(const Operand& o) {
  switch (o.kind) {
    case Kind::unknown:
      return false;
    case Kind::integers:
    case Kind::boolean:
      return o.low == o.high;
    case Kind::reals:
      return o.low_real == o.high_real;
    case Kind::text:
    case Kind::null:
      return true;
  }
  return false;
}
double low_of(const Operand& o) {
  return o.kind == Kind::integers ? static_cast<double>(o.low) : o.low_real;
}
double high_of(const Operand& o) {
  return o.kind == Kind::integers ? static_cast<double>(o.high) : o.high_real;
}

std::optional<std::int64_t> floor_divide(std::int64_t a, std::int64_t b) {
  if (a == std::numeric_limits<std::int64_t>::min() && b == -1) return std::nullopt;
  const std::int64_t q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

std::int64_t floor_modulo(std::int64_t a, std::int64_t b) {
  if (b == -1) return 0;
  const std::int64_t r = a % b;
  return r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

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

  static Truth equal(const Operand& a, const Operand& b) {
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return Truth::unknown;
    if (a.kind == Kind::integers && b.kind == Kind::integers) {
      return truth_if(a.low == a.high && b.low == b.high && a.low == b.low,
                      a.high < b.low || b.high < a.low);
    }
    if (is_number(a) && is_number(b)) {
      return truth_if(is_single(a) && is_single(b) && low_of(a) == low_of(b),
                      high_of(a) < low_of(b) || high_of(b) < low_of(a));
    }
    if (a.kind != b.kind) return Truth::no;
    if (a.kind == Kind::text) return a.text == b.text ? Truth::yes : Truth::no;
    if (a.kind == Kind::null) return Truth::yes;
    return truth_if(is_single(a) && is_single(b) && a.low == b.low,
                    a.high < b.low || b.high < a.low);
  }

  // a < b, or a <= b.
  Truth ordered(const Node& n, const Operand& a, const Operand& b, bool is_strict) const {
    if (a.kind == Kind::text && b.kind == Kind::text) {
      return (is_strict ? a.text < b.text : a.text <= b.text) ? Truth::yes : Truth::no;
    }
    require_numbers(n, a, b, "compare");
    if (a.kind == Kind::unknown || b.kind == Kind::unknown) return Truth::unknown;
    if (a.kind == Kind::integers && b.kind == Kind::integers) {
      return is_strict ? truth_if(a.high < b.low, a.low >= b.high)
                       : truth_if(a.high <= b.low, a.low > b.high);
    }
    return is_strict ? truth_if(high_of(a) < low_of(b), low_of(a) >= high_of(b))
                     : truth_if(high_of(a) <= low_of(b), low_of(a) > high_of(b));
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
      if (out.kind == Kind::unknown || b.kind == Kind::unknown) {
        out = Operand{};
      } else if (out.kind == Kind::integers && b.kind == Kind::integers) {
        out = is_least
                  ? Operand::integers_between(std::min(out.low, b.low), std::min(out.high, b.high))
                  : Operand::integers_between(std::max(out.low, b.low), std::max(out.high, b.high));
      } else {
        out = is_least ? Operand::reals_between(std::min(low_of(out), low_of(b)),
                                                std::min(high_of(out), high_of(b)))
                       : Operand::reals_between(std::max(low_of(out), low_of(b)),
                                                std::max(high_of(out), high_of(b)));
      }
    }
    return out;
  }

  Truth power_of_two(const Node& n) const {
    const Operand a = value(n.arms[0]);
    if (a.kind == Kind::unknown) return Truth::unknown;
    if (a.kind != Kind::integers) fail(n, "is_pow2 needs an integer");
    const auto is_power = [](std::int64_t x) { return x > 0 && (x & (x - 1)) == 0; };
    if (a.low == a.high) return is_power(a.low) ? Truth::yes : Truth::no;
    for (int bit = 0; bit < 63; ++bit) {
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
    if (is_single(a) && is_single(b)) {
      if (a.low == 0) fail(n, "division by zero");
      return floor_modulo(b.low, a.low) == 0 ? Truth::yes : Truth::no;
    }
    if (is_single(a) && (a.low == 1 || a.low == -1)) return Truth::yes;
    // No multiple of a single divisor between the ends of b.
    if (is_single(a) && a.low > 0) {
      const std::uint64_t width =
          static_cast<std::uint64_t>(b.high) - static_cast<std::uint64_t>(b.low);
      const auto beyond = static_cast<std::uint64_t>(floor_modulo(b.high, a.low));
      return beyond > width ? Truth::no : Truth::unknown;
    }
    return b.low > 0 && a.low > b.high ? Truth::no : Truth::unknown;
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
      return real_arithmetic(n, verb, a, b);
    }
    const auto out = integer_arithmetic(verb, a, b);
    if (!out && is_single(a) && is_single(b)) fail(n, "the integer does not fit in 64 bits");
    return out.value_or(Operand{});
  }

  // Nothing on an overflow.
  static std::optional<Operand> integer_arithmetic(Verb verb, const Operand& a, const Operand& b) {
    if (verb == Verb::modulo) return remainder(a, b);
    if (verb == Verb::ceil_div) {  // -((-a) // b)
      const auto zero = Operand::integers_between(0, 0);
      const auto negated = integer_arithmetic(Verb::subtract, zero, a);
      const auto quotient =
          negated ? integer_arithmetic(Verb::floor_divide, *negated, b) : std::nullopt;
      return quotient ? integer_arithmetic(Verb::subtract, zero, *quotient) : std::nullopt;
    }
    std::int64_t low = std::numeric_limits<std::int64_t>::max(),
                 high = std::numeric_limits<std::int64_t>::min();
    for (const std::int64_t x : {a.low, a.high}) {
      for (const std::int64_t y : {b.low, b.high}) {
        std::int64_t z = 0;
        bool overflows = false;
        if (verb == Verb::floor_divide) {
          const auto quotient = floor_divide(x, y);
          overflows = !quotient;
          z = quotient.value_or(0);
        } else {
          overflows = verb == Verb::add        ? __builtin_add_overflow(x, y, &z)
                      : verb == Verb::subtract ? __builtin_sub_overflow(x, y, &z)
                                               : __builtin_mul_overflow(x, y, &z);
        }
        if (overflows) return std::nullopt;
        low = std::min(low, z);
        high = std::max(high, z);
      }
    }
    return Operand::integers_between(low, high);
  }

  static Operand remainder(const Operand& a, const Operand& b) {
    if (is_single(a) && is_single(b)) {
      const std::int64_t r = floor_modulo(a.low, b.low);
      return Operand::integers_between(r, r);
    }
    if (b.low <= 0) return {};
    if (is_single(b) && floor_divide(a.low, b.low) == floor_divide(a.high, b.low)) {
      return Operand::integers_between(floor_modulo(a.low, b.low), floor_modulo(a.high, b.low));
    }
    return Operand::integers_between(0, a.low >= 0 ? std::min(a.high, b.high - 1) : b.high - 1);
  }

  Operand real_arithmetic(const Node& n, Verb verb, const Operand& a, const Operand& b) const {
    if (verb == Verb::modulo && !(is_single(a) && is_single(b))) return {};
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (const double x : {low_of(a), high_of(a)}) {
      for (const double y : {low_of(b), high_of(b)}) {
        double z = 0;
        switch (verb) {
          case Verb::add:
            z = x + y;
            break;
          case Verb::subtract:
            z = x - y;
            break;
          case Verb::multiply:
            z = x * y;
            break;
          case Verb::divide:
            z = x / y;
            break;
          case Verb::floor_divide:
            z = std::floor(x / y);
            break;
          case Verb::ceil_div:
            z = std::ceil(x / y);
            break;
          default:
            z = x - y * std::floor(x / y);
        }
        if (!std::isfinite(z)) {
          if (is_single(a) && is_single(b)) fail(n, "the result is not a finite number");
          return {};
        }
        low = std::min(low, z);
        high = std::max(high, z);
      }
    }
    return Operand::reals_between(low, high);
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
