// What holds for every value between the ends of two operands.
#include "expression/interval.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lists.hpp"

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

namespace expression {
namespace {

using Kind = Operand::Kind;

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

Operand remainder(const Operand& a, const Operand& b) {
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

double real_result(Verb verb, double x, double y) {
  switch (verb) {
    case Verb::add:
      return x + y;
    case Verb::subtract:
      return x - y;
    case Verb::multiply:
      return x * y;
    case Verb::divide:
      return x / y;
    case Verb::floor_divide:
      return std::floor(x / y);
    case Verb::ceil_div:
      return std::ceil(x / y);
    default:
      return x - y * std::floor(x / y);
  }
}

}  // namespace

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

double low_of(const Operand& o) { return o.kind == Kind::integers ? as_double(o.low) : o.low_real; }

double high_of(const Operand& o) {
  return o.kind == Kind::integers ? as_double(o.high) : o.high_real;
}

Truth equal(const Operand& a, const Operand& b) {
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
  return truth_if(is_single(a) && is_single(b) && a.low == b.low, a.high < b.low || b.high < a.low);
}

Truth ordered(const Operand& a, const Operand& b, bool is_strict) {
  if (a.kind == Kind::integers && b.kind == Kind::integers) {
    return is_strict ? truth_if(a.high < b.low, a.low >= b.high)
                     : truth_if(a.high <= b.low, a.low > b.high);
  }
  return is_strict ? truth_if(high_of(a) < low_of(b), low_of(a) >= high_of(b))
                   : truth_if(high_of(a) <= low_of(b), low_of(a) > high_of(b));
}

Operand extreme(bool is_least, const Operand& a, const Operand& b) {
  if (a.kind == Kind::integers && b.kind == Kind::integers) {
    return is_least ? Operand::integers_between(std::min(a.low, b.low), std::min(a.high, b.high))
                    : Operand::integers_between(std::max(a.low, b.low), std::max(a.high, b.high));
  }
  return is_least ? Operand::reals_between(std::min(low_of(a), low_of(b)),
                                           std::min(high_of(a), high_of(b)))
                  : Operand::reals_between(std::max(low_of(a), low_of(b)),
                                           std::max(high_of(a), high_of(b)));
}

Truth divides(const Operand& a, const Operand& b) {
  if (is_single(a) && is_single(b)) {
    return floor_modulo(b.low, a.low) == 0 ? Truth::yes : Truth::no;
  }
  if (is_single(a) && (a.low == 1 || a.low == -1)) return Truth::yes;
  // No multiple of a single divisor between the ends of b.
  if (is_single(a) && a.low > 0) {
    const std::uint64_t width = as_uint64(b.high) - as_uint64(b.low);
    const auto beyond = as_uint64(floor_modulo(b.high, a.low));
    return beyond > width ? Truth::no : Truth::unknown;
  }
  return b.low > 0 && a.low > b.high ? Truth::no : Truth::unknown;
}

std::optional<Operand> integer_arithmetic(Verb verb, const Operand& a, const Operand& b) {
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

std::optional<Operand> real_arithmetic(Verb verb, const Operand& a, const Operand& b) {
  if (verb == Verb::modulo && !(is_single(a) && is_single(b))) return Operand{};
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double x : {low_of(a), high_of(a)}) {
    for (const double y : {low_of(b), high_of(b)}) {
      const double z = real_result(verb, x, y);
      if (!std::isfinite(z)) return std::nullopt;
      low = std::min(low, z);
      high = std::max(high, z);
    }
  }
  return Operand::reals_between(low, high);
}

}  // namespace expression
}  // namespace halmark
