// A device that was onboarded: a folder with its file, its tables, its evidence and their sums.
#pragma once

#include <filesystem>
#include <string>

#include "plan/device/device_file.hpp"

namespace halmark {

inline constexpr const char* device_file_name = "device.toml";
inline constexpr const char* sums_file_name = "SHA256SUMS";  // as sha256sum -c reads it

bool is_device_folder(const std::filesystem::path& folder);

// Its device, which names the folder. Throws Error (exit 2) as read_device_file does, and where
// device.toml or manifest.toml is not the one that the sums state; tables are held against the
// manifest when they are read.
DeviceFile read_device_folder(const std::filesystem::path& folder);

}  // namespace halmark
