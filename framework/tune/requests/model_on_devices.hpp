// One model on several devices at equal settings: the same number of devices, batch, context and
// precision, each with its fastest layout.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/step/step_answer.hpp"
#include "report/views/view.hpp"
#include "tune/requests/step_request.hpp"

namespace halmark::tune {

struct DevicesRequest {
  // Its device and number of devices are those below.
  StepRequest step = {.model = {}, .configuration = {.batch = 32, .context = 4096}};
  std::vector<std::string> names;     // known devices, or device files
  std::vector<std::string> prices;    // DEVICE=USD an hour
  std::optional<std::int64_t> count;  // nothing: the fewest, by doubling, that hold it on each
};

struct ModelOnDevice {
  PricedStep step;
  StepAnswer answer;
  std::optional<double> joule_per_token;         // at the stated power, all the time: an upper end
  std::optional<double> usd_per_million_tokens;  // where the device has a price
};

struct ModelOnDevices {
  std::vector<ModelOnDevice> sides;
  // By how much the side with the most tokens/s is ahead of the second; by bounds alone where one
  // of them has no forecast. An interval that holds 1 decides nothing.
  bool by_bounds = false;
  std::size_t first = 0, second = 0;
  TokenRate ratio;
};

// Throws Error (exit 2) for what priced_step refuses, fewer than two devices, a step that does not
// fit one of them and a price of none.
ModelOnDevices model_on_devices(const DevicesRequest& request, const StepFolders& folders);

report::View model_on_devices_view(const ModelOnDevices& compared, int width);

}  // namespace halmark::tune
