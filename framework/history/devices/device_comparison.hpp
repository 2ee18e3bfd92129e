// Devices side by side: per op, dtype and class of shapes the share of each side's peaks, who is
// ahead by how much, where that changes, and what a unit of work costs. A fold over values: where
// they are from, and at which peaks, is the business of whoever made them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/measured/device_kernels.hpp"
#include "history/devices/what_if.hpp"

namespace halmark::history {

inline constexpr std::size_t sides_max = 6;

struct DeviceRules {
  double floor = 0.03;  // smaller differences of a time are a tie
};

// Of one kernel. `open`: the bound of a device is ahead of another's time; what it reaches of it
// nobody saw.
enum class Ahead { first, second, tie, open };

// Which side is faster, by the ratio of times second / first. A tie where the interval of the ratio
// holds 1 or lies within the floor.
Ahead judge_pair(const DeviceKernel& first, TimeBasis first_basis, const DeviceKernel& second,
                 TimeBasis second_basis, const DeviceRules& rules);

// Over kernels that both sides have, each counting by its time.
struct SideShare {
  std::optional<double> of_bound;  // bound over time: the roofline fraction
  std::optional<double> mfu;       // absent without matmul FLOPs or without their peak
  Limiter limiter = Limiter::unknown;
  // Per unit of work: 1e15 matmul FLOPs, or 1e12 bytes where there are none.
  std::optional<double> usd, joule;
};

struct ClassRow {
  std::string op, dtype, shapes;
  bool is_matmul = false;  // what a unit of work is
  std::size_t kernels = 0;
  std::size_t first_ahead = 0, second_ahead = 0, ties = 0, open = 0;
  // Geometric mean of times second / first; the interval takes all kernels to err together.
  double ratio = 1;
  Interval ratio_interval;
  Ahead ahead = Ahead::tie;  // of the mean, by the same rule as of a kernel
  std::array<SideShare, 2> shares;
};

// Along a line of problems that differ in their free size: between two neighbouring sizes that both
// sides have, the winner changes. Ties in between belong to the gap.
struct Crossover {
  std::string series, free_size;
  std::int64_t below = 0, above = 0;  // sizes
  bool first_below = false;           // the first side is ahead up to `below`, else the second
};

struct DevicePair {
  std::size_t first = 0, second = 0;  // sides
  std::vector<ClassRow> classes;      // by op, dtype and size
  std::vector<Crossover> crossovers;  // by series
  std::size_t kernels = 0, only_first = 0, only_second = 0;
  std::size_t series = 0;  // lines of problems along which crossovers are looked for

  std::size_t count(Ahead ahead) const;  // kernels
};

struct DeviceComparison {
  std::vector<DeviceSide> sides;
  DeviceRules rules;
  std::vector<DevicePair> pairs;  // every two sides, in order
  std::vector<WhatIf> what_ifs;
  std::vector<DevicePair> modelled;  // the pairs with all of what_ifs applied; empty without any
};

// Throws Error (exit 2) for fewer than two sides or more than sides_max, and where no two have a
// kernel in common.
DeviceComparison compare_devices(std::vector<DeviceSide> sides, const DeviceRules& rules,
                                 std::vector<WhatIf> what_ifs = {});

}  // namespace halmark::history
