#include "core/chosen/search_domain.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "core/text/text.hpp"

namespace halmark {
namespace {

// The number behind a value that is one; bool is none.
std::optional<double> number_of(const ParamValue& value) {
  if (const auto* i = std::get_if<std::int64_t>(&value)) return as_double(*i);
  if (const auto* d = std::get_if<double>(&value)) return *d;
  return std::nullopt;
}

bool same(const ParamValue& a, const ParamValue& b) {
  const auto x = number_of(a), y = number_of(b);
  return x && y ? *x == *y : a == b;
}

// 1e-300 to 1e300: the ratio is no number any more. Others keep the roundings that stored studies
// were drawn with.
bool is_wide(const SearchDomain& domain) { return !std::isfinite(domain.high / domain.low); }

double on_log_scale(const SearchDomain& domain, double unit) {
  if (!is_wide(domain)) return domain.low * std::exp(unit * std::log(domain.high / domain.low));
  const double low = std::log(domain.low), high = std::log(domain.high);
  return std::exp(low + unit * (high - low));
}

}  // namespace

std::string text_of(const ParamValue& value) {
  struct Text {
    std::string operator()(std::nullptr_t) const { return "null"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double d) const { return number_text(d); }
    std::string operator()(const std::string& s) const { return s; }
  };
  return std::visit(Text{}, value);
}

void SearchDomain::check(const std::string& where) {
  const auto wrong = [&](const std::string& what) {
    throw refused("domain '" + name + "' " + what, where);
  };
  if (kind == DomainKind::categorical || kind == DomainKind::ordinal) {
    if (values.empty()) wrong("is empty");
    for (const auto i : indices(values)) {
      if (const auto x = number_of(values[i]); x && !std::isfinite(*x)) wrong("is not finite");
      for (const auto k : indices(i)) {
        if (same(values[i], values[k])) wrong("repeats the value " + text_of(values[i]));
      }
    }
    return;
  }
  constexpr auto largest = as_double(domain_integer_max);
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) {
    wrong("needs low <= high, found " + number_text(low) + " and " + number_text(high));
  }
  if (!std::isfinite(step) || step < 0) wrong("needs a positive step");
  if (is_log && low <= 0) wrong("is logarithmic and must begin above zero");
  if (kind == DomainKind::integer) {
    if (step == 0) step = 1;
    if (low != std::floor(low) || high != std::floor(high) || step != std::floor(step)) {
      wrong("is of integers; low, high and step must be integers");
    }
    if (std::abs(low) > largest || std::abs(high) > largest) wrong("reaches beyond 2^53");
    if (is_log && step != 1) wrong("has both a step and a log");
  } else if (is_log && step != 0) {
    wrong("has both a step and a log");
  }
  if (step > 0) {
    // A step that misses `high` by rounding alone reaches it: 0 to 1 by 0.1 has eleven levels.
    const double steps = std::floor((high - low) / step * (1 + 1e-12) + 1e-9);
    if (steps > largest) wrong("has more than 2^53 levels");
    const double last = low + steps * step;
    high = kind == DomainKind::integer ? last : std::min(last, high);
  }
}

std::uint64_t SearchDomain::levels() const {
  if (kind == DomainKind::categorical || kind == DomainKind::ordinal) return values.size();
  if (kind == DomainKind::real && step == 0) return low == high ? 1 : 0;
  const double size = step == 0 ? 1 : step;
  return as_uint64(std::llround((high - low) / size)) + 1;
}

ParamValue SearchDomain::value(double coordinate) const {
  switch (kind) {
    case DomainKind::categorical:
    case DomainKind::ordinal:
      return values.at(as_size(coordinate));
    case DomainKind::integer:
      return as_int64(low + coordinate * (step == 0 ? 1 : step));
    case DomainKind::real:
      break;
  }
  if (step > 0) return std::min(low + coordinate * step, high);
  return low == high ? low : coordinate;
}

std::optional<double> SearchDomain::coordinate(const ParamValue& wanted) const {
  if (kind == DomainKind::categorical || kind == DomainKind::ordinal) {
    for (const auto i : indices(values)) {
      if (same(values[i], wanted)) return as_double(i);
    }
    return std::nullopt;
  }
  const auto x = number_of(wanted);
  if (!x || !(*x >= low && *x <= high)) return std::nullopt;
  if (levels() == 0) return *x;
  const double size = step == 0 ? 1 : step;
  const double level = std::round((*x - low) / size);
  // What was printed in decimals and read back may be off by a rounding.
  const bool is_on_level = kind == DomainKind::integer
                               ? low + level * size == *x
                               : std::abs(low + level * size - *x) <= 1e-9 * size;
  return is_on_level ? std::optional(level) : std::nullopt;
}

double SearchDomain::unit(double coordinate) const {
  if (kind == DomainKind::categorical || kind == DomainKind::ordinal) {
    return values.size() < 2 ? 0.5 : coordinate / as_double(values.size() - 1);
  }
  if (low == high) return 0.5;
  const double size = kind == DomainKind::integer && step == 0 ? 1 : step;
  const double x = size > 0 ? low + coordinate * size : coordinate;
  if (is_log) {
    return is_wide(*this) ? (std::log(x) - std::log(low)) / (std::log(high) - std::log(low))
                          : std::log(x / low) / std::log(high / low);
  }
  return (x - low) / (high - low);
}

double SearchDomain::from_unit(double unit) const {
  unit = std::clamp(unit, 0.0, 1.0);
  const std::uint64_t count = levels();
  if (count == 0) {
    const double x = is_log ? on_log_scale(*this, unit) : low + unit * (high - low);
    return std::clamp(x, low, high);
  }
  const auto last = as_double(count - 1);
  if (is_log && low != high) {
    const double x = on_log_scale(*this, unit);
    return std::clamp(std::round(x - low), 0.0, last);
  }
  return std::round(unit * last);
}

}  // namespace halmark
