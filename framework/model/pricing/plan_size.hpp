// How many devices, how much energy, money and carbon a job needs: N = FLOPs / (peak x MFU x time).
// Nothing here knows a price or a grid: what is not given stays absent.
#pragma once

#include <cstdint>
#include <optional>

#include "core/chosen/configuration.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark {

struct SizeAssumptions {
  double peak_flops_per_s = 0;    // of one device
  double mfu = 0;                 // fraction of it that becomes model FLOPs
  double pue = 1;                 // facility power over device power
  std::optional<double> power_w;  // of one busy device
  std::optional<double> price_per_device_hour;
  std::optional<double> carbon_g_per_kwh;
};

struct SizePlan {
  std::int64_t devices = 0;
  double exact_devices = 0;  // before rounding up
  double seconds = 0;        // that `devices` take
  double device_hours = 0;
  std::optional<double> energy_kwh, cost, carbon_kg;
};

// Devices that do `flops` within `seconds`, at least `devices_min` (memory); then the time, energy,
// cost and carbon of that many. Fractions of a device are rounded up.
SizePlan size_for_time(double flops, double seconds, std::int64_t devices_min,
                       const SizeAssumptions& assumptions);
// The same with the number of devices given.
SizePlan size_for_devices(double flops, std::int64_t devices, const SizeAssumptions& assumptions);
// A load that never ends: `flops_per_s` for `seconds`; devices are on all the time.
SizePlan size_for_load(double flops_per_s, double seconds, std::int64_t devices_min,
                       const SizeAssumptions& assumptions);

// Model FLOPs of one trained token in sequences of `sequence` tokens: 3 x forward, causal.
double training_flops_per_token(const ModelSpec& spec, const Precision& precision,
                                std::int64_t sequence);

// Model FLOPs of one request. The prefill gives the first output token, each decode step one more;
// decode steps are summed over their contexts by at most 64 trapezoids: exact where FLOPs are
// linear in the context.
struct RequestFlops {
  double prefill = 0;
  double decode = 0;
};
RequestFlops request_flops(const ModelSpec& spec, const Precision& precision,
                           std::int64_t input_tokens, std::int64_t output_tokens);

}  // namespace halmark
