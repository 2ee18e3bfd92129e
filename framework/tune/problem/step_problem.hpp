// The problem of one phase: which steps a sweep's workloads ask for, on which layouts.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "tune/problem/parameters.hpp"

namespace halmark::tune {

// `--sampler certify` is no sampler: it chooses kernels, not points (certify_chooser.hpp).
inline constexpr std::string_view certify_sampler = "certify";
// With `--proposals` none chooses either: trials of a study do (steer/study_steering.hpp).
inline constexpr std::string_view proposals_sampler = "proposals";

// Combinations of all parameters that a sweep may declare, possible or not.
inline constexpr std::int64_t step_combinations_max = 1'000'000'000;

// Throws Error (exit 2) beyond that, and for what the model cannot do at all.
TuneProblem step_problem(const Sweep& sweep, Phase phase, const ModelSpec& spec,
                         std::span<const std::int64_t> shards, const PrecisionFacts& precisions);

}  // namespace halmark::tune
