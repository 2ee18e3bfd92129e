#include "history/series.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>

#include "core/text/error.hpp"

namespace halmark::history {
namespace {

std::optional<double> median_of(const std::vector<SeriesRow>& rows,
                                std::optional<double> RowState::*figure) {
  std::vector<double> values;
  for (const SeriesRow& row : rows) {
    if (row.is_usable() && row.state.*figure) values.push_back(*(row.state.*figure));
  }
  return values.empty() ? std::nullopt : std::optional(median(values));
}

}  // namespace

std::optional<double> median_bytes_per_s(const std::vector<SeriesRow>& rows) {
  return median_of(rows, &RowState::bytes_per_s);
}

std::optional<double> median_clock_hz(const std::vector<SeriesRow>& rows) {
  return median_of(rows, &RowState::clock_hz);
}

std::vector<SeriesRow> sound_rows(const std::vector<SeriesRow>& rows) {
  std::vector<SeriesRow> out;
  std::ranges::copy_if(rows, std::back_inserter(out), &SeriesRow::is_sound);
  return out;
}

bool all_broke(std::span<const SeriesRow> rows) {
  return !rows.empty() && std::ranges::all_of(rows, &SeriesRow::is_broken);
}

std::vector<double> log_times(const std::vector<SeriesRow>& rows) {
  std::vector<double> out;
  for (const SeriesRow& row : rows) {
    if (row.is_usable()) out.push_back(std::log(row.ns));
  }
  return out;
}

double parse_floor(const std::string& text, const std::string& where) {
  constexpr double floor_max = 10;
  double value = -1;
  const char* const end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  std::string unit(stop, end);
  std::erase(unit, ' ');
  if (unit == "%") value /= 100;
  const bool is_known = fault == std::errc{} && (unit.empty() || unit == "%");
  if (!is_known || !(value >= 0 && value <= floor_max)) {
    throw refused("'" + text + "' is no share", where, "write 3% or 0.03, up to 1000%");
  }
  return value;
}

}  // namespace halmark::history
