// Where a series of night values changes its level, by two detectors that know nothing of each
// other. Values are logarithms of times, one per night, oldest first.
#pragma once

#include <span>
#include <vector>

namespace halmark::history {

struct DetectorRules {
  double p = 0.001;             // of a change that the first detector keeps
  double p_weak = 0.01;         // of one that may split a segment further
  double penalty = 1.5;         // of the second: of each step, times noise times ln(nights)
  std::size_t segment_min = 2;  // a single night is a spike
};

// First detector, after Hunter (Fleming et al., ICPE 2023) on E-divisive (Matteson and James, JASA
// 2014): splits where the energy distance between both sides of a segment is largest, keeps a split
// where Student's t of its two sides has p <= p_weak, and at last merges neighbours whose own t has
// p > rules.p. Indices of the first night of each new level, ascending. O(n^2) for n nights.
std::vector<std::size_t> energy_changes(std::span<const double> nights, const DetectorRules& rules);

// Second detector: the piecewise constant function with the least sum of absolute deviations plus
// a penalty per step (Friedrich et al., JCGS 2008; as airspeed velocity does it), exact by dynamic
// programming in O(n^2 log n). Levels are medians, so a spike moves none.
std::vector<std::size_t> step_changes(std::span<const double> nights, const DetectorRules& rules);

// Standard deviation of the noise of single nights, from differences of neighbours, which a step
// disturbs in one place only: 1.4826 x median |difference| / sqrt(2). 0 below two nights.
double night_noise(std::span<const double> nights);

struct ChangePoint {
  std::size_t at = 0;            // first night of the new level
  double before = 0, after = 0;  // medians of the segments on both sides
  double p = 1;                  // Student's t of the two segments
  bool is_agreed = false;        // the other detector has it too, or one night beside it

  double size() const { return after > before ? after - before : before - after; }
};

// Changes of the first detector and those of the second alone, ascending, without those smaller
// than `size_min`: the smallest is taken out, with it the border between its segments, until none
// is left.
std::vector<ChangePoint> change_points(std::span<const double> nights, const DetectorRules& rules,
                                       double size_min = 0);

// p of Student's t with pooled variance, of no difference between two segments; 1 where they have
// fewer than three values together.
double segments_p(std::span<const double> before, std::span<const double> after);

}  // namespace halmark::history
