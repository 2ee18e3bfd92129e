// Every device that plugins offer, and why a backend offers none.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "host/plugin/discovery.hpp"

namespace halmark {

struct OfferedDevice {
  std::string id, backend, kind;  // id "cuda:0"; "" = there is no device
  std::string status, reason;     // ok, refused, absent; why
  Json properties = Json::object();
};

// A backend of this build, and why it was not built; "" = it was.
struct BackendOfBuild {
  std::string backend, why_not;
};

// Of every plugin found, then what this build could have offered and why it does not.
std::vector<OfferedDevice> offered_devices(std::span<const FoundPlugin> found,
                                           std::span<const BackendOfBuild> of_build);

}  // namespace halmark
