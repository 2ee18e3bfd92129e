// A step as a user describes it: names become values, and the step is priced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step/priced_step.hpp"
#include "model/training/training_words.hpp"
#include "tune/plan/deployment_options.hpp"
#include "tune/plan/known_plan.hpp"

namespace halmark::tune {

struct StepRequest {
  std::string model;
  std::string weights;  // of a checkpoint, whose header stands beside the model or for it
  DeploymentOptions configuration;
  TrainingWords training;
  int cp = 1;
  bool fused_qkv = false;
  std::string device, fabric;
  std::vector<std::string> latency;  // sources of times, beside bounds
  std::string engine;                // "vllm:0.19.0": whose terms stand around the step
  StepQuestion
      question;  // --delta-chunk, --mtp, --convention, --measured-ms and what goes with them
  std::optional<std::int64_t> devices;
  // More devices than the stated degrees take get the fastest layout that fits; else that is
  // refused.
  bool takes_fastest_layout = false;
};

struct StepFolders {
  Folders models, devices, fabrics;
};

// Of a step on a device with the layout that it has. Throws Error (exit 2) for options that
// contradict each other or name something unknown.
PricedStep priced_step(const StepRequest& request, const StepFolders& folders);

}  // namespace halmark::tune
