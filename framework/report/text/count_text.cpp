#include "report/text/count_text.hpp"

#include <cmath>

#include "core/numeric/cast.hpp"
#include "report/text/quantity.hpp"

namespace halmark::report {

std::string grouped_text(std::int64_t count) {
  std::string out = std::to_string(count);
  const std::ptrdiff_t first = out.front() == '-' ? 1 : 0;
  for (auto at = static_cast<std::ptrdiff_t>(out.size()) - 3; at > first; at -= 3) {
    out.insert(as_size(at), ",");
  }
  return out;
}

std::string four_digits_text(double value) {
  if (!(std::abs(value) >= 999.5 && std::abs(value) < 1e18)) return significant_text(value);
  const double unit = std::pow(10.0, std::floor(std::log10(std::abs(value))) - 3);
  return grouped_text(std::llround(std::round(value / unit) * unit));
}

std::string short_count_text(std::int64_t count) {
  const auto n = as_double(count);
  if (n >= 1e12) return significant_text(n / 1e12) + " T";
  if (n >= 1e9) return significant_text(n / 1e9) + " B";
  return n >= 1e6 ? significant_text(n / 1e6) + " M" : std::to_string(count);
}

std::string flop_text(double flops) {
  if (!(flops >= 999.5e12)) return rate_text(flops, "FLOP");
  const bool is_exa = flops >= 999.5e15;
  return four_digits_text(flops / (is_exa ? 1e18 : 1e15)) + (is_exa ? " EFLOP" : " PFLOP");
}

}  // namespace halmark::report
