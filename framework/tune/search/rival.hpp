// What would change the choice of a front, from joint draws of what the configurations may do.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/rival.hpp"
#include "report/report.hpp"
#include "report/served_report.hpp"
#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

// Two latencies nearer than this are equal for any purpose of a deployment.
inline constexpr double equivalence_floor = 0.01;

// Of one phase of a measured sweep: what was tried, then what was not.
struct Competitor {
  const Configuration* configuration = nullptr;
  const Composer* composer = nullptr;
  bool is_measured = true;
};
// `draws[s][c]`: the first objective of each in a joint draw, minimised. Nothing without another.
std::optional<Rival> measured_rival(const MeasuredEvaluator& evaluator,
                                    std::span<const Competitor> competitors, std::size_t chosen,
                                    std::span<const std::vector<double>> draws);

// Gives a report of times that are known its rivals, of steps by the first objective and phase by
// phase. What times of one source have in common errs together, as do those of one operator and
// those of one kernel, a third of the variance each: intervals are 90 % (probability_at_most).
void add_rivals(RunReport& report);
// Of requests by what the choice was made by (`how`, see pick_point), among points of the front
// that keep the levels as surely as the chosen one, or serve a user as fast as it has to. None of a
// knee. All figures of a point follow from the same times: two thirds of the variance are common to
// all points.
void add_rival(ServedReport& report, const std::string& how);

}  // namespace halmark::tune
