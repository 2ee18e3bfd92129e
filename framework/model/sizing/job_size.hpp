// A training run or a served load on a device: how many devices it needs, and every figure that the
// answer rests on with where it comes from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/chosen/serving.hpp"
#include "core/device.hpp"
#include "model/pricing/plan_size.hpp"

namespace halmark {

struct Job {
  // One of the three: a training run, or a served load, by its rate or by who waits for an answer
  // at a time.
  std::optional<double> tokens, requests_per_s;
  std::optional<std::int64_t> users;
  std::int64_t sequence = 4096;                      // of the run
  std::int64_t input_tokens = 0, output_tokens = 0;  // of a request
  std::optional<double> days;                        // of the run; for a load: what sums cover (1)
  std::int64_t devices = 0;                          // of the run, where `days` is not given
  std::optional<double> mfu, decode_mfu, power_w, price_per_device_hour, carbon_g_per_kwh;
  double pue = 1;
  bool states_mfu() const { return mfu || decode_mfu; }
};

// Devices that serve together, as often as a load needs them: what each keeps up.
struct Replica {
  std::int64_t devices = 1;
  double requests_per_s = 0;
  std::int64_t concurrency = 0, token_budget = 0;
  ServedEstimate estimate;
  // Replicas that keep the levels with 90 % probability, and devices of each; nothing where times
  // have no interval, or nothing keeps them so surely.
  std::optional<std::int64_t> sure_devices;
  std::string levels;  // "at least 20 tokens/s interactivity (assumed)"
  std::vector<std::string> basis;
};
// How many the load takes.
std::int64_t replicas_for(const Job& job, double requests_per_s, std::int64_t concurrency);

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
  double requests_per_s = 0;
  double flops_per_s = 0;
  std::vector<Assumption> assumptions;
};

// Throws Error (exit 2) for a precision without a peak on the device, a step that the model refuses
// and a run that its devices do not hold. A served load without a stated MFU needs `replica`.
SizedJob size_job(const ModelSpec& spec, const Precision& precision, const Device& device,
                  const Job& job, const Replica* replica = nullptr);

}  // namespace halmark
