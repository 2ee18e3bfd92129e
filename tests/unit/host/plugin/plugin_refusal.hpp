// What the loader says of tables of a plugin.
#pragma once

#include <string>

#include "host/plugin/loader.hpp"
#include "table_plugin.hpp"

namespace halmark {

inline std::string refusal_of(const table_plugin::Tables& tables,
                              std::uint32_t version = HM_ABI_VERSION) {
  try {
    check_plugin(&tables.plugin, version);
    return "accepted";
  } catch (const PluginRefused& refused) {
    return refused.reason();
  }
}

}  // namespace halmark
