// Measuring the machine's peaks with progress, and keeping the device file.
#pragma once

#include "cli/console/session.hpp"

namespace halmark::cli {

// Measures, adds what was seen to the device file of this machine and writes it; returns what the
// file then says.
Device measure_and_keep_peaks(const GlobalOptions& options, const LocalMachine& machine,
                              bool is_quick, const std::filesystem::path& path);

// Adds what a run saw of the peaks to the device file of this machine, where there is one. `peaks`
// may be null.
void keep_seen_peaks(const LocalMachine& machine, const RunPeaks* peaks);

}  // namespace halmark::cli
