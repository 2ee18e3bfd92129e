// The columns of recorded loads, Halmark's own and those of public traces and engines' logs, and
// what their times mean.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace halmark::serving {

enum Column : std::size_t { arrival, input, output, prefix, prefix_tokens, priority };
inline constexpr std::array<std::string_view, 6> column_names = {
    "arrival_s", "input_tokens", "output_tokens", "prefix_id", "prefix_tokens", "priority"};
inline constexpr std::size_t needed_columns = 3;  // the first of them

// Where each column stands among the names of a head: 1 + its place; 0 = nowhere.
struct ColumnPlaces {
  std::array<std::size_t, column_names.size()> at{};
  bool is_foreign = false;          // in other words than Halmark's: others may stand beside them
  double seconds_per_unit = 1;      // of a time that is a number
  std::vector<std::string> others;  // that are not read
};
// Throws Error (exit 2) naming `where`: a column that is none of a trace, or is missing.
ColumnPlaces places_of(const std::vector<std::string>& head, const std::string& where);

// Seconds since 1970 of "2023-11-16 18:15:46.68", with a T, a Z or +01:00 too; nothing for others.
std::optional<double> seconds_of_date(std::string_view text);

}  // namespace halmark::serving
