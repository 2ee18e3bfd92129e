// Why a request could not be answered: becomes one `failed` frame in the message loop.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "host/plugin/plugin.hpp"
#include "host/protocol.hpp"

namespace halmark::worker {

class RequestFailed : public std::runtime_error {
 public:
  explicit RequestFailed(protocol::Failed failed)
      : std::runtime_error(failed.message), failed_(std::move(failed)) {}
  RequestFailed(std::int32_t code, std::string phase, std::string message)
      : RequestFailed(protocol::Failed{code, std::move(phase), std::move(message)}) {}
  const protocol::Failed& failed() const { return failed_; }

 private:
  protocol::Failed failed_;
};

// Passes over success; throws the plugin's error under the name of the phase that met it.
inline void check(const PluginError& error, const char* phase) {
  if (!error.ok()) throw RequestFailed(error.status, phase, error.message);
}

template <class T>
T take(PluginResult<T> result, const char* phase) {
  if (!result) throw RequestFailed(result.failure.status, phase, result.failure.message);
  return std::move(*result);
}

}  // namespace halmark::worker
