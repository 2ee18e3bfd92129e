// fma: x = x * 0.5 + 0.25, `iterations` times in registers. Its rate is the vector peak of a
// device.
#include <cmath>

#include "core/lists.hpp"
#include "kernels/rows.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {
namespace {

constexpr std::int64_t dtypes_allowed[] = {dtype_value(Dtype::f32), dtype_value(Dtype::f64),
                                           dtype_value(Dtype::bf16), dtype_value(Dtype::f16)};
constexpr ParamSpec specs[] = {
    {.name = "lanes", .high = size_max, .meaning = "independent values"},
    {.name = "iterations", .high = std::int64_t{1} << 40, .meaning = "multiply-adds per lane"},
    {.name = "dtype", .kind = ParamKind::dtype, .allowed = dtypes_allowed, .meaning = "of x"},
};

class Fma final : public NamedContract {
 public:
  Fma()
      : NamedContract("fma", "dst[lanes] = x after `iterations` times x = x * 0.5 + 0.25", specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto lanes = p.at("lanes");
    const auto dtype = p.dtype("dtype");
    return {{.name = "x", .role = Role::input, .dtype = dtype, .dims = {lanes}},
            {.name = "dst", .role = Role::output, .dtype = dtype, .dims = {lanes}}};
  }

  Work work(const Params& p) const override {
    const auto lanes = as_double(p.at("lanes"));
    const auto bytes = as_double(dtype_bytes(p.dtype("dtype"), p.at("lanes")));
    return {.vector_flops = 2 * lanes * as_double(p.at("iterations")),
            .bytes_read = bytes,
            .bytes_written = bytes,
            .compute_dtype = p.dtype("dtype")};
  }

  // x_n = 0.5 + (x_0 - 0.5) / 2^n. Each step rounds once (the product is exact) and halves what
  // came before, so all errors together stay below two roundings of the largest x.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto dtype = p.dtype("dtype");
    const auto steps = as_int(std::min<std::int64_t>(p.at("iterations"), 2000));
    for (const auto i : indices(elements)) {
      const double start = read_row(inputs, rank, 0, elements[i], 1)[0];
      const double value = 0.5 + std::ldexp(start - 0.5, -steps);
      const double largest = std::max(std::fabs(start), 0.5);
      out[i] = {.value = value, .tolerance = 2 * unit_roundoff(dtype) * largest};
    }
  }

  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("lanes", std::min<std::int64_t>(p.at("lanes"), 4099));
    reduced.set("iterations", std::min<std::int64_t>(p.at("iterations"), 1000));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    std::vector<Params> cases;
    for (const auto dtype : common_dtypes(dtypes_allowed, dtypes)) {
      for (const auto& [lanes, iterations] : {std::pair{1, 1}, {127, 1000}, {16, 3}, {4099, 7}}) {
        cases.push_back(
            {{"lanes", lanes}, {"iterations", iterations}, {"dtype", dtype_value(dtype)}});
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& fma_contract() {
  static const Fma contract;
  return contract;
}

}  // namespace halmark
