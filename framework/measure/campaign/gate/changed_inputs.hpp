// The inputs of one argument set, of which a worker had overwritten a row, or all of one operand.
#pragma once

#include <cstdint>
#include <span>

#include "host/protocol.hpp"
#include "kernels/contract.hpp"

namespace halmark {

// Whether the contract's operands have that row, which a worker names.
bool is_row_of(const protocol::OverwrittenRow& row, std::span<const OperandSpec> operands);

// `row` must be one of `operands`; `plain` must outlive it.
class ChangedInputs : public InputReader {
 public:
  ChangedInputs(const InputReader& plain, std::span<const OperandSpec> operands,
                const protocol::OverwrittenRow& row);
  void read(int rank, std::size_t operand, std::int64_t offset,
            std::span<double> out) const override;

 private:
  void read_row(int rank, std::int64_t row, std::int64_t from_row, std::int64_t offset,
                std::span<double> out) const;

  const InputReader& plain_;
  protocol::OverwrittenRow row_;
  std::int64_t columns_, rows_;
};

}  // namespace halmark
