// Loads one plugin library into this process and checks its tables. Workers only: the parent never
// calls this. Sole user of Boost.DLL. A library is never unloaded: vendor runtimes own threads.
#pragma once

#include <halmark_plugin.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace halmark {

// Why a library is no plugin of this host; names the entry at fault.
class PluginRefused : public std::runtime_error {
 public:
  explicit PluginRefused(const std::string& reason) : std::runtime_error(reason) {}
  std::string reason() const { return what(); }
};

// A table whose required groups and entries are all present.
struct LoadedPlugin {
  const hm_plugin_api* api = nullptr;
  const hm_probe_api* probe = nullptr;  // null when absent or beyond an older table's end
  const hm_comm_api* comm = nullptr;
  std::string path, name, version, build;
  std::uint32_t abi_version = 0;
};

// `path` is an exact file. Throws PluginRefused. No plugin code runs but the library's constructors
// and hm_abi_version unless the major matches.
LoadedPlugin load_plugin(const std::string& path);

// The table checks alone, for a table that is already in memory. `library_version` is what
// hm_abi_version said.
LoadedPlugin check_plugin(const hm_plugin_api* api, std::uint32_t library_version);

}  // namespace halmark
