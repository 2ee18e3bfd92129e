// Where things are: configs beside the program, the database and device files under XDG folders.
#pragma once

#include <filesystem>
#include <vector>

#include "cli/command.hpp"

namespace halmark::cli {

std::filesystem::path program_path();
// <prefix>/share/halmark/configs when installed, the source tree's configs from a build tree, with
// HALMARK_CONFIG_PATH (colon-separated) searched first.
std::vector<std::filesystem::path> config_dirs(std::string_view kind);  // "models", "devices"
std::string database_path(const GlobalOptions& options);  // creates the folder of the default
std::filesystem::path cache_dir();                        // created
// The file that `peaks` writes for this machine.
std::filesystem::path measured_device_path(std::string_view fingerprint);

}  // namespace halmark::cli
