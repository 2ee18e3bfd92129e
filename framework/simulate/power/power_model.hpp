// The power that a device draws by how much of its peaks a kernel uses, where no meter says it.
#pragma once

#include <limits>
#include <optional>
#include <string>

#include "core/device.hpp"
#include "core/dtype.hpp"

namespace halmark::power {

// Shares of the device's peak and memory bandwidth that a kernel uses while it executes, 0 to 1.
struct Activity {
  double flops_share = 0, bytes_share = 0;
};

// Of so much work within `seconds`; a rate of 0 is not known, and its share 0.
Activity activity_of(double flops, double bytes, double seconds, double flops_per_s,
                     double bytes_per_s);

// idle + compute F^a + memory B^b, at most the limit. A loop of executions of t seconds shows
// t / (t + gap) of the part above idle: between short ones the device waits for the next.
struct PowerModel {
  double idle_w = 0, limit_w = 0;
  double compute_w = 0, compute_exponent = 1;
  double memory_w = 0, memory_exponent = 1;
  double gap_s = 0;
  bool is_fitted = false;  // to this device's own meter; else the shares of another device's limit
  std::string origin;
};

constexpr double long_execution = std::numeric_limits<double>::infinity();
double power_w(const PowerModel& model, const Activity& activity, double seconds = long_execution);

// Fitted where power was measured (H200: products of bf16 and of blocks of fp8), else the same
// shares of the device's stated power. Nothing where the device states none.
std::optional<PowerModel> power_model_of(const Device& device, Dtype compute_dtype);

// What a cap makes of a kernel: the clock of the cores is lowered to the share `clock`.
struct Capped {
  double clock = 1;    // of the uncapped one
  double stretch = 1;  // of the kernel's time
  double power_w = 0;
  bool is_kept = true;  // false: the device draws more when it idles
};

// Power of the cores goes with the cube of their clock (frequency times the square of a voltage
// that follows it); the memory keeps its clock. A kernel that waits for memory is slowed only once
// the cores need longer than the memory: the finding of 2308.12908 (section 4.3), that decoding
// loses little under a cap and prefill much. The lowest clock is 0.2 of the highest; where
// that is not enough the device pauses between its works, so that its memory moves less too.
Capped capped(const PowerModel& model, const Activity& activity, double cap_w);

}  // namespace halmark::power
