// Kernels of one device for a comparison of devices: each with its time, its least times by
// resource at the device's peaks, and what it counts by its contract.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/measured/device_kernels.hpp"
#include "core/measured/measurement.hpp"
#include "latency/case_bounds.hpp"
#include "latency/imported/kernel_table.hpp"

namespace halmark {

// Kernels, one per problem and by problem, and why rows are none: reason -> rows.
struct SideKernels {
  std::vector<DeviceKernel> kernels;
  std::map<std::string, std::size_t> left_out;
};

// Rows of one machine, as rounds of cases: whole devices with constants from memory. Of several
// kernels of a problem the fastest counts: what the device can do is asked, not which library does
// it. Without a device there are no bounds.
SideKernels measured_kernels(std::span<const Measurement> rows, const BoundingDevice& bounding);

// Of a table; of several series the fastest. Times below the bound are left out. `device` may be
// null.
SideKernels imported_kernels(const ImportedTable& table, const Device* device);

// Bounds of the device for these problems. Left out: what it has no peak or no bandwidth for.
SideKernels bound_kernels(std::span<const Problem> problems, const Device& device);

// Gemms from a single row to thousands, for comparing devices of which nobody measured a kernel.
std::vector<Problem> plain_gemms(std::span<const Dtype> dtypes);

}  // namespace halmark
