// Bound: the least time of one execution, as the maximum over parts that are each provable alone.
// Plain numbers and ids: a search folds millions of them a second. Sums and guesses are no bounds;
// they are in estimate.hpp.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "core/kernel_case.hpp"
#include "core/limiter.hpp"
#include "core/work.hpp"

namespace halmark::roofline {

// Nearest caches first.
enum class Level : std::uint8_t { compute, l1, l2, l3, memory, link };
Limiter limiter_of(Level level);

// `amount` cannot pass in less than amount / per_s.
struct Part {
  double amount = 0;  // FLOP, or bytes that no nearer level can hold
  double per_s = 0;   // the ceiling, > 0
  Level level = Level::compute;
  std::int32_t source = -1;  // Ceilings::at: which ceiling, and who says so
  double ns() const { return amount / per_s * 1e9; }
};

class Bound {
 public:
  // Compute, four levels, both alone and shared, links of a rank and of its domain.
  static constexpr std::size_t parts_max = 12;

  void add(const Part& part);
  // A collective waits for others whatever its largest part is.
  void set_collective() { is_collective_ = true; }

  std::span<const Part> parts() const { return {parts_.data(), count_}; }
  double ns() const;                 // 0 = nothing is known
  double ns(Limiter limiter) const;  // the largest part of that kind
  // Of the largest part; compute where it equals memory; unknown where nothing is known.
  Limiter limiter() const;

 private:
  std::array<Part, parts_max> parts_;  // the first count_ of them
  std::size_t count_ = 0;
  bool is_collective_ = false;
};
static_assert(std::is_trivially_copyable_v<Bound>);

// How the bytes of one execution meet the caches.
struct Traffic {
  double constant_bytes = 0;  // from a ring of `ring_bytes` that comes round again and again
  double warm_bytes = 0;      // everything else
  double ring_bytes = 0;      // all argument sets together
  // What the warm bytes come round in. 0 = somebody else left them in whichever cache: then only
  // the nearest cache bounds them.
  double warm_set_bytes = 0;
};
// Of a kernel that is repeated with `sets` argument sets.
Traffic traffic(const Work& work, CacheMode mode, int sets);
// Of a kernel within the step of a model: constants (weights, KV cache) come from memory because
// the rest of the model passed since; activations may lie in any cache.
Traffic step_traffic(const Work& work);

// A time may fall below its bound by this much: probes of peaks scatter.
inline constexpr double quarantine_ratio = 1.02;

// Why `duration_ns` > 0 cannot be true, with both figures ("faster_than_roofline: ..."); nothing
// when it can.
std::optional<std::string> quarantine(const Bound& bound, double duration_ns);

}  // namespace halmark::roofline
