// hadamard: the fast Walsh-Hadamard transform of each row, which spreads outliers before index
// heads are quantised: log2(cols) additions per value.
#include <bit>

#include "core/lists.hpp"
#include "kernels/priced.hpp"

namespace halmark {
namespace {

constexpr ParamSpec specs[] = {rows_spec, cols_spec, priced_dtype("dtype", "of src and dst")};

class Hadamard final : public PricedContract {
 public:
  Hadamard() : PricedContract("hadamard", "Walsh-Hadamard transform of each row", specs) {}

  std::optional<std::string> check_relations(const Params& p) const override {
    if (std::has_single_bit(as_uint64(p.at("cols")))) return std::nullopt;
    return "cols must be a power of two; got " + p.text();
  }

  std::vector<OperandSpec> operands(const Params& p) const override {
    const auto dtype = p.dtype("dtype");
    return {rows_operand("src", Role::input, dtype, p.at("rows"), p.at("cols")),
            rows_operand("dst", Role::output, dtype, p.at("rows"), p.at("cols"))};
  }

 protected:
  void add_flops(const Params& p, Work& work) const override {
    const auto stages = std::bit_width(as_uint64(p.at("cols"))) - 1;
    work.vector_flops = product(p, {"rows", "cols"}) * as_double(stages);
  }
};

}  // namespace

const OpContract& hadamard_contract() {
  static const Hadamard contract;
  return contract;
}

}  // namespace halmark
