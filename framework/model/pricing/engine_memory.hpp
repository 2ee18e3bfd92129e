// What an engine keeps of a rank's memory for itself, beside weights and cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/device.hpp"

namespace halmark {

// Nothing kept: an engine without known figures.
struct EngineMemory {
  double share = 1;              // of a device that it takes unless told otherwise
  std::int64_t group_bytes = 0;  // buffers of collectives
  // Its sampler on as many sequences as it takes at a time, tried out before the cache is cut.
  std::int64_t sampling_bytes = 0;

  // Steps and sampling follow each other: the larger of both is what is left out of the cache.
  std::int64_t kept_bytes(std::int64_t activation_bytes) const {
    return group_bytes + std::max(activation_bytes, sampling_bytes);
  }
};

// Of one of `tp` tensor ranks. `sequences`: the most at a time; 0 = the engine's default on this
// device. Nothing for an engine without figures: sources and the fit stand in engine_memory.cpp.
std::optional<EngineMemory> engine_memory(std::string_view engine, const Device& device, int tp,
                                          std::int64_t vocab, std::int64_t sequences);

}  // namespace halmark
