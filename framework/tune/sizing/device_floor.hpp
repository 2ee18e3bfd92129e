// The least device that keeps given levels: FLOP/s, memory bandwidth, link and memory, each by
// bisection over the price of the load, with the other rates without limit and all together. GenZ's
// question (Bambhaniya et al., arXiv 2406.01698).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/chosen/objective.hpp"
#include "core/chosen/precision.hpp"
#include "core/device.hpp"
#include "model/spec/model_spec.hpp"

namespace halmark::tune {

struct FloorQuestion {
  RequestShape request;
  std::int64_t concurrency = 1;  // requests at a time
  std::int64_t tp = 1;           // devices that serve them together
  std::vector<ServiceLevel> levels;
  double memory_fraction =
      0.9;  // of a device's memory that weights, cache and activations may take
};

enum class Ceiling { flops, memory_bandwidth, link };
inline constexpr std::array all_ceilings = {Ceiling::flops, Ceiling::memory_bandwidth,
                                            Ceiling::link};
std::string_view ceiling_name(Ceiling ceiling);  // "FLOP/s"
constexpr std::size_t index(Ceiling ceiling) { return static_cast<std::size_t>(ceiling); }

using Rates = std::array<double, all_ceilings.size()>;  // by Ceiling

struct DeviceFloor {
  std::string model, dtype;  // whose peak the FLOP/s are; other types by their width
  FloorQuestion question;
  Rates alone{};     // with the other rates without limit; 0 = not needed
  Rates together{};  // `alone` times `factor`, the least one that keeps all levels
  double factor = 1;
  std::array<std::optional<Objective>, all_ceilings.size()> set_by;  // the level that sets `alone`
  // At `together`: by how much the figure of the level that is kept most narrowly would fall if a
  // rate had no limit. The largest is what binds.
  std::array<double, all_ceilings.size()> share{};
  Ceiling binding = Ceiling::flops;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> basis;
};

// Throws Error (exit 2) for no levels, levels that are not of times or rates of requests, a layout
// or a precision that the model refuses, and levels that no device keeps.
DeviceFloor device_floor(const ModelSpec& spec, const Precision& precision,
                         const FloorQuestion& question);

// A device that has these rates, for pricing; `main` is the type that rates[flops] are of.
Device device_of(const Rates& rates, Dtype main, std::int64_t memory_bytes);

// What a real device has of it; 0 where it states none.
Rates rates_of(const Device& device, Dtype main);

}  // namespace halmark::tune
