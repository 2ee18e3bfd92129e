// What users set side by side: results databases, tables of others and known devices, as values.
#pragma once

#include <string>
#include <vector>

#include "core/measured/device_kernels.hpp"
#include "tune/sources/priced_latencies.hpp"

namespace halmark::tune {

struct SideChoice {
  std::vector<std::string> names;   // see device_sides
  std::string layout;               // of tables; "" = the built-in one that fits
  std::vector<std::string> prices;  // "h100-sxm=2.5": US dollars an hour of one device
  std::string op;                   // kernels of this op alone; "" = all
};

// A name is a known device or a device file (its bounds), a results database, FILE.db:RUN, or a
// table of kernel times; NAME=DEVICE says which device a database or table is of. Bounds are those
// of the problems of the other sides; where there are none, of gemms of our own. Throws Error (exit
// 2) for what is none of these, a table whose device is not known by itself or by name, a price
// that belongs to no side, and an op that no side has. Nothing is written.
std::vector<DeviceSide> device_sides(const SideChoice& choice, const Folders& devices);

}  // namespace halmark::tune
