// The correctness gate: no pass, no time. Compares revealed outputs with the fp64 reference of the
// op's contract, in the parent, only between sample requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/measured/measurement.hpp"
#include "host/protocol.hpp"
#include "kernels/contract.hpp"
#include "kernels/staged_inputs.hpp"

namespace halmark {

// What to look at. The poison scan always covers the whole output.
struct CheckPlan {
  std::uint64_t seed = 0;  // unknown to the worker
  std::int64_t random_elements = 256;
  bool tile_corners = true;
  bool lines_and_freivalds = false;               // matmul-like: 2 rows, 2 columns, A (B x) = C x
  bool every_element = false;                     // whatever it costs
  std::int64_t small_output_elements = 64 << 10;  // up to here every element, if within the budget
  double reference_flops_max = 16e6;              // budget of the element checks
  std::int64_t freivalds_elements_max = 8 << 20;  // of A, B and C together
};
CheckPlan every_element_plan();
// After the sample loop: the scan and 64 elements of a slot chosen then.
CheckPlan after_loop_plan(std::uint64_t seed);

struct CorrectnessResult {
  bool ok = false;
  Status status = Status::ok;  // wrong_result or nan_result when not ok
  std::string reason;          // worst element with value, expected and tolerance; or the attack
  Correctness correctness;
};

// What a worker showed of one staged case.
struct RevealedOutputs {
  const protocol::Revealed& revealed;
  std::span<const std::byte> bytes;  // the memory that travelled with it
};

// Checks every revealed output part of `rank` on the inputs of its set. `problem` is complete.
// Damage (inputs mutated, canaries overwritten) and parts that do not fit the contract fail first.
CorrectnessResult check_outputs(const OpContract& contract, const Problem& problem,
                                StagedInputs& inputs, int rank, const RevealedOutputs& outputs,
                                const CheckPlan& plan);

// The same from the seed of the inputs; builds their pools.
CorrectnessResult check_outputs(const OpContract& contract, const Problem& problem,
                                std::uint64_t input_seed, int rank, CacheMode mode,
                                bool constants_shared, const RevealedOutputs& outputs,
                                const CheckPlan& plan);

}  // namespace halmark
