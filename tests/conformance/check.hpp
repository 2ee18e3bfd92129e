// Staging one problem and judging what it shows.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "host/worker_client.hpp"
#include "suite.hpp"

namespace halmark::conformance {

inline constexpr std::uint64_t input_seed = 20260101;

struct StageChoice {
  std::string kernel;  // empty = the first that supports the problem
  Config config;
  int sets = 1;
  CacheMode mode = CacheMode::rotate_const;
  std::uint64_t seed = input_seed;
};

protocol::Stage stage_request(const OpContract& contract, const Params& params,
                              const StageChoice& choice = {});

// The staged case, or nothing with a gtest failure.
std::optional<protocol::Staged> stage(Worker& worker, const protocol::Stage& request);

// Every element of the given sets against the fp64 reference, canaries and inputs included.
::testing::AssertionResult outputs_are_right(Worker& worker, const protocol::Stage& request,
                                             const protocol::Staged& staged,
                                             const std::vector<int>& sets);

// The bytes of all outputs of one set; empty with a gtest failure.
std::vector<std::byte> output_bytes(Worker& worker, std::int64_t id, int set);

// Exactly `count` samples of `repeat` executions each.
protocol::SampleRequest counted(std::int64_t id, std::int64_t count, std::int64_t repeat);

// What a failing line should say first.
std::string title(const Problem& problem, const StageChoice& choice = {});

// The first and the most demanding problem of a combination: what a property is tried on.
std::vector<Params> a_few(const Combination& combination);

}  // namespace halmark::conformance
