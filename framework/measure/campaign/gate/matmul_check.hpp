// Freivalds' check of a matrix product: A (B x) = C x for a random sign vector x. Finds gross
// errors anywhere in the output at the price of reading A, B and C once; small ones are for the
// elements.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "kernels/contract.hpp"

namespace halmark {

struct FreivaldsFailure {
  std::int64_t row = 0;
  double product = 0;  // (A (B x))_row
  double output = 0;   // (C x)_row
  double tolerance = 0;
};

// `output_row(row, out)` reads one row of C. `element_tolerance` bounds the error of one element; 0
// demands equality. With x random and unknown to the kernel, element errors within e add up like a
// random walk: 8 e sqrt(n) is passed by chance with probability below 2e-14 (Hoeffding).
std::optional<FreivaldsFailure> freivalds(
    const OpContract::Matmul& matmul, const InputReader& inputs, int rank,
    const std::function<void(std::int64_t row, std::span<double>)>& output_row,
    double element_tolerance, std::uint64_t seed);

}  // namespace halmark
