// Shared parts of op contracts: dtype lists, grouping of checked elements by row, input rows,
// dot products.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "core/numeric/cast.hpp"
#include "core/ranges.hpp"
#include "kernels/contract.hpp"

namespace halmark {

constexpr std::int64_t dtype_value(Dtype dtype) { return static_cast<std::int64_t>(dtype); }

// What activations come in. Order is the order of messages and of conformance cases.
inline constexpr std::array<std::int64_t, 3> float_dtypes{
    dtype_value(Dtype::f32), dtype_value(Dtype::bf16), dtype_value(Dtype::f16)};

inline constexpr std::int64_t size_max = std::int64_t{1} << 31;

// What every contract says of itself, once.
class NamedContract : public OpContract {
 public:
  NamedContract(std::string_view name, std::string_view summary, std::span<const ParamSpec> params)
      : name_(name), summary_(summary), params_(params) {}
  std::string_view name() const override { return name_; }
  std::string_view summary() const override { return summary_; }
  std::span<const ParamSpec> params() const override { return params_; }

 private:
  std::string_view name_, summary_;
  std::span<const ParamSpec> params_;
};

// The product of parameters, times `factor`, from left to right.
inline double product(const Params& p, std::initializer_list<const char*> names,
                      double factor = 1) {
  for (const char* name : names) factor *= as_double(p.at(name));
  return factor;
}

struct Product {
  double value = 0;
  double magnitude = 0;  // sum of |a b|
};

// Four partial sums, because one chain of dependent additions takes four times as long.
inline Product dot(const double* a, const double* b, std::size_t count) {
  std::array<Product, 4> part;
  std::size_t i = 0;
  for (; i + part.size() <= count; i += part.size()) {
    for (std::size_t lane = 0; lane < part.size(); ++lane) {
      const double product = a[i + lane] * b[i + lane];
      part[lane].value += product;
      part[lane].magnitude += std::fabs(product);
    }
  }
  for (; i < count; ++i) {
    part[0].value += a[i] * b[i];
    part[0].magnitude += std::fabs(a[i] * b[i]);
  }
  return {(part[0].value + part[1].value) + (part[2].value + part[3].value),
          (part[0].magnitude + part[1].magnitude) + (part[2].magnitude + part[3].magnitude)};
}

inline std::vector<double> read_row(const InputReader& inputs, int rank, std::size_t operand,
                                    std::int64_t offset, std::int64_t count) {
  std::vector<double> row(as_size(count));
  inputs.read(rank, operand, offset, row);
  return row;
}

// Calls visit(row, positions) once per distinct row of `row_length` elements; `positions` index
// into `elements`. A row is thus read once, however many of its elements are checked.
template <class Visit>
void for_each_row(std::span<const std::int64_t> elements, std::int64_t row_length, Visit visit) {
  std::vector<std::size_t> order(elements.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!std::ranges::is_sorted(elements)) {
    std::ranges::sort(order, {}, [&](std::size_t i) { return elements[i]; });
  }
  std::size_t begin = 0;
  while (begin < order.size()) {
    const auto row = elements[order[begin]] / row_length;
    std::size_t end = begin;
    while (end < order.size() && elements[order[end]] / row_length == row) ++end;
    visit(row, std::span<const std::size_t>(order).subspan(begin, end - begin));
    begin = end;
  }
}

// Dtypes of `wanted` that are in `allowed`, in the order of `allowed`.
inline std::vector<Dtype> common_dtypes(std::span<const std::int64_t> allowed,
                                        std::span<const Dtype> wanted) {
  std::vector<Dtype> shared;
  for (const auto value : allowed) {
    const auto dtype = static_cast<Dtype>(value);
    if (contains(wanted, dtype)) shared.push_back(dtype);
  }
  return shared;
}

// Row count of a twin: as many rows as keep every element checkable in milliseconds.
inline std::int64_t twin_rows(std::int64_t rows, std::int64_t row_elements) {
  constexpr std::int64_t elements_max = 400'000;
  const auto fitting = std::max<std::int64_t>(elements_max / row_elements, 1);
  return std::min({rows, fitting, std::int64_t{129}});
}

}  // namespace halmark
