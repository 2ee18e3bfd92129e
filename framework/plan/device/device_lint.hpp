// Judges the figures of a device file: against each other, against units and clocks, and against
// what is known of the part it names. Catches sparse figures in the place of dense ones.
#pragma once

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "plan/device/device_file.hpp"

namespace halmark {

struct DeviceFinding {
  enum class Severity { warning, error };
  Severity severity = Severity::error;
  std::string where;  // file:line:column
  std::string text;
};
std::string_view severity_name(DeviceFinding::Severity severity);

inline constexpr double ratio_tolerance = 0.02;  // datasheets round
// Within `share` of what is expected.
inline bool near(double value, double expected, double share) {
  return std::fabs(value - expected) <= share * std::fabs(expected);
}

// What a file says by itself:
//   a stated peak is within 1 % of units x FMA/cycle x 2 x clock, where those are given;
//   f16 = bf16 and 8 bit = 2 x 16 bit on the same engine, unless the file states the ratio;
//   no path has two figures, no 16-bit path is 4 x tf32 and no 8-bit float path 4 x 16 bit
//   (sparse); memory bandwidth <= pins x rate, and plausible for the capacity.
std::vector<DeviceFinding> lint_figures(const DeviceFile& file);

// What a file says of a part that `known` has, by id, alias, or an alias within the name: figures
// above the known ones are errors, twice the dense figure is called probably sparse, half a link
// one direction taken for two. Measured devices are left alone.
std::vector<DeviceFinding> lint_against_known(const DeviceFile& file,
                                              std::span<const DeviceFile> known);

// Both, in the order of the file.
std::vector<DeviceFinding> lint_device(const DeviceFile& file, std::span<const DeviceFile> known);

}  // namespace halmark
