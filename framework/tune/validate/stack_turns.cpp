#include "tune/validate/stack_turns.hpp"

#include <array>

#include "core/text/units.hpp"
#include "measure/campaign/stack/stack_run.hpp"

namespace halmark::tune {
namespace {

// Faulting in, filling and gating the weights of every layer; processes that start, say what memory
// they hold and end. As seen on the machines so far.
constexpr double staging_bytes_per_s = 5e8;
constexpr double start_s = 1.5;

struct Shape {
  int pairs, pairs_more;
  double block_share;
};
constexpr std::array<Shape, 4> shapes = {{{stack_pairs, stack_pairs_more, 1},
                                          {stack_pairs, stack_pairs_more, 0.5},
                                          {stack_pairs, 0, 0.5},
                                          {stack_pairs_min, 0, 0.5}}};

StackTurns turns_of(const Shape& shape, const Estimate& estimate, double block_s) {
  const double step_s = (estimate.alone ? estimate.alone->ns : estimate.step_ns) / ns_per_s;
  StackTurns out{
      .pairs = shape.pairs, .pairs_more = shape.pairs_more, .block_s = block_s * shape.block_share};
  // A step that is shorter than a turn is warmed up in front of it, and once at the begin.
  const bool is_long = step_s >= out.block_s;
  const double stack_s = is_long ? step_s : out.block_s + step_s;
  const int all_pairs = shape.pairs + shape.pairs_more;
  out.run_s = start_s + static_cast<double>(estimate.memory_bytes_total) / staging_bytes_per_s +
              (is_long ? 1 : 2) * step_s + (all_pairs + 1) * stack_s + all_pairs * out.block_s;
  return out;
}

}  // namespace

std::optional<StackTurns> turns_within(const Estimate& estimate, double block_s,
                                       double affordable_s) {
  for (const Shape& shape : shapes) {
    const StackTurns turns = turns_of(shape, estimate, block_s);
    if (turns.run_s <= affordable_s) return turns;
  }
  return std::nullopt;
}

double cheapest_run_s(const Estimate& estimate, double block_s) {
  return turns_of(shapes.back(), estimate, block_s).run_s;
}

}  // namespace halmark::tune
