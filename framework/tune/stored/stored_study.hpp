// Evaluated configurations as a study, so that any tool of Optuna shows and continues them.
#pragma once

#include <span>
#include <string>

#include "core/chosen/objective.hpp"
#include "study/values.hpp"
#include "tune/problem/problem.hpp"
#include "tune/search/loop.hpp"
#include "tune/search/measure.hpp"

namespace halmark::tune {

// Stores the evaluations of one phase as finished trials of the study `name`, which is created
// where it is absent; configurations that it has already stay as they are. Parameters, or
// attributes where they have one value in all: dp, tp, pp, ep, cp, batch, new_tokens, context,
// routing_skew, dtype. Objectives: latency_ms, tokens_per_s (to be maximised), memory_bytes. What
// does not fit is pruned with a violation, what could not be measured failed; provenance, interval
// and probability are attributes of the trial. Returns the number of new trials; without
// evaluations of the phase there is no study.
std::size_t store_evaluations(StudyStore& store, const std::string& name, Phase phase,
                              std::span<const Evaluation> evaluations,
                              std::span<const Objective> objectives, const TrialTimes& times = {});

// The evaluations of a run, one study for each problem, named by it, its hash and the run: steps of
// two phases do not compare.
void store_run(StudyStore& store, const Sweep& sweep, std::span<const TuneProblem> problems,
               const TuneRun& run);

}  // namespace halmark::tune
