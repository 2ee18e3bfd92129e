// The shortest of many intervals is the one that nothing disturbed; the difference of two lengths
// is the work of the executions between them.
#include "worker/slopes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lists.hpp"
#include "worker/warm_up.hpp"

namespace halmark::worker {
namespace {

struct Interval {
  double whole_ns = std::numeric_limits<double>::infinity();
  double wall_ns = 0;  // without its launch
  std::optional<double> device_ns;
};

// The shortest of `known` and five more intervals of `repeat` executions. With its launch: a launch
// that was interrupted hides time in which the device works.
Interval shortest(TimedStep& step, std::int64_t repeat, ClockSource& clock, Interval known = {}) {
  step.set_repeat(repeat);
  for (int i = 0; i < 5; ++i) {
    const double whole_ns = interval_ns(step, clock);
    if (whole_ns >= known.whole_ns) continue;
    known = {.whole_ns = whole_ns,
             .wall_ns = whole_ns - step.launch_ns(),
             .device_ns = step.device_ns()};
  }
  return known;
}

// A machine that is busy with others shows any slope, so the shortest of up to eight attempts
// count.
constexpr int slope_attempts = 8;

// Two lengths whose difference tells: waking the thread that works, or that waits, takes some
// microseconds more or less each time, which two executions of 1 us cannot be told from.
constexpr double least_interval_ns = 200e3, longest_interval_ns = 10e6;

// Intervals of r and of 2 r executions, the shortest of each.
class TwoLengths {
 public:
  TwoLengths(TimedStep& step, ClockSource& clock)
      : step_(step), clock_(clock), repeat_(step.repeat()) {}

  void take() {
    once_ = shortest(step_, repeat_, clock_, once_);
    twice_ = shortest(step_, 2 * repeat_, clock_, twice_);
  }
  // Forgets what was taken: `times` as many executions, as far as the step takes them.
  void lengthen(double times) {
    const auto most = as_double(std::max(step_.repeat_max(), repeat_));
    const double wanted = std::ceil(times * as_double(repeat_));
    repeat_ = as_int64(std::min(wanted, most));
    once_ = twice_ = {};
  }
  double once_ns() const { return once_.whole_ns; }
  double wall_slope_ns() const { return per_execution(twice_.wall_ns - once_.wall_ns); }
  std::optional<double> device_slope_ns() const {
    if (!once_.device_ns || !twice_.device_ns) return std::nullopt;
    return per_execution(*twice_.device_ns - *once_.device_ns);
  }

 private:
  double per_execution(double ns) const { return ns / as_double(repeat_); }

  TimedStep& step_;
  ClockSource& clock_;
  std::int64_t repeat_;
  Interval once_, twice_;
};

bool clocks_agree(const TwoLengths& lengths) {
  constexpr double agreement = 0.05;
  const double wall_ns = lengths.wall_slope_ns();
  const auto device_ns = lengths.device_slope_ns();
  return !device_ns || std::abs(*device_ns - wall_ns) <= agreement * wall_ns;
}

// A slope above what an execution took in the loop says that the loop's time is false.
bool is_above(const TwoLengths& lengths, std::optional<double> looped_ns) {
  constexpr double tolerance = 1.02;
  return looped_ns && lengths.device_slope_ns().value_or(0) > tolerance * *looped_ns;
}

struct Repeats {
  double share = 0, once_ns = std::numeric_limits<double>::infinity();
};

Repeats repeat_share(TimedStep& step, std::int64_t repeat, ClockSource& clock) {
  constexpr double plain_share = 0.5;
  Repeats out;
  double twice_ns = out.once_ns;
  for (int attempt = 0; attempt < slope_attempts && out.share < plain_share; ++attempt) {
    out.once_ns = std::min(out.once_ns, shortest(step, repeat, clock).wall_ns);
    twice_ns = std::min(twice_ns, shortest(step, 2 * repeat, clock).wall_ns);
    out.share = (twice_ns - out.once_ns) / std::max(out.once_ns, 1.0);
  }
  return out;
}

}  // namespace

// W of a held stream begins when it is released, or each execution would carry its launch.
void add_slopes(TimedStep& step, ClockSource& clock, std::optional<double> looped_ns,
                bool is_collective, std::vector<Signal>& signals) {
  const std::int64_t repeat = step.repeat();
  TwoLengths lengths(step, clock);
  lengths.take();
  const bool may_lengthen = lengths.device_slope_ns() && !is_collective;
  if (may_lengthen && lengths.once_ns() < least_interval_ns) {
    lengths.lengthen(least_interval_ns / lengths.once_ns());
    lengths.take();
  }
  for (int attempt = 1; attempt < slope_attempts; ++attempt) {
    const bool agrees = clocks_agree(lengths);
    if (!is_collective && agrees && !is_above(lengths, looped_ns)) break;
    if (may_lengthen && !agrees && lengths.once_ns() < longest_interval_ns / 2) lengths.lengthen(2);
    lengths.take();
  }
  const auto device_ns = lengths.device_slope_ns();
  signals.push_back({"slope_wall_ns", lengths.wall_slope_ns(), {}});
  signals.push_back(
      {"slope_device_ns", device_ns, device_ns ? std::string() : "the device keeps no time"});
  step.set_repeat(repeat);
}

void add_repeat_shares(TimedStep& step, ClockSource& clock, std::vector<Signal>& signals) {
  constexpr double launch_is_little_ns = 10e3;
  const std::int64_t repeat = step.repeat();
  signals.push_back({"repeat_cost_share", repeat_share(step, repeat, clock).share, {}});
  const Repeats second = repeat_share(step, 1, clock);
  if (second.once_ns >= launch_is_little_ns) {
    signals.push_back({"second_execution_share", second.share, {}});
  }
  step.set_repeat(repeat);
}

}  // namespace halmark::worker
