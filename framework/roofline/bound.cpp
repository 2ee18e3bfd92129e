// Folds over the parts of a bound. Each part alone is a proof that an execution takes at least so
// long; the maximum therefore is one too, and a sum would not be: parts overlap in time.
#include "roofline/bound.hpp"

#include <algorithm>
#include <cassert>
#include <charconv>
#include <limits>

namespace halmark::roofline {
namespace {

std::string fixed(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::fixed, digits);
  return std::string(text, end.ptr);
}

std::string microseconds(double ns) { return fixed(ns / 1e3, 3) + " us"; }

}  // namespace

Limiter limiter_of(Level level) {
  switch (level) {
    case Level::compute:
      return Limiter::compute;
    case Level::l1:
    case Level::l2:
    case Level::l3:
    case Level::memory:
      return Limiter::memory;
    case Level::link:
      return Limiter::communication;
  }
  return Limiter::unknown;
}

void Bound::add(const Part& part) {
  assert(count_ < parts_max && "more parts than kinds of ceilings");
  parts_[count_++] = part;
}

double Bound::ns() const {
  double out = 0;
  for (const Part& part : parts()) out = std::max(out, part.ns());
  return out;
}

double Bound::ns(Limiter limiter) const {
  double out = 0;
  for (const Part& part : parts()) {
    if (limiter_of(part.level) == limiter) out = std::max(out, part.ns());
  }
  return out;
}

Limiter Bound::limiter() const {
  double largest = 0;
  Limiter out = Limiter::unknown;
  for (const Part& part : parts()) {
    const double ns = part.ns();
    if (ns <= largest) continue;
    largest = ns;
    out = limiter_of(part.level);
  }
  return is_collective_ && out != Limiter::unknown ? Limiter::communication : out;
}

Traffic traffic(const Work& work, CacheMode mode, int sets) {
  const double constant = std::min(work.constant_bytes, work.bytes());
  const double warm = work.bytes() - constant;
  switch (mode) {
    case CacheMode::hot:
      return {.warm_bytes = work.bytes(), .warm_set_bytes = work.bytes()};
    case CacheMode::rotate_const:
    case CacheMode::in_stack:
      return {.constant_bytes = constant,
              .warm_bytes = warm,
              .ring_bytes = constant * sets,
              .warm_set_bytes = warm};
    case CacheMode::rotate_all:
    case CacheMode::flush:
      return {.constant_bytes = work.bytes(), .ring_bytes = work.bytes() * sets};
  }
  return {};
}

Traffic step_traffic(const Work& work) {
  const double constant = std::min(work.constant_bytes, work.bytes());
  return {.constant_bytes = constant,
          .warm_bytes = work.bytes() - constant,
          .ring_bytes = std::numeric_limits<double>::infinity()};
}

std::optional<std::string> quarantine(const Bound& bound, double duration_ns) {
  const double least_ns = bound.ns();
  if (least_ns <= quarantine_ratio * duration_ns) return std::nullopt;
  return "faster_than_roofline: " + fixed(least_ns / duration_ns * 100, 1) + " % of the " +
         std::string(limiter_name(bound.limiter())) + " bound: " + microseconds(duration_ns) +
         " where at least " + microseconds(least_ns) + " are needed";
}

}  // namespace halmark::roofline
