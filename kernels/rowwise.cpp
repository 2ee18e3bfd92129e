#include "kernels/rowwise.hpp"

#include "core/lists.hpp"

namespace halmark {

std::vector<OperandSpec> RowwiseContract::operands(const Params& p) const {
  const auto rows = p.at("rows"), cols = p.at("cols");
  return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, cols),
          rows_operand("dst", Role::output, p.dtype("dst_dtype"), rows, cols)};
}

Work RowwiseContract::work(const Params& p) const {
  Work work = operand_traffic(operands(p));
  work.vector_flops = product(p, {"rows", "cols"}, flops_per_value(p));
  return work;
}

void RowwiseContract::reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                                std::span<const std::int64_t> elements,
                                std::span<Expected> out) const {
  const auto cols = p.at("cols");
  std::vector<std::int64_t> columns;
  std::vector<Expected> expected;
  for_each_row(elements, cols, [&](std::int64_t row, std::span<const std::size_t> positions) {
    columns.clear();
    for (const auto i : positions) columns.push_back(elements[i] - row * cols);
    expected.assign(columns.size(), {});
    row_reference(p, inputs, rank, row, columns, expected);
    for (const auto j : indices(positions)) out[positions[j]] = expected[j];
  });
}

Params RowwiseContract::twin(const Params& p) const {
  Params reduced = p;
  reduced.set("rows", twin_rows(p.at("rows"), p.at("cols")));
  return reduced;
}

std::vector<std::pair<Dtype, Dtype>> RowwiseContract::dtype_pairs(
    std::span<const Dtype> dtypes) const {
  const auto floats = common_dtypes(float_dtypes, dtypes);
  std::vector<std::pair<Dtype, Dtype>> pairs;
  for (const auto src : floats) {
    for (const auto dst : floats) {
      if (src == dst || src == Dtype::f32 || dst == Dtype::f32) pairs.emplace_back(src, dst);
    }
  }
  return pairs;
}

std::vector<Params> RowwiseContract::conformance_params(std::span<const Dtype> dtypes) const {
  struct Shape {
    std::int64_t rows, cols;
  };
  static constexpr Shape shapes[] = {{1, 1},   {1, 1024}, {3, 7},   {5, 127},
                                     {16, 64}, {33, 129}, {64, 31}, {2, 4099}};
  std::vector<Params> cases;
  for (const auto& [src, dst] : dtype_pairs(dtypes)) {
    for (const auto& extra : extra_params()) {
      for (const auto& shape : shapes) {
        Params params = extra;
        params.set("rows", shape.rows);
        params.set("cols", shape.cols);
        params.set("src_dtype", dtype_value(src));
        params.set("dst_dtype", dtype_value(dst));
        cases.push_back(complete_problem({std::string(name()), params}).params);
      }
    }
  }
  return cases;
}

OperandSpec rows_operand(std::string name, Role role, Dtype dtype, std::int64_t rows,
                         std::int64_t cols) {
  return {.name = std::move(name), .role = role, .dtype = dtype, .dims = {rows, cols}};
}

Work operand_traffic(std::span<const OperandSpec> operands) {
  Work work;
  for (const auto& operand : operands) {
    const auto bytes = as_double(operand.bytes());
    if (operand.role == Role::output) {
      work.bytes_written += bytes;
      continue;
    }
    work.bytes_read += bytes;
    if (operand.role == Role::in_out) work.bytes_written += bytes;
    if (operand.role == Role::constant || operand.role == Role::state) {
      work.constant_bytes += bytes;
    }
  }
  return work;
}

}  // namespace halmark
