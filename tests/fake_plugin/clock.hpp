// The scripted device clock: how long executions take, and what the device says about it.
#pragma once

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>

#include "script.hpp"

namespace fake {

inline double wall_ns() {
  return std::chrono::duration<double, std::nano>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Uniform in [-1, 1) from a counter (splitmix64), so that a script repeats itself exactly.
inline double noise_at(std::uint64_t counter) {
  std::uint64_t x = counter * 0x9e3779b97f4a7c15u + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  x ^= x >> 31;
  return static_cast<double>(x >> 11) * 0x1p-52 - 1.0;
}

// Scripted duration of one execution; 0 = the script names none and real time shows.
class Latency {
 public:
  explicit Latency(const Script& script)
      : base_ns_(script.number("latency_ns", 0)),
        bytes_per_s_(script.number("bytes_per_s", 0)),
        noise_(script.number("noise", 0)),
        counter_(static_cast<std::uint64_t>(script.integer("seed", 1)) << 32) {}
  double next_ns(double factor, double bytes) {
    const double transfer_ns = bytes_per_s_ > 0 ? bytes / bytes_per_s_ * 1e9 : 0;
    const double planned = (base_ns_ + transfer_ns) * factor;
    return std::fmax(0, planned * (1 + noise_ * noise_at(counter_++)));
  }

 private:
  double base_ns_, bytes_per_s_, noise_;
  std::uint64_t counter_;
};

// What two events report for `true_ns` of device time; the script may make it lie.
inline double reported_ns(const Script& script, double true_ns) {
  const std::string lie = script.text("elapsed");
  if (lie == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lie == "negative") return -true_ns;
  if (lie == "constant") return 1000;
  return true_ns * script.number("elapsed_scale", 1) - script.number("elapsed_offset_ns", 0);
}

}  // namespace fake
