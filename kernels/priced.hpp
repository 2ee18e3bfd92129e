// Base of ops whose cost is known and whose reference is not written yet: parameters, FLOPs, bytes
// and weights count in the model, and nothing measures them. An op that gets its reference derives
// from OpContract instead, and everything that measures finds it.
#pragma once

#include <stdexcept>
#include <utility>
#include <vector>

#include "kernels/rowwise.hpp"

namespace halmark {

class PricedContract : public NamedContract {
 public:
  using NamedContract::NamedContract;
  bool is_measurable() const final { return false; }
  // Its own FLOPs, beside the bytes of its operands. Ops that read a part of an operand override.
  Work work(const Params& params) const override {
    const auto tensors = operands(params);
    Work out = operand_traffic(tensors);
    add_flops(params, out);
    return out;
  }
  void reference(const Params&, const InputReader&, int, std::size_t, std::span<const std::int64_t>,
                 std::span<Expected>) const final {
    throw std::logic_error("op " + std::string(name()) + " is priced and has no reference");
  }
  std::vector<Params> conformance_params(std::span<const Dtype>) const final { return {}; }

 protected:
  // Sets matmul_flops, vector_flops and compute_dtype.
  virtual void add_flops(const Params& params, Work& work) const = 0;
};

// What priced products read: also types that no reference loads yet.
inline constexpr std::array<std::int64_t, 5> priced_dtypes{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16),
    dtype_value(Dtype::f8_e4m3fn), dtype_value(Dtype::f8_e5m2)};

// Of normal scale; its bytes count, its values nobody makes.
inline OperandSpec priced_operand(const char* name, Role role, Dtype dtype,
                                  std::vector<std::int64_t> dims) {
  return {.name = name, .role = role, .dtype = dtype, .dims = std::move(dims)};
}

constexpr ParamSpec priced_size(std::string_view name, std::string_view meaning) {
  return {.name = name, .high = size_max, .meaning = meaning};
}
constexpr ParamSpec priced_dtype(std::string_view name, std::string_view meaning) {
  return {.name = name, .kind = ParamKind::dtype, .allowed = priced_dtypes, .meaning = meaning};
}

}  // namespace halmark
