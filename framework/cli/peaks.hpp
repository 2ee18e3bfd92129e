// Measuring the machine's peaks with progress, and keeping the device file.
#pragma once

#include "cli/console/session.hpp"

namespace halmark::cli {

// Measures and writes the device file of this machine; returns what was measured.
Device measure_and_keep_peaks(const GlobalOptions& options, const LocalMachine& machine,
                              bool is_quick, const std::filesystem::path& path);

}  // namespace halmark::cli
