// Device files (configs/devices/*.toml and what `halmark peaks` writes) as core Device values.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/device.hpp"

namespace halmark {

// A device and where its figures stand, "file:line:column", for who judges them.
struct DeviceFile {
  Device device;
  std::string path;  // as it was named
  std::string id_where, memory_where, power_where;
  std::vector<std::string> peaks_where, bandwidths_where, links_where;  // one per entry
};

// Throws Error (exit 2) with file:line:column. A [[peak]] without flops_per_s but with units,
// fma_per_cycle and clock_hz is derived from them and says so.
DeviceFile read_device_file(const std::string& path);
DeviceFile parse_device_file(std::string_view text, std::string_view where);
Device read_device(const std::string& path);
Device parse_device(std::string_view text, std::string_view where);

// Every *.toml and every onboarded device of the folders, sorted by id; of equal ids the one of the
// earlier folder. With a
// text only the files of the last folder, the shipped ones, that contain it.
std::vector<DeviceFile> known_device_files(const std::vector<std::filesystem::path>& folders,
                                           std::string_view text = {});
std::vector<Device> known_devices(const std::vector<std::filesystem::path>& folders);
// The device of that id or alias; parses all files only where none has either as it is written.
std::optional<Device> find_device(std::string_view text,
                                  const std::vector<std::filesystem::path>& folders);

// The datasheet of what a driver or the system calls a device of this kind: one of its names, or a
// text that contains the name.
std::optional<Device> datasheet_of(std::string_view text, std::string_view kind,
                                   const std::vector<std::filesystem::path>& folders);

// What a user names: an id or alias of the folders, or the path of a device file (*.toml) or of the
// folder of an onboarded device. Throws
// Error (exit 2) with the nearest names.
Device known_device(const std::string& id, const std::vector<std::filesystem::path>& folders);

// TOML text that parse_device reads back to the same value.
std::string device_text(const Device& device);

}  // namespace halmark
