// A training run or a served load on a device: how many devices it needs, and every figure that the
// answer rests on with where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/device.hpp"
#include "model/pricing/plan_size.hpp"

namespace halmark {

struct Job {
  // One of the two: a training run, or a served load.
  std::optional<double> tokens, requests_per_s;
  std::int64_t sequence = 4096;                      // of the run
  std::int64_t input_tokens = 0, output_tokens = 0;  // of a request
  std::optional<double> days;                        // of the run; for a load: what sums cover (1)
  std::int64_t devices = 0;                          // of the run, where `days` is not given
  std::optional<double> mfu, decode_mfu, power_w, price_per_device_hour, carbon_g_per_kwh;
  double pue = 1;
};

// Throws Error (exit 2) for a job that states too little or too much, or a figure out of range.
void require_answerable(const Job& job);

struct Assumption {
  std::string name;
  std::optional<double> value;
  std::string unit, source;
};

struct SizedJob {
  SizePlan plan;
  std::int64_t devices_for_memory = 1;
  double flops_per_token = 0, flops = 0;  // of a training run
  RequestFlops request;                   // of a served load
  double flops_per_s = 0;
  std::vector<Assumption> assumptions;
};

// Throws Error (exit 2) for a precision without a peak on the device, a step that the model refuses
// and a run that its devices do not hold.
SizedJob size_job(const ModelSpec& spec, const Precision& precision, const Device& device,
                  const Job& job);

}  // namespace halmark
