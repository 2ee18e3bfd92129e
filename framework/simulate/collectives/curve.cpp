#include "simulate/collectives/curve.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/enum_names.hpp"

namespace halmark::simulate {
namespace {

struct Row {
  CurveShape shape;
  std::string_view name, meaning;
};

constexpr std::array rows{
    Row{CurveShape::lines, "lines", "a protocol for small and one for large messages"},
    Row{CurveShape::pipelined, "pipelined", "large messages in the best number of pieces"},
    Row{CurveShape::direct, "direct", "to every peer at once, a protocol by the part of a peer"},
    Row{CurveShape::ramp, "ramp", "bandwidth that comes slowly with the size"},
    Row{CurveShape::switched, "switched", "a change of protocol at a fixed part of a peer"},
    Row{CurveShape::shared, "shared", "a path that all ranks share"},
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

std::string_view curve_shape_name(CurveShape shape) {
  return rows[static_cast<std::size_t>(shape)].name;
}

std::string_view curve_shape_meaning(CurveShape shape) {
  return rows[static_cast<std::size_t>(shape)].meaning;
}

double CollectiveCurve::seconds(double bytes, std::int64_t ranks) const {
  if (ranks <= 1) return 0;
  const auto n = static_cast<double>(ranks);
  const double moved = bytes * bus_factor(collective, n);
  const double growth = std::pow(n / 2, latency_exponent);
  const double a = base_s * growth;
  const double effect =
      shape == CurveShape::shared ? std::pow(n / 2, ranks_effect) : 1 + ranks_effect * (2 / n - 1);
  const double v = moved * s_per_byte * effect;
  switch (shape) {
    case CurveShape::lines:
      return std::min(a + moved * first_s_per_byte * effect, second_s * growth + v);
    case CurveShape::shared:
      return std::min(a + moved * first_s_per_byte * std::pow(effect, small_message_share),
                      second_s * growth + v);
    case CurveShape::pipelined: {
      const double c = second_s * growth;
      return std::min(a + moved * first_s_per_byte * effect, c + v + 2 * std::sqrt(c * v));
    }
    case CurveShape::direct:
      return a + std::min(bytes / n * first_s_per_byte, second_s + v);
    case CurveShape::switched: {
      const double part = first_s_per_byte, factor = bus_factor(collective, n);
      const double at_switch = part * n * factor * s_per_byte * effect;
      if (bytes < part * n) return a + protocol_cost * v;
      return std::max(a + protocol_cost * at_switch, second_s * n / 2 + v);
    }
    case CurveShape::ramp:
      return a + v + second_s * std::pow(v / second_s, first_s_per_byte);
  }
  return 0;
}

std::array<double, CollectiveCurve::parameters> CollectiveCurve::values() const {
  return {base_s, latency_exponent, first_s_per_byte, second_s, s_per_byte, ranks_effect};
}

}  // namespace halmark::simulate
