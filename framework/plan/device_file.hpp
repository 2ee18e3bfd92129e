// Device files (configs/devices/*.toml and what `halmark peaks` writes) as core Device values.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/device.hpp"

namespace halmark {

// Throws Error (exit 2) with file:line:column.
Device read_device(const std::string& path);
Device parse_device(std::string_view text, std::string_view where);

// Every *.toml of the folders, sorted by id.
std::vector<Device> known_devices(const std::vector<std::filesystem::path>& folders);

// TOML text that parse_device reads back to the same value.
std::string device_text(const Device& device);

}  // namespace halmark
