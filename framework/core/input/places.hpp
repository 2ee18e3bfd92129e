// Where things are: configs beside the program, files of this user under XDG folders.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace halmark {

std::filesystem::path program_path();
// <prefix>/share/halmark/configs, in a build tree a link to the source tree's, with
// HALMARK_CONFIG_PATH (colon-separated) searched first.
std::vector<std::filesystem::path> config_dirs(std::string_view kind);  // "models", "devices"
// That of this user among them; not created.
std::filesystem::path user_config_dir(std::string_view kind);
// The prefix of an installed halmark; empty when the program runs from a build tree.
std::filesystem::path installation_prefix();
// What `new-plugin` copies. Throws Error (exit 5) where it is not there.
std::filesystem::path plugin_template_dir();
std::filesystem::path state_dir();  // not created
// The file that `peaks` writes for this machine.
std::filesystem::path measured_device_path(std::string_view fingerprint);
std::filesystem::path builds_dir();  // of kept builds; not created
// Beside it: the limits that `halmark aa` wrote.
std::filesystem::path measured_limits_path(std::string_view fingerprint);

// Asked before any work whose result is to be written: makes the folder of `file`, and throws Error
// (exit 1) where the file cannot be made or replaced there. `option` names another ("" = none
// does).
void require_writable(const std::filesystem::path& file, std::string_view option);
// What to do about a file that cannot be written: "name another file with --db, or set
// XDG_STATE_HOME ..." of one in the folder of this user.
std::string remedy_of_place(const std::filesystem::path& file, std::string_view option);

}  // namespace halmark
