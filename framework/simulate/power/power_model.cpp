#include "simulate/power/power_model.hpp"

#include <algorithm>
#include <cmath>

namespace halmark::power {
namespace {

constexpr double least_clock = 0.2;
constexpr double stretch_most = 1000;  // beyond the lowest clock
constexpr int bisections = 60;
constexpr const char* measured_table =
    "32,520 products on an H200 with a limit of 700 W, vLLM 0.22.0 "
    "(ai-dynamo/aiconfigurator@095f58a5)";

// By fit_power on half of the shapes of that table; test_timeline_power.cpp gives the errors on the
// other half: medians of 6.6 % and 8.8 %.
constexpr double fitted_limit_w = 700;
const PowerModel sixteen_bit = {.idle_w = 138.3,
                                .limit_w = fitted_limit_w,
                                .compute_w = 610.9,
                                .compute_exponent = 0.63,
                                .memory_w = 515.6,
                                .memory_exponent = 0.71,
                                .gap_s = 11.8e-6};
const PowerModel eight_bit = {.idle_w = 106.2,
                              .limit_w = fitted_limit_w,
                              .compute_w = 714.2,
                              .compute_exponent = 0.43,
                              .memory_w = 997.2,
                              .memory_exponent = 0.49,
                              .gap_s = 22.0e-6};

double above_idle_w(const PowerModel& model, const Activity& activity, double clock) {
  const auto part = [](double watts, double share, double exponent) {
    return share <= 0 ? 0.0 : watts * std::pow(std::min(share, 1.0), exponent);
  };
  return clock * clock * clock *
             part(model.compute_w, activity.flops_share, model.compute_exponent) +
         part(model.memory_w, activity.bytes_share, model.memory_exponent);
}

// The kernel's time at a lower clock: shares are of peaks, so that the larger of them is what it
// waits for.
double stretch_at(const Activity& activity, double clock) {
  const double waits = std::max(activity.flops_share, activity.bytes_share);
  return waits <= 0 ? 1 : std::max(1.0, activity.flops_share / clock / waits);
}

double share(double amount, double seconds, double per_s) {
  return per_s > 0 && seconds > 0 ? std::min(1.0, amount / seconds / per_s) : 0;
}

}  // namespace

Activity activity_of(double flops, double bytes, double seconds, double flops_per_s,
                     double bytes_per_s) {
  return {share(flops, seconds, flops_per_s), share(bytes, seconds, bytes_per_s)};
}

double power_w(const PowerModel& model, const Activity& activity, double seconds) {
  const double busy = std::isinf(seconds) ? 1 : seconds / (seconds + model.gap_s);
  return std::min(model.limit_w, model.idle_w + above_idle_w(model, activity, 1) * busy);
}

std::optional<PowerModel> power_model_of(const Device& device, Dtype compute_dtype) {
  if (!device.power_w) return std::nullopt;
  PowerModel out = dtype_bits(compute_dtype) <= 8 ? eight_bit : sixteen_bit;
  out.is_fitted = device.is_called("h200");
  out.origin = out.is_fitted
                   ? std::string("fitted to ") + measured_table
                   : std::string("as shares of its limit an H200 draws them: ") + measured_table;
  const double scale = *device.power_w / fitted_limit_w;
  out.limit_w = *device.power_w;
  out.idle_w *= scale, out.compute_w *= scale, out.memory_w *= scale;
  return out;
}

Capped capped(const PowerModel& model, const Activity& activity, double cap_w) {
  const auto drawn = [&](double clock, double stretch) {
    // A kernel that takes longer moves its bytes, and computes, more slowly.
    const double slower = stretch / stretch_at(activity, clock);
    const Activity slowed = {activity.flops_share / slower, activity.bytes_share / stretch};
    return std::min(model.limit_w, model.idle_w + above_idle_w(model, slowed, clock));
  };
  const auto at_clock = [&](double clock) { return drawn(clock, stretch_at(activity, clock)); };
  Capped out{.power_w = at_clock(1)};
  if (out.power_w <= cap_w) return out;
  if (cap_w <= model.idle_w)
    return {.clock = least_clock, .power_w = model.idle_w, .is_kept = false};
  const bool is_by_clock = at_clock(least_clock) <= cap_w;
  // What keeps the cap lies between: of the clock, or at the lowest one of the stretch.
  double kept = is_by_clock ? least_clock : stretch_most, beyond = 1;
  for (int step = 0; step < bisections; ++step) {
    const double middle = (kept + beyond) / 2;
    const double watts = is_by_clock
                             ? at_clock(middle)
                             : drawn(least_clock, stretch_at(activity, least_clock) * middle);
    (watts > cap_w ? beyond : kept) = middle;
  }
  out.clock = is_by_clock ? kept : least_clock;
  out.stretch = stretch_at(activity, out.clock) * (is_by_clock ? 1 : kept);
  out.power_w = drawn(out.clock, out.stretch);
  out.is_kept = out.power_w <= cap_w * (1 + 1e-9);
  return out;
}

}  // namespace halmark::power
