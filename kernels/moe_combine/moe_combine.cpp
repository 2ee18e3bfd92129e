// moe_combine: brings the rows of a rank's experts back to their tokens, weighted. Ranks hold
// partial sums: a token without a local expert gets zeros.
#include <cmath>

#include "core/lists.hpp"
#include "kernels/moe.hpp"
#include "kernels/tolerance.hpp"

namespace halmark {
namespace {

constexpr std::size_t src_index = 0, weight_index = 2;

class MoeCombine final : public RoutedContract {
 public:
  MoeCombine()
      : RoutedContract(
            "moe_combine",
            "dst[tokens,hidden] = sum of weight[tokens,top_k] * src[rows,hidden] over the slots "
            "whose expert_index[tokens,top_k] is local; src as moe_dispatch leaves it",
            routed_row_specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto tokens = p.at("tokens"), top_k = p.at("top_k"), hidden = p.at("hidden");
    const auto dtype = p.dtype("dtype");
    return {{.name = "src", .role = Role::input, .dtype = dtype, .dims = {p.at("rows"), hidden}},
            routing_operand("expert_index", {tokens, top_k}, [p] { return Routing(p).table(); }),
            {.name = "weight",
             .role = Role::input,
             .dtype = Dtype::f32,
             .dims = {tokens, top_k},
             .distribution = Distribution::positive},
            {.name = "dst", .role = Role::output, .dtype = dtype, .dims = {tokens, hidden}}};
  }

  // A product and a sum per value of src.
  Work work(const Params& p) const override {
    const auto dtype = p.dtype("dtype");
    const auto tokens = p.at("tokens"), hidden = p.at("hidden"), rows = p.at("rows");
    const auto slots = tokens * p.at("top_k");
    return {.vector_flops = 2 * as_double(rows) * as_double(hidden),
            .bytes_read = as_double(dtype_bytes(dtype, rows * hidden)) +
                          as_double(dtype_bytes(Dtype::s32, slots)) +
                          as_double(dtype_bytes(Dtype::f32, slots)),
            .bytes_written = as_double(dtype_bytes(dtype, tokens * hidden))};
  }

  // As many products as the token has local slots, each rounded, summed in f32.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto hidden = p.at("hidden"), top_k = p.at("top_k");
    const auto dtype = p.dtype("dtype");
    const Routing routing(p);
    const auto positions = local_positions(routing.table(), routing.local());
    std::vector<std::int64_t> row_at(as_size(p.at("tokens") * top_k), -1);
    for (const auto row : indices(positions)) {
      row_at[as_size(positions[row])] = as_int64(row);
    }
    for_each_row(elements, hidden, [&](std::int64_t token, std::span<const std::size_t> listed) {
      const auto weights = read_row(inputs, rank, weight_index, token * top_k, top_k);
      std::vector<Product> sums(listed.size());
      double terms = 0;
      for (const std::int64_t slot : below(top_k)) {
        const auto row = row_at[as_size(token * top_k + slot)];
        if (row < 0) continue;
        ++terms;
        const auto x = read_row(inputs, rank, src_index, row * hidden, hidden);
        for (const auto j : indices(listed)) {
          const auto column = as_size(elements[listed[j]] - token * hidden);
          const double product = weights[as_size(slot)] * x[column];
          sums[j].value += product;
          sums[j].magnitude += std::fabs(product);
        }
      }
      for (const auto j : indices(listed)) {
        const double error = accumulation_error(terms, sums[j].magnitude);
        out[listed[j]] = {.value = sums[j].value,
                          .tolerance = rounded_tolerance(dtype, sums[j].value, error)};
      }
    });
  }

  Params twin(const Params& p) const override {
    Params reduced = p;
    const auto rows = std::max(p.at("rows"), p.at("tokens"));
    reduced.set("hidden", std::min(p.at("hidden"), twin_columns(rows)));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    static constexpr std::int64_t widths[] = {1, 1024, 127, 64, 33, 65, 129, 31};
    return routed_rows_cases(common_dtypes(float_dtypes, dtypes), widths);
  }
};

}  // namespace

const OpContract& moe_combine_contract() {
  static const MoeCombine contract;
  return contract;
}

}  // namespace halmark
