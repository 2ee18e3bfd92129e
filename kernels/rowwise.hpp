// Base of the ops that map rows of src[rows, cols] to rows of dst: parameters, twins and
// conformance shapes are written once; an op adds its operands, work and the reference of one row.
#pragma once

#include <utility>

#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {

inline constexpr ParamSpec rows_spec{.name = "rows", .high = size_max, .meaning = "tokens"};
inline constexpr ParamSpec cols_spec{
    .name = "cols", .high = size_max, .meaning = "values per row of dst"};
inline constexpr ParamSpec src_dtype_spec{.name = "src_dtype",
                                          .kind = ParamKind::dtype,
                                          .allowed = float_dtypes,
                                          .meaning = "of the inputs"};
inline constexpr ParamSpec dst_dtype_spec{.name = "dst_dtype",
                                          .kind = ParamKind::dtype,
                                          .allowed = float_dtypes,
                                          .meaning = "of the result"};

class RowwiseContract : public NamedContract {
 public:
  using NamedContract::NamedContract;
  // src to dst; ops that have others override.
  std::vector<OperandSpec> operands(const Params& p) const override;
  Work work(const Params& p) const override;
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override;
  Params twin(const Params& p) const override;
  // Shapes x dtype_pairs() x extra_params().
  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override;

 protected:
  virtual double flops_per_value(const Params& p) const = 0;  // of dst[rows, cols]
  // Expected values of dst[row, column] for each of `columns`.
  virtual void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                             std::span<const std::int64_t> columns,
                             std::span<Expected> out) const = 0;
  // (src, dst) combinations out of `dtypes`: the same float type, and 16 bit <-> f32.
  virtual std::vector<std::pair<Dtype, Dtype>> dtype_pairs(std::span<const Dtype> dtypes) const;
  // Further parameters to go through, each set added to every shape.
  virtual std::vector<Params> extra_params() const { return {Params{}}; }
};

// Parts that several operands() and work() share.
OperandSpec rows_operand(std::string name, Role role, Dtype dtype, std::int64_t rows,
                         std::int64_t cols);
// Bytes from the operands: inputs and constants read once, outputs written once.
Work operand_traffic(std::span<const OperandSpec> operands);

}  // namespace halmark
