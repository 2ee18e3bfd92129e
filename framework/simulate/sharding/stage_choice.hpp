// Where a pipeline is cut: layers per stage over devices that need not be alike, so that the
// slowest stage is as fast as possible.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace halmark::simulate {

// Devices stand in the order of the stages.
struct StageQuestion {
  // By device and layer: what a micro-batch takes there, and bytes that the device then holds.
  std::vector<std::vector<double>> layer_ns;
  std::vector<std::vector<std::int64_t>> layer_bytes;
  // By device: what it executes and holds beside its layers, if it is this stage: tables, head.
  std::vector<double> own_ns;
  std::vector<std::int64_t> own_bytes;
  std::vector<std::int64_t> bytes_max;  // by device; empty = no limit
  // By device but the last: handing over to the next. It counts to the stage that sends.
  std::vector<double> hand_over_ns;
};

struct ChosenStages {
  std::vector<int> layers;  // of each stage, at least one
  double slowest_ns = 0;
  double sum_ns = 0;  // the way of one micro-batch through all of them
};

// The least time of the slowest stage; of cuts that are equal in it the least sum. Nothing where no
// cut fits the memories or there are fewer layers than devices. Exact.
std::optional<ChosenStages> choose_stages(const StageQuestion& question);

}  // namespace halmark::simulate
