// Element access and naive ops of the fake plugin. Written apart from Halmark's own references, so
// that an agreement between the two says something.
#pragma once

#include <halmark_plugin.hpp>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fake {

using Shape = std::map<std::string, std::int64_t, std::less<>>;  // problem parameters

bool is_known_dtype(std::int64_t dtype);

struct Tensor {
  void* data = nullptr;
  std::int32_t dtype = HM_DTYPE_F32;
  std::int64_t elements = 0;
  double at(std::int64_t i) const;
  void set(std::int64_t i, double value) const;  // rounds to nearest even; integers saturate
  std::vector<double> values() const;
};

struct Operand {
  std::string name;
  std::int32_t role = HM_ROLE_INPUT;
  std::int64_t dtype = HM_DTYPE_F32;
  std::vector<std::int64_t> dims;
  bool packed = false;  // gemm weights are kept as [n,k] whatever the plain layout was
  std::int64_t elements() const;
};

struct Op {
  std::string_view name;
  std::vector<std::string_view> params;  // every name that it knows
  std::vector<Operand> (*operands)(const Shape&);
  void (*run)(const Shape&, std::span<const Tensor>);
};

std::span<const Op> all_ops();
std::vector<Op> moe_ops();  // a part of them

// Value of a parameter; HM_UNSUPPORTED when it is missing.
std::int64_t need(const Shape& shape, std::string_view name);
std::int64_t need_or(const Shape& shape, std::string_view name, std::int64_t fallback);

}  // namespace fake
