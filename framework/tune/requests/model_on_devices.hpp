// One model served on several devices at equal settings: the same number of devices, requests and
// levels, each at the point of its search that `halmark tune` chooses of the same words.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/chosen/deployment.hpp"
#include "model/step/step_answer.hpp"
#include "plan/asked_sweep.hpp"
#include "report/choice/pick.hpp"
#include "report/views/view.hpp"
#include "tune/requests/step_request.hpp"

namespace halmark::tune {

struct DevicesRequest {
  AskedSweep asked;  // no device; no number of devices: the fewest, by doubling, that hold it on
                     // each in a type that is not narrower than usual
  std::vector<std::string> names;   // known devices, or device files
  std::vector<std::string> prices;  // DEVICE=USD an hour
};

struct ModelOnDevice {
  Device device;
  SearchedFront front;
  Pick pick;
  std::optional<double> usd_per_million_tokens;  // where the device has a price

  const Evaluation& chosen() const { return front.points[pick.index]; }
  const ServedEstimate& estimate() const { return *chosen().served; }
};

struct ModelOnDevices {
  std::string assumed;  // what was not stated
  RequestShape request;
  std::vector<ModelOnDevice> sides;
  // By how much the side with the most tokens/s per device is ahead of the second; all by bounds
  // where one of them has no forecast. An interval that holds 1 decides nothing.
  bool by_bounds = false;
  std::size_t first = 0, second = 0;
  TokenRate ratio;
};

// Throws Error (exit 2) for what `tune` refuses, fewer than two devices, a device that holds or
// keeps none of it and a price of no side.
ModelOnDevices model_on_devices(const DevicesRequest& request, const StepFolders& folders);

report::View model_on_devices_view(const ModelOnDevices& compared, int width);

}  // namespace halmark::tune
