// The device file of what is measured here: figures of one device, added to on every occasion.
#pragma once

#include <string>

#include "core/device.hpp"

namespace halmark::tune {

// Throws Error (exit 2) for a file with the figures of another machine, device or set of cores.
void require_own_file(const std::string& path, const std::string& fingerprint);

// What a file of the same device already has of each ceiling stays; the rest is of now.
Device merged_with_file(Device seen, const std::string& path);

// Appears whole or not at all, with its folder. Throws Error (exit 1) naming the path.
void write_peaks_file(const Device& device, const std::string& path);

}  // namespace halmark::tune
