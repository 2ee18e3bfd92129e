// Limits of the validity gate and the rounds that a machine needs, as `halmark aa` finds them and
// as a sweep's [measure] states them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/fields/fields.hpp"
#include "plan/toml/toml_table.hpp"

namespace halmark {

// Each is the first limit of its signal (above it: suspect); absent = the default.
struct MeasureLimits {
  std::optional<std::int64_t> rounds;
  std::optional<double> disturbed_share;    // of a chunk's wall time: its samples are set aside
  std::optional<double> disturbed_samples;  // of all samples
  std::optional<double> run_delay_fraction, involuntary_switches_per_s, steal_fraction;
  std::optional<double> clock_moved, peak_moved, bandwidth_moved;
  bool operator==(const MeasureLimits&) const = default;
};

// All limits but the rounds, by the key of the file.
struct LimitRow {
  const char* key;
  double most;  // the file may not say more
  std::optional<double> MeasureLimits::*value;
};
std::span<const LimitRow> limit_rows();
template <class V, Of<MeasureLimits> M>
void fields(V& v, M& m) {
  v.unless_default("rounds", m.rounds);
  for (const LimitRow& row : limit_rows()) v.unless_default(row.key, m.*row.value);
}

// Those keys that the table has, `rounds` among them.
MeasureLimits read_limits(const TomlTable& table);
// A file with nothing but [measure]. Throws Error (exit 2) with file:line:column.
MeasureLimits read_limits_file(const std::string& path);
std::string limits_text(const MeasureLimits& limits, std::string_view comment);

// `first` where it says something, `second` elsewhere.
MeasureLimits first_of(const MeasureLimits& first, const MeasureLimits& second);

}  // namespace halmark
