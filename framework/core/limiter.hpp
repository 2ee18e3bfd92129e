// Limiter: which kind of ceiling sets a lower bound.
#pragma once

#include <cstdint>
#include <string_view>

namespace halmark {

enum class Limiter : std::uint8_t { unknown, compute, memory, communication };

constexpr std::string_view limiter_name(Limiter limiter) {
  switch (limiter) {
    case Limiter::unknown:
      return "unknown";
    case Limiter::compute:
      return "compute";
    case Limiter::memory:
      return "memory";
    case Limiter::communication:
      return "communication";
  }
  return "unknown";
}

}  // namespace halmark
