// Outputs that a worker kept while it sampled, compared with the one that the gate accepted or with
// the reference on the inputs that they had.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/kernel_case.hpp"
#include "host/protocol.hpp"
#include "kernels/contract.hpp"
#include "kernels/staged_inputs.hpp"
#include "measure/campaign/gate/correctness.hpp"

namespace halmark {

// What one worker kept during one `sample`.
struct KeptSeries {
  std::vector<protocol::KeptOutput> outputs;
  std::vector<protocol::OverwrittenRow> overwritten;
  std::vector<std::byte> bytes;  // what they point into, inside its bounds
};

// The same values in every set: each then has the output of set 0.
struct SetValues {
  CacheMode mode = CacheMode::rotate_const;
  bool constants_shared = false;
  std::optional<int> witness;  // but this set
  bool equal_those_of_first(std::span<const OperandSpec> operands, int set) const;
};

struct KeptChecks {
  std::int64_t executions = 0;  // compared with the accepted output
  std::int64_t rows = 0;        // of changed inputs, compared with the reference
  std::int64_t redrawn = 0;     // samples whose inputs were written anew, compared so too
  double share = 1;             // of an output that was compared; the least
  KeptChecks& operator+=(const KeptChecks& more);
};

struct KeptResult {
  CorrectnessResult result;
  KeptChecks checks;
};

// `first`: the outputs of set 0 as the gate accepted them. Bitwise; an element that differs may do
// so by two tolerances, as kernels do that add in another order.
KeptResult check_kept(const OpContract& contract, const Problem& problem, StagedInputs& inputs,
                      int rank, const SetValues& values, const KeptSeries& kept,
                      const RevealedOutputs& first, std::uint64_t seed);

// Of outputs that were revealed again, whole, where their sets have the values of set 0.
CorrectnessResult check_again(const OpContract& contract, const Problem& problem,
                              StagedInputs& inputs, int rank, const SetValues& values,
                              const RevealedOutputs& again, const RevealedOutputs& first);

// "15 executions around 320 samples against the first output", and how sure that is; `when` is
// "around 320 samples".
std::string kept_method(const KeptChecks& checks, const std::string& when);

}  // namespace halmark
