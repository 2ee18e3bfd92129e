// From kernels to what they mean: a change of kernels as a change of the steps that have them,
// split over their operators, and what it costs the front.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/chosen/configuration.hpp"
#include "history/nights.hpp"
#include "journal/store.hpp"

namespace halmark::history {

// Of one operator of a step: part of the step's earlier time, in points of percent.
struct StepPart {
  std::string name;    // "q_proj"
  std::string kernel;  // key of its kernel
  double points = 0;
};

// A step whose kernels changed: from what it would take at their earlier times to what it takes.
struct StepChange {
  std::string configuration;  // key
  Phase phase = Phase::decode;
  bool is_on_front = false;
  double before_ns = 0, after_ns = 0;
  std::vector<StepPart> parts;  // largest first; their sum is the whole

  double points() const { return (after_ns / before_ns - 1) * 100; }
};

// Of a phase's front: its fastest step, and by how much its kernels changed that.
struct FastestStep {
  Phase phase = Phase::decode;
  std::string configuration;
  double ns = 0, points = 0;
};

struct ChangedSteps {
  std::vector<StepChange> steps;  // largest change first
  std::size_t front = 0;          // configurations on it; 0 = it is not known
  std::vector<FastestStep> fastest;
};

// Of the configurations of a night, by the kernels that are SLOWER or FASTER: an operator's kernel
// is the one whose rows of that night fold to its time. Empty where nothing is called or no
// configuration has what is. `rows` and `evaluations` are of the same run, `front` its indices.
ChangedSteps changed_steps(const std::vector<SeriesHistory>& series,
                           const std::vector<Measurement>& rows,
                           const std::vector<Evaluation>& evaluations,
                           const std::vector<std::size_t>& front);

// Indices of the front of what a run with this plan evaluated.
using FrontOf =
    std::function<std::vector<std::size_t>(std::span<const Evaluation>, const std::string& plan)>;

// The same of the latest of the runs that has configurations. `front_of` may be empty.
ChangedSteps stored_changed_steps(const Store& store, const std::vector<std::int64_t>& runs,
                                  const std::vector<SeriesHistory>& kernels,
                                  const FrontOf& front_of);

// Parts of one name together, largest first; those below a tenth of a point as one, "others".
std::vector<StepPart> named_parts(const StepChange& step);

}  // namespace halmark::history
