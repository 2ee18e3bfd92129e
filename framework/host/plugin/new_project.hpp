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

// How to build, check and measure it, for people. `prefix`: where halmark is installed; "" = it
// runs from its build tree.
std::string plugin_project_steps(const std::filesystem::path& folder, const std::string& name,
                                 const std::filesystem::path& prefix,
                                 const std::filesystem::path& program);

}  // namespace halmark
