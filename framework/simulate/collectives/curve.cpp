#include "simulate/collectives/curve.hpp"

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "core/text/enum_names.hpp"

namespace halmark::simulate {
namespace {

struct Row {
  CurveShape shape;
  std::string_view name;
};

constexpr std::array rows{
    Row{CurveShape::lines, "lines"},          // a protocol for small and one for large messages
    Row{CurveShape::pipelined, "pipelined"},  // large messages in the best number of pieces
    Row{CurveShape::direct, "direct"},  // to every peer at once, a protocol by the part of a peer
    Row{CurveShape::ramp, "ramp"},      // bandwidth that comes slowly with the size
    Row{CurveShape::switched, "switched"},  // a change of protocol at a fixed part of a peer
    Row{CurveShape::shared, "shared"},      // a path that all ranks share
};
static_assert(has_row_of_each(rows, &Row::shape));
constexpr std::array shapes{CurveShape::lines, CurveShape::pipelined, CurveShape::direct,
                            CurveShape::ramp,  CurveShape::switched,  CurveShape::shared};
static_assert(shapes.size() == rows.size());

// Of the congestion of a shared path, protocols for small messages see this part: their waits
// overlap.
constexpr double small_message_share = 0.85;

// What a protocol for small messages costs per byte, over that for large ones, before a switch:
// what `lines` finds on three NVLink systems is 2.4 to 3.
constexpr double protocol_cost = 2.7;

}  // namespace

std::span<const CurveShape> curve_shapes() { return shapes; }

std::string_view curve_shape_name(CurveShape shape) { return rows[as_size(shape)].name; }

double CollectiveCurve::seconds(double bytes, std::int64_t ranks) const {
  return CurveOfRanks(*this, ranks).seconds(bytes);
}

CurveOfRanks::CurveOfRanks(const CollectiveCurve& curve, std::int64_t ranks)
    : c_(curve),
      n_(as_double(ranks)),
      factor_(ranks > 1 ? bus_factor(c_.collective, n_) : 0),
      growth_(std::pow(n_ / 2, c_.latency_exponent)),
      effect_(c_.shape == CurveShape::shared ? std::pow(n_ / 2, c_.ranks_effect)
                                             : 1 + c_.ranks_effect * (2 / n_ - 1)),
      small_effect_(c_.shape == CurveShape::shared ? std::pow(effect_, small_message_share)
                                                   : effect_) {}

double CurveOfRanks::seconds(double bytes) const {
  if (n_ <= 1) return 0;
  const double moved = bytes * factor_, a = c_.base_s * growth_, c = c_.second_s * growth_;
  const double v = moved * c_.s_per_byte * effect_;
  switch (c_.shape) {
    case CurveShape::lines:
    case CurveShape::shared:
      return std::min(a + moved * c_.first_s_per_byte * small_effect_, c + v);
    case CurveShape::pipelined:
      return std::min(a + moved * c_.first_s_per_byte * effect_, c + v + 2 * std::sqrt(c * v));
    case CurveShape::direct:
      return a + std::min(bytes / n_ * c_.first_s_per_byte, c_.second_s + v);
    case CurveShape::switched: {
      const double part = c_.first_s_per_byte;
      if (bytes < part * n_) return a + protocol_cost * v;
      const double at_switch = part * n_ * factor_ * c_.s_per_byte * effect_;
      return std::max(a + protocol_cost * at_switch, c_.second_s * n_ / 2 + v);
    }
    case CurveShape::ramp:
      return a + v + c_.second_s * std::pow(v / c_.second_s, c_.first_s_per_byte);
  }
  return 0;
}

std::array<double, CollectiveCurve::parameters> CollectiveCurve::values() const {
  return {base_s, latency_exponent, first_s_per_byte, second_s, s_per_byte, ranks_effect};
}

}  // namespace halmark::simulate
