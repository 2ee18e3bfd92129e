// The time of one collective of one system over size and ranks, as six parameters of one of a few
// shapes. What the shapes have in common: a latency that grows with the ranks as a power, and a bus
// time x = S x bus factor x s_per_byte whose cost per byte changes with the ranks.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "simulate/collectives/collective.hpp"

namespace halmark::simulate {

// a, c: latencies in seconds; v: bus time; w: bus time at the cost of the first protocol.
enum class CurveShape {
  lines,      // min(a + w, c + v): a protocol for small messages, one for large ones
  pipelined,  // min(a + w, c + v + 2 sqrt(c v)): the large ones in the best number of pieces
  direct,     // a + min(S / n x first cost, c + v): messages to peers, all at once
  ramp,       // a + v + c^(1 - q) v^q: bandwidth that comes slowly with the size
  switched,  // a + protocol_cost v, from a part of a peer (S / n) on c n / 2 + v: not where it pays
  shared,    // as lines, and the cost per byte is a power of the ranks (a path that all share)
};
std::span<const CurveShape> curve_shapes();
std::string_view curve_shape_name(CurveShape shape);

struct CollectiveCurve {
  static constexpr std::size_t parameters = 6;

  Collective collective = Collective::all_reduce;
  CurveShape shape = CurveShape::lines;
  double base_s = 0;            // a of two ranks
  double latency_exponent = 0;  // a and c grow as (n / 2)^this
  double first_s_per_byte = 0;  // of two ranks; of ramp q, (0, 1); of switched the part in bytes
  double second_s = 0;          // c of two ranks; of direct and ramp the same for all
  double s_per_byte = 0;        // of two ranks, large messages
  // Cost per byte, over that of two ranks: 1 + this (2 / n - 1); of `shared` (n / 2)^this.
  double ranks_effect = 0;

  // 0 of one rank. `bytes` >= 0 as in collective.hpp.
  double seconds(double bytes, std::int64_t ranks) const;
  // The six in the order above.
  std::array<double, parameters> values() const;
};

// A curve at one count of ranks: its powers are taken once for all sizes.
class CurveOfRanks {
 public:
  CurveOfRanks(const CollectiveCurve& curve, std::int64_t ranks);
  double seconds(double bytes) const;

 private:
  CollectiveCurve c_;
  double n_, factor_, growth_, effect_, small_effect_;
};

}  // namespace halmark::simulate
