// A mix of devices as `halmark plan-mix` shows it.
#pragma once

#include "report/views/view.hpp"
#include "tune/sizing/device_mix.hpp"

namespace halmark::tune {

// {"model", "levels", "usd_per_hour", "units", "buckets", "single_types", "solver", "basis"}; keys
// in results/schema/devices.md. The text fits a terminal of `width` columns.
report::View device_mix_view(const DeviceMix& mix, int width);

}  // namespace halmark::tune
