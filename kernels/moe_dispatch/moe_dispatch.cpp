// moe_dispatch: gathers the rows of a rank's experts, grouped by expert.
#include "core/numeric/cast.hpp"
#include "kernels/moe.hpp"

namespace halmark {
namespace {

constexpr std::size_t src_index = 0;

class MoeDispatch final : public RoutedContract {
 public:
  MoeDispatch()
      : RoutedContract(
            "moe_dispatch",
            "dst[rows,hidden] = src[tokens,hidden] of each (token, slot) whose expert_index[tokens,"
            "top_k] is local, grouped by expert, in order of (token, slot)",
            routed_row_specs) {}

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto tokens = p.at("tokens"), hidden = p.at("hidden");
    const auto dtype = p.dtype("dtype");
    return {{.name = "src", .role = Role::input, .dtype = dtype, .dims = {tokens, hidden}},
            routing_operand("expert_index", {tokens, p.at("top_k")},
                            [p] { return Routing(p).table(); }),
            {.name = "dst", .role = Role::output, .dtype = dtype, .dims = {p.at("rows"), hidden}}};
  }

  // A token's row is read once, however many local experts it goes to, and not at all for none. The
  // rows of the local experts are dealt one after the other (see routing_table): to as many
  // different tokens as there are rows, or to all.
  Work work(const Params& p) const override {
    const auto dtype = p.dtype("dtype");
    const auto tokens = p.at("tokens"), hidden = p.at("hidden"), rows = p.at("rows");
    const auto sources = std::min(tokens, rows);
    return {.bytes_read = as_double(dtype_bytes(dtype, sources * hidden)) +
                          as_double(dtype_bytes(Dtype::s32, tokens * p.at("top_k"))),
            .bytes_written = as_double(dtype_bytes(dtype, rows * hidden))};
  }

  // A copy is exact.
  void reference(const Params& p, const InputReader& inputs, int rank, std::size_t,
                 std::span<const std::int64_t> elements, std::span<Expected> out) const override {
    const auto hidden = p.at("hidden"), top_k = p.at("top_k");
    const Routing routing(p);
    const auto positions = local_positions(routing.table(), routing.local());
    for_each_row(elements, hidden, [&](std::int64_t row, std::span<const std::size_t> listed) {
      const auto token = positions[as_size(row)] / top_k;
      const auto x = read_row(inputs, rank, src_index, token * hidden, hidden);
      for (const auto i : listed) {
        out[i] = {.value = x[as_size(elements[i] - row * hidden)]};
      }
    });
  }

  // Narrower rows; the tokens decide how they fall on the experts.
  Params twin(const Params& p) const override {
    Params reduced = p;
    reduced.set("hidden", std::min(p.at("hidden"), twin_columns(p.at("rows"))));
    return reduced;
  }

  std::vector<Params> conformance_params(std::span<const Dtype> dtypes) const override {
    static constexpr std::int64_t widths[] = {1, 127, 64, 1024, 31, 65, 129, 33};
    return routed_rows_cases(common_dtypes(float_dtypes, dtypes), widths);
  }
};

}  // namespace

const OpContract& moe_dispatch_contract() {
  static const MoeDispatch contract;
  return contract;
}

}  // namespace halmark
