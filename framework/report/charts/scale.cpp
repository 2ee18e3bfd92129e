#include "report/charts/scale.hpp"

#include <algorithm>
#include <cmath>

#include "core/lists.hpp"

namespace halmark::report {
namespace {

std::vector<double> decade_ticks(double low, double high, const std::vector<double>& steps) {
  std::vector<double> out;
  const int first = as_int(std::floor(std::log10(low)));
  const int last = as_int(std::ceil(std::log10(high)));
  for (int decade = first; decade <= last; ++decade) {
    for (const double step : steps) {
      const double value = step * std::pow(10.0, decade);
      if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) out.push_back(value);
    }
  }
  return out;
}

// Even steps of 1, 2 or 5 times a power of ten, for ranges within a decade.
std::vector<double> even_ticks(double low, double high, int count_max) {
  const double raw = (high - low) / count_max;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = power * 10;
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (power * factor >= raw) {
      step = power * factor;
      break;
    }
  }
  std::vector<double> out;
  for (double value = std::ceil(low / step - 1e-9) * step; value <= high * (1 + 1e-9);
       value += step) {
    out.push_back(value);
  }
  return out;
}

std::vector<double> thinned(const std::vector<double>& ticks, int count_max) {
  const auto every = (ticks.size() + as_size(count_max) - 1) / as_size(count_max);
  std::vector<double> out;
  for (std::size_t i = 0; i < ticks.size(); i += every) out.push_back(ticks[i]);
  return out;
}

}  // namespace

LogScale::LogScale(double low, double high, double from, double to)
    : low_(low), high_(high), from_(from), to_(to) {}

double LogScale::at(double value) const {
  const double clamped = std::clamp(value, low_, high_);
  return from_ + (to_ - from_) * std::log(clamped / low_) / std::log(high_ / low_);
}

LogScale LogScale::around(const std::vector<double>& values, double room, double from, double to) {
  const Range range = padded_range(values, room);
  return {range.low, range.high, from, to};
}

Range padded_range(const std::vector<double>& values, double factor) {
  Range range{0, 0};
  for (const double value : values) {
    if (!std::isfinite(value) || value <= 0) continue;
    range.low = range.high == 0 ? value : std::min(range.low, value);
    range.high = std::max(range.high, value);
  }
  if (range.high == 0) return {};
  if (range.high / range.low < 1.001) factor = 2;
  return {range.low / factor, range.high * factor};
}

std::vector<double> log_ticks(double low, double high, int count_max) {
  const auto fits = [&](const std::vector<double>& ticks) {
    return ticks.size() <= as_size(count_max);
  };
  const std::vector<double> fine = decade_ticks(low, high, {1, 2, 5});
  if (fine.size() < 4) {
    // Even steps cover less than a decade or so; beyond, 1-2-5 always has four ticks.
    const std::vector<double> even = even_ticks(low, high, std::min(count_max, 6));
    return even.size() >= 2 && fits(even) ? even : fine;
  }
  if (fits(fine)) return fine;
  const std::vector<double> decades = decade_ticks(low, high, {1});
  return fits(decades) ? decades : thinned(decades, count_max);
}

}  // namespace halmark::report
