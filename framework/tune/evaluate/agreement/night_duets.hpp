// Where a night runs another build than the nights before, both take turns on what moved most:
// their ratio tells a change of the code from one of the machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "journal/store.hpp"
#include "measure/campaign/duet/duet_side.hpp"
#include "tune/evaluate/measured_evaluator.hpp"

namespace halmark::tune {

struct NightBuilds {
  std::string now;                // id of the build that this night runs; "" = it is not kept
  std::optional<KeptBuild> here;  // that one
  std::optional<KeptBuild> good;  // the one before it, in the first nights of a new one
  bool is_first = true;           // night of the new one
  std::string note;               // why one of them is missing, where that is worth a line
};

// Of the nights of this machine before `night` the build that ran before `now`; "" where `now` has
// been here for a week, and where it ran before that one, too: it has returned.
std::string build_before(const Store& store, std::int64_t night, const std::string& now);

// Kernels that the pairs of this night are for; none without two builds.
std::vector<KernelCase> open_cases(const MeasuredEvaluator& evaluator, const NightBuilds& builds,
                                   std::span<const KernelCase> cases);

// Keeps the build of this night, and finds the one of the nights before.
NightBuilds builds_of_night(const MeasuredEvaluator& evaluator);

// Duets of these kernels in the caller's order while `budget_s` lasts, each committed to the run.
// Returns notes.
std::vector<std::string> measure_night_duets(MeasuredEvaluator& evaluator,
                                             const NightBuilds& builds,
                                             std::span<const KernelCase> cases, double budget_s);

}  // namespace halmark::tune
