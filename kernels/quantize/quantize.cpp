// quantize: symmetric per row to s8: scale = max |src| / 127, dst = round(src / scale), ties to
// even.
#include "core/lists.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr std::array<std::int64_t, 1> result_dtypes{dtype_value(Dtype::s8)};
constexpr ParamSpec specs[] = {rows_spec,
                               cols_spec,
                               src_dtype_spec,
                               {.name = "dst_dtype",
                                .kind = ParamKind::dtype,
                                .fallback = dtype_value(Dtype::s8),
                                .allowed = result_dtypes,
                                .meaning = "of the result"}};

constexpr std::size_t scale_index = 2;
constexpr double quantized_max = 127;

// Kernels compute src / scale in f32, from a rounded scale or from its rounded inverse: up to four
// roundings of a value of at most 127.
constexpr double quotient_error = 4 * u_f32 * quantized_max;

// One step either way is right only where the exact quotient lies within that error of a tie.
Expected quantized(double value, double largest) {
  if (largest == 0) return {};
  const double exact = value * quantized_max / largest;
  const double rounded = std::nearbyint(exact);
  const double to_tie = 0.5 - std::fabs(exact - rounded);
  return {.value = rounded, .tolerance = to_tie <= quotient_error ? 1.0 : 0.0};
}

class Quantize final : public RowwiseContract {
 public:
  Quantize()
      : RowwiseContract(
            "quantize",
            "dst[rows,cols] s8 = round(src / scale), scale[rows] = max|src| / 127 per row", specs) {
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto rows = p.at("rows"), cols = p.at("cols");
    return {rows_operand("src", Role::input, p.dtype("src_dtype"), rows, cols),
            rows_operand("dst", Role::output, Dtype::s8, rows, cols),
            {.name = "scale", .role = Role::output, .dtype = Dtype::f32, .dims = {rows}}};
  }

  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t operand,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    if (operand != scale_index) {
      RowwiseContract::reference(p, inputs, rank, operand, elements, out);
      return;
    }
    const auto cols = p.at("cols");
    for (const auto i : indices(elements)) {
      const double scale =
          largest_of(read_row(inputs, rank, 0, elements[i] * cols, cols)) / quantized_max;
      out[i] = {.value = scale, .tolerance = 2 * u_f32 * scale};
    }
  }

 protected:
  double flops_per_value(const Params&) const override { return 2; }  // abs-max, scale

  std::vector<std::pair<Dtype, Dtype>> dtype_pairs(std::span<const Dtype> dtypes) const override {
    std::vector<std::pair<Dtype, Dtype>> pairs;
    for (const auto src : common_dtypes(float_dtypes, dtypes)) pairs.emplace_back(src, Dtype::s8);
    return pairs;
  }

  void row_reference(const Params& p, const InputReader& inputs, int rank, std::int64_t row,
                     std::span<const std::int64_t> columns,
                     std::span<Expected> out) const override {
    const auto cols = p.at("cols");
    const auto x = read_row(inputs, rank, 0, row * cols, cols);
    const double largest = largest_of(x);
    for (const auto i : indices(columns)) {
      out[i] = quantized(x[as_size(columns[i])], largest);
    }
  }

 private:
  static double largest_of(const std::vector<double>& row) {
    double largest = 0;
    for (const double value : row) largest = std::max(largest, std::fabs(value));
    return largest;
  }
};

}  // namespace

const OpContract& quantize_contract() {
  static const Quantize contract;
  return contract;
}

}  // namespace halmark
