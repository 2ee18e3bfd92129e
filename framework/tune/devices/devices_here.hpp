// What every backend offers on this machine, and why it offers nothing: what `halmark devices`
// says.
#pragma once

#include <span>
#include <vector>

#include "host/plugin/offered_devices.hpp"
#include "report/views/view.hpp"
#include "tune/devices/local_machine.hpp"

namespace halmark::tune {

// {"devices": [...], "peaks": ...}. Each device with its memory, driver, ops and what is known of
// its peaks; below the table the CPU's measured peaks, where there are any.
report::View devices_here(const std::vector<FoundPlugin>& found,
                          std::span<const BackendOfBuild> of_build, const LocalMachine& host);

}  // namespace halmark::tune
