#include "measure/probe/clock_probe.hpp"

#include <cstdint>
#include <vector>

#include "core/numeric/statistics.hpp"
#include "core/text/units.hpp"

namespace halmark {
namespace {

constexpr int cycles_per_multiply = 3;
constexpr std::int64_t multiplies = 100'000;

// The empty asm keeps the compiler from folding the chain, without adding an instruction to it.
std::uint64_t multiply_chain(std::uint64_t x) {
  const std::uint64_t factor = x | 1;
  for (std::int64_t i = 0; i < multiplies; i += 10) {
#define HALMARK_STEP \
  x *= factor;       \
  asm volatile("" : "+r"(x));
    HALMARK_STEP HALMARK_STEP HALMARK_STEP HALMARK_STEP HALMARK_STEP HALMARK_STEP HALMARK_STEP
        HALMARK_STEP HALMARK_STEP HALMARK_STEP
#undef HALMARK_STEP
  }
  return x;
}

}  // namespace

double probe_clock_hz(ClockSource& clock, int windows) {
  std::uint64_t seed = 0x9e3779b97f4a7c15ULL;
  std::vector<double> rates;
  for (int i = 0; i < windows; ++i) {
    const double begin_ns = clock.wall_ns();
    seed = multiply_chain(seed);
    const double elapsed_ns = clock.wall_ns() - begin_ns;
    if (elapsed_ns <= 0) continue;
    rates.push_back(cycles_per_multiply * static_cast<double>(multiplies) / elapsed_ns * ns_per_s);
  }
  // The median: an interrupted window reads low, and one that spans a clock change reads high.
  return rates.empty() ? 0 : median(rates);
}

}  // namespace halmark
