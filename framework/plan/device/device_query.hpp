// Known devices chosen and ordered by their figures.
#pragma once

#include <string>
#include <vector>

#include "core/device.hpp"

namespace halmark {

struct DeviceQuery {
  // In the language of constraints, over the names of device_figures(): "memory_bytes >= 80e9 and
  // vendor == \"NVIDIA\"". A device without a figure that decides is left out. "" = all.
  std::string where;
  std::string sort;  // a name: numbers from the largest, absent ones last, words from a; "" = by id
};

// "bandwidth", what it is and its unit: one line each, for help texts and refusals.
struct DeviceFigureName {
  std::string name, meaning;
};
std::vector<DeviceFigureName> device_figures();

// Throws Error (exit 2) for an unknown name and an expression that is none.
std::vector<Device> select_devices(std::vector<Device> devices, const DeviceQuery& query);

}  // namespace halmark
