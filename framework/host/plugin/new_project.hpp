// A project of its own to start a plugin from: the template with a name filled in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace halmark {

// Writes the files of `from` into `to`, which is absent or empty; gives their names, sorted. Throws
// Error: exit 2 for a name that is none of a backend and a folder that is in use, exit 1 where
// nothing can be written.
std::vector<std::string> write_plugin_project(const std::filesystem::path& from,
                                              const std::filesystem::path& to,
                                              const std::string& name);

}  // namespace halmark
