// What a record of a machine is measured by: the kernels of a shipped sweep, and whole steps of
// small models.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "plan/sweep.hpp"
#include "tune/devices/local_machine.hpp"
#include "tune/evaluate/measure_kernels.hpp"
#include "tune/stored/kept_rows.hpp"

namespace halmark::tune {

struct RecordRequest {
  std::string backend = "cpu", device = "0";
  double minutes = 20;  // about: kernels get three fifths of it, steps a tenth each
  std::vector<AskedKernels> kernels = {};
  std::vector<std::string> models = {"gpt2", "ernie-4.5-0.3b", "qwen2.5-0.5b"};
};

// Every row goes to the sink of `measuring`, steps to `kept`. Ends early when interrupted. Throws
// Error (exit 2) for an op, parameter or model that is not known.
void measure_for_record(const RecordRequest& request, const LocalMachine& machine,
                        KernelMeasuring measuring, KeptRows& kept,
                        const std::vector<std::filesystem::path>& models);

}  // namespace halmark::tune
