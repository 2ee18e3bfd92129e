// What every wrapped plugin call shares: the cleared error, the judged status, the guarded
// out-struct.
#pragma once

#include <halmark_plugin.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "host/plugin/plugin.hpp"

namespace halmark::plugin_call {

// One hm_error per call: the host clears it before and reads it bounded after.
class Call {
 public:
  Call() {
    error_.struct_size = sizeof error_;
    error_.code = HM_OK;
    error_.vendor_code = 0;
    error_.message[0] = '\0';
  }
  hm_error* error() { return &error_; }
  PluginError outcome(std::int32_t status, const char* entry) const {
    if (status == HM_OK) return {};
    PluginError result;
    const std::size_t length = ::strnlen(error_.message, sizeof error_.message);
    result.message.assign(error_.message, length);
    if (status < HM_OK || status > HM_INTERNAL) {
      result.status = HM_INTERNAL;
      result.message = "unknown status " + std::to_string(status) + " from " + entry +
                       (length > 0 ? ": " + result.message : "");
    } else {
      result.status = status;
      if (length == 0) {
        result.message = std::string(entry) + " answered " + std::string(hm_status_text(status)) +
                         " without a message";
      }
    }
    if (error_.vendor_code != 0) {
      result.message += " (vendor code " + std::to_string(error_.vendor_code) + ")";
    }
    return result;
  }

 private:
  hm_error error_;
};

inline PluginError broken(std::string message) { return {HM_INTERNAL, std::move(message)}; }
inline PluginError absent(const char* entry) {
  return {HM_UNSUPPORTED, std::string("the plugin has no ") + entry};
}

// Text of an out-struct. Cut safely where it is not terminated.
template <std::size_t N>
std::string text(const char (&field)[N]) {
  return {field, ::strnlen(field, N)};
}

// An out-struct with a guard behind it: a plugin that writes past struct_size is caught.
template <class T>
struct OutStruct {
  static constexpr std::uint64_t guard_value = 0x48414c4d41524b21;
  T value;
  std::uint64_t guard[4];
  OutStruct() {
    std::memset(&value, 0, sizeof value);
    std::fill(std::begin(guard), std::end(guard), guard_value);
    value.struct_size = sizeof value;
  }
  bool intact() const {
    return std::all_of(std::begin(guard), std::end(guard),
                       [](std::uint64_t word) { return word == guard_value; });
  }
};

inline PluginError overrun(const char* entry) {
  return broken(std::string(entry) + " wrote past the out-struct that it was given");
}

}  // namespace halmark::plugin_call
