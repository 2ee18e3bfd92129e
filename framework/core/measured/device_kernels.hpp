// What one device took for kernels, or could take at best: one side of a comparison of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/limiter.hpp"
#include "core/numeric/statistics.hpp"
#include "core/problem.hpp"

namespace halmark {

// `bound` is no time that anybody saw: nothing on the device can be faster.
enum class TimeBasis : std::uint8_t { measured, imported, bound };

constexpr std::string_view time_basis_name(TimeBasis basis) {
  return basis == TimeBasis::measured   ? "measured"
         : basis == TimeBasis::imported ? "imported"
                                        : "bound";
}

// The least times of a kernel by resource, at the peaks of its device. 0 = not known.
struct LeastTimes {
  double compute_ns = 0, memory_ns = 0, link_ns = 0;

  double bound_ns() const {
    const double local = compute_ns > memory_ns ? compute_ns : memory_ns;
    return local > link_ns ? local : link_ns;
  }
  Limiter limiter() const {
    const double ns = bound_ns();
    return ns <= 0           ? Limiter::unknown
           : ns == link_ns   ? Limiter::communication
           : ns == memory_ns ? Limiter::memory
                             : Limiter::compute;
  }
};

struct DeviceKernel {
  Problem problem;
  std::string dtype;  // of what it reads: "bf16", "bf16/f8_e4m3fn"
  double ns = 0;
  Interval interval_ns;  // both ends the time itself where nobody states a spread
  bool has_interval = false;
  double matmul_flops = 0;  // of its contract, as everything that is counted
  double bytes = 0;         // read and written; of a collective what the bus of a rank moves
  LeastTimes least;
  double peak_ns = 0;  // of the matmul FLOPs at the peak that MFU is of; 0 = no such peak
  std::optional<double> power_w;  // that the row states; else the device's counts
};

struct DeviceSide {
  std::string name;    // as the user wrote it
  std::string device;  // id of the device whose peaks count; "" = none is known
  TimeBasis basis = TimeBasis::measured;
  bool is_model = false;           // times of a what-if
  std::vector<std::string> lines;  // for people: where times and peaks are from
  std::optional<double> power_w, usd_per_hour;
  std::vector<DeviceKernel> kernels;            // one per problem, by problem
  std::map<std::string, std::size_t> left_out;  // reason -> rows
};

}  // namespace halmark
