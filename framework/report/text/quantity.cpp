#include "report/text/quantity.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>

#include "core/text/text.hpp"

namespace halmark::report {
namespace {

struct Unit {
  double size;
  const char* name;
};

constexpr Unit time_units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
constexpr Unit rate_units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1, ""}};
constexpr Unit size_units[] = {
    {1099511627776.0, "TiB"}, {1073741824.0, "GiB"}, {1048576.0, "MiB"}, {1024.0, "KiB"}, {1, "B"}};
constexpr Unit tick_units[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}};

// The largest unit that leaves at least one whole of it; 999.7 us is already 1.00 ms.
const Unit& unit_of(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (std::abs(value) >= unit.size * 0.9995) return unit;
  }
  return units.back();
}

std::string with_unit(double value, std::span<const Unit> units, const std::string& suffix = {}) {
  if (!std::isfinite(value)) return absent_text;
  const Unit& unit = unit_of(value, units);
  return significant_text(value / unit.size) + ' ' + unit.name + suffix;
}

// "20.0" -> "20": ticks are round numbers.
std::string without_zeros(std::string text) {
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

}  // namespace

std::string fixed_text(double value, int decimals) {
  if (!std::isfinite(value)) return absent_text;
  if (std::abs(value) >= 1e18) return exact_text(value);
  std::array<char, 64> buffer{};
  const auto result = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                    std::chars_format::fixed, decimals);
  std::string out(buffer.data(), result.ptr);
  const bool is_zero = out.find_first_of("123456789") == std::string::npos;
  if (is_zero && out.front() == '-') out.erase(0, 1);
  return out;
}

std::string significant_text(double value, int digits) {
  if (!std::isfinite(value)) return absent_text;
  if (value == 0) return "0";
  const double magnitude = std::abs(value);
  if (magnitude < 1e-6) return exact_text(value);
  int exponent = static_cast<int>(std::floor(std::log10(magnitude)));
  // Rounding may carry into the next decade: 9.996 has three digits as 10.0.
  const double half_step = 0.5 * std::pow(10.0, exponent - digits + 1);
  if (magnitude + half_step >= std::pow(10.0, exponent + 1)) ++exponent;
  return fixed_text(value, std::max(0, digits - 1 - exponent));
}

std::string exact_text(double value) {
  if (!std::isfinite(value)) return absent_text;
  return number_text(value);
}

std::string duration_text(double ns) { return with_unit(ns, time_units); }

std::string duration_range_text(double low_ns, double high_ns) {
  if (!std::isfinite(low_ns) || !std::isfinite(high_ns)) return absent_text;
  const Unit& unit = unit_of(high_ns, time_units);
  // "321 ms..1.34 s": beside a mean in ms, 0.321 would be read as one.
  const bool is_one = low_ns == 0 || &unit_of(low_ns, time_units) == &unit;
  return (is_one ? significant_text(low_ns / unit.size) : duration_text(low_ns)) + ".." +
         significant_text(high_ns / unit.size) + ' ' + unit.name;
}

std::string rate_text(double per_s, const std::string& unit) {
  return with_unit(per_s, rate_units, unit);
}
std::string flops_text(double flops_per_s) { return rate_text(flops_per_s, "FLOP/s"); }
std::string bandwidth_text(double bytes_per_s) { return rate_text(bytes_per_s, "B/s"); }
std::string bytes_text(double bytes) { return with_unit(bytes, size_units); }

std::string percent_text(std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction)) return absent_text;
  const double percent = *fraction * 100;
  return fixed_text(percent, std::abs(percent) < 9.995 ? 2 : 1) + " %";
}

// What is not certain is not printed as if it were.
std::string probability_text(double probability) {
  constexpr double most = 0.999;
  return percent_text(probability < 1 ? std::min(probability, most) : probability);
}

std::string rounded_percent_text(std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction)) return absent_text;
  return fixed_text(*fraction * 100, 1) + " %";
}

std::string signed_percent_text(std::optional<double> fraction) {
  if (!fraction || !std::isfinite(*fraction)) return absent_text;
  const std::string text = fixed_text(*fraction * 100, 1) + " %";
  return *fraction >= 0 && text.front() != '-' ? '+' + text : text;
}

std::string duration_tick_text(double ns) {
  if (!std::isfinite(ns)) return absent_text;
  const Unit& unit = unit_of(ns, time_units);
  return without_zeros(significant_text(ns / unit.size)) + ' ' + unit.name;
}

std::string compact_text(double value) {
  if (!std::isfinite(value)) return absent_text;
  const Unit& unit = unit_of(value, tick_units);
  return without_zeros(significant_text(value / unit.size)) + unit.name;
}

}  // namespace halmark::report
