// One table of keys serves sweeps, the file of a machine, and who writes it.
#include "plan/measure_limits.hpp"

#include <array>

#include "core/text/text.hpp"

namespace halmark {

std::span<const LimitRow> limit_rows() {
  static constexpr std::array rows = {
      LimitRow{"disturbed_share", 1, &MeasureLimits::disturbed_share},
      LimitRow{"disturbed_samples", 1, &MeasureLimits::disturbed_samples},
      LimitRow{"run_delay_fraction", 1, &MeasureLimits::run_delay_fraction},
      LimitRow{"involuntary_switches_per_s", 1e6, &MeasureLimits::involuntary_switches_per_s},
      LimitRow{"steal_fraction", 1, &MeasureLimits::steal_fraction},
      LimitRow{"clock_moved", 1, &MeasureLimits::clock_moved},
      LimitRow{"peak_moved", 1, &MeasureLimits::peak_moved},
      LimitRow{"bandwidth_moved", 1, &MeasureLimits::bandwidth_moved},
  };
  return rows;
}

MeasureLimits read_limits(const TomlTable& table) {
  MeasureLimits out;
  if (table.has("rounds")) out.rounds = table.integer("rounds", 1, 99);
  for (const LimitRow& row : limit_rows()) {
    if (table.has(row.key)) out.*row.value = table.number(row.key, 0, row.most);
  }
  return out;
}

MeasureLimits read_limits_file(const std::string& path) {
  const TomlTable root = TomlTable::parse_file(path, "limits");
  MeasureLimits out;
  if (const auto table = root.table("measure")) out = read_limits(*table);
  root.finish();
  return out;
}

std::string limits_text(const MeasureLimits& limits, std::string_view comment) {
  std::string out = "# ";
  out += comment;
  out += "\n[measure]\n";
  if (limits.rounds) out += "rounds = " + std::to_string(*limits.rounds) + '\n';
  for (const LimitRow& row : limit_rows()) {
    if (!(limits.*row.value)) continue;
    out += row.key;
    out += " = " + number_text(*(limits.*row.value)) + '\n';
  }
  return out;
}

MeasureLimits first_of(const MeasureLimits& first, const MeasureLimits& second) {
  MeasureLimits out = first;
  if (!out.rounds) out.rounds = second.rounds;
  for (const LimitRow& row : limit_rows()) {
    if (!(out.*row.value)) out.*row.value = second.*row.value;
  }
  return out;
}

}  // namespace halmark
