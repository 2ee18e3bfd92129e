// rope: rotates the pairs (j, j + rotary_dim/2) of each head by the angle of its row; values beyond
// rotary_dim are copied.
#include <cmath>

#include "core/numeric/cast.hpp"
#include "kernels/rowwise.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {
    rows_spec,
    {.name = "heads", .high = size_max, .meaning = "heads per row"},
    {.name = "head_dim", .high = size_max, .meaning = "width of a head"},
    {.name = "rotary_dim", .low = 2, .high = size_max, .meaning = "rotated part; even"},
    src_dtype_spec,
    dst_dtype_spec,
};

constexpr double flops_per_rotated_value = 3;  // two products and a sum

class Rope final : public NamedContract {
 public:
  Rope()
      : NamedContract(
            "rope",
            "dst[rows,heads,head_dim] = src rotated in pairs by cos, sin[rows,rotary_dim/2]",
            specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    const auto rotary = p.at("rotary_dim"), width = p.at("head_dim");
    if (rotary % 2 == 0 && rotary <= width) return std::nullopt;
    return "rotary_dim must be even and at most head_dim; got rotary_dim=" +
           std::to_string(rotary) + " and head_dim=" + std::to_string(width);
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const std::vector dims{p.at("rows"), p.at("heads"), p.at("head_dim")};
    OperandSpec angle{.name = "cos",
                      .role = Role::input,
                      .dtype = Dtype::f32,
                      .dims = {p.at("rows"), p.at("rotary_dim") / 2},
                      .distribution = Distribution::uniform};
    OperandSpec sine = angle;
    sine.name = "sin";
    return {{.name = "src", .role = Role::input, .dtype = p.dtype("src_dtype"), .dims = dims},
            angle,
            sine,
            {.name = "dst", .role = Role::output, .dtype = p.dtype("dst_dtype"), .dims = dims}};
  }

  Work work(const Params& p) const override {
    Work work = operand_traffic(operands(p));
    work.vector_flops = product(p, {"rows", "heads", "rotary_dim"}, flops_per_rotated_value);
    return work;
  }

  // Two products and their sum in f32: three roundings of at most |x cos| + |y sin|.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto heads = p.at("heads"), width = p.at("head_dim"), half = p.at("rotary_dim") / 2;
    const auto dst = p.dtype("dst_dtype");
    const bool is_copied_exactly = dst == p.dtype("src_dtype");
    for_each_row(elements, width, [&](std::int64_t row, std::span<const std::size_t> positions) {
      const auto x = read_row(inputs, rank, 0, row * width, width);
      const auto cosine = read_row(inputs, rank, 1, row / heads * half, half);
      const auto sine = read_row(inputs, rank, 2, row / heads * half, half);
      for (const auto i : positions) {
        const auto j = elements[i] - row * width;
        const auto at = as_size(j);
        if (j >= 2 * half) {
          out[i] = {.value = x[at],
                    .tolerance = is_copied_exactly ? 0 : rounded_tolerance(dst, x[at], 0)};
          continue;
        }
        const auto pair = as_size(j < half ? j + half : j - half);
        const auto angle = as_size(j % half);
        const double own = x[at] * cosine[angle];
        const double other = x[pair] * sine[angle] * (j < half ? -1 : 1);
        const double error = 3 * u_f32 * (std::fabs(own) + std::fabs(other));
        out[i] = {.value = own + other, .tolerance = rounded_tolerance(dst, own + other, error)};
      }
    });
  }

  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("rows", twin_rows(p.at("rows"), p.at("heads") * p.at("head_dim")));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    struct Shape {
      std::int64_t rows, heads, head_dim, rotary_dim;
    };
    static constexpr Shape shapes[] = {{1, 1, 2, 2},    {1, 16, 128, 128}, {5, 3, 64, 32},
                                       {17, 2, 80, 80}, {129, 4, 33, 14},  {7, 8, 128, 64}};
    std::vector<Params> cases;
    for (const auto dtype : common_dtypes(float_dtypes, dtypes)) {
      for (const auto& shape : shapes) {
        cases.push_back({{"rows", shape.rows},
                         {"heads", shape.heads},
                         {"head_dim", shape.head_dim},
                         {"rotary_dim", shape.rotary_dim},
                         {"src_dtype", dtype_value(dtype)},
                         {"dst_dtype", dtype_value(dtype)}});
      }
    }
    return cases;
  }
};

}  // namespace

const OpContract& rope_contract() {
  static const Rope contract;
  return contract;
}

}  // namespace halmark
