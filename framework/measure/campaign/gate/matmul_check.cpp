#include "measure/campaign/gate/matmul_check.hpp"

#include <cmath>
#include <vector>

#include "core/lists.hpp"
#include "core/numeric/random.hpp"

namespace halmark {
namespace {

std::vector<double> random_signs(std::int64_t count, std::uint64_t seed) {
  std::vector<double> signs(as_size(count));
  for (const auto i : indices(signs)) signs[i] = (hash_u64(seed, i) >> 63) ? 1.0 : -1.0;
  return signs;
}

double dot(std::span<const double> a, std::span<const double> b) {
  double sum = 0;
  for (const auto i : indices(a)) sum += a[i] * b[i];
  return sum;
}

// B x, where B lies [k, n] or, transposed, [n, k]; each is read along its rows.
std::vector<double> times_signs(const OpContract::Matmul& matmul, const InputReader& inputs,
                                int rank, std::span<const double> x) {
  std::vector<double> product(as_size(matmul.k), 0.0);
  if (matmul.b_transposed) {
    std::vector<double> row(product.size());
    for (const std::int64_t j : below(matmul.n)) {
      inputs.read(rank, matmul.b, j * matmul.k, row);
      const double sign = x[as_size(j)];
      for (const auto i : indices(row)) product[i] += sign * row[i];
    }
    return product;
  }
  std::vector<double> row(x.size());
  for (const std::int64_t i : below(matmul.k)) {
    inputs.read(rank, matmul.b, i * matmul.n, row);
    product[as_size(i)] = dot(row, x);
  }
  return product;
}

}  // namespace

std::optional<FreivaldsFailure> freivalds(
    const OpContract::Matmul& matmul, const InputReader& inputs, int rank,
    const std::function<void(std::int64_t row, std::span<double>)>& output_row,
    double element_tolerance, std::uint64_t seed) {
  const std::vector<double> x = random_signs(matmul.n, seed);
  const std::vector<double> bx = times_signs(matmul, inputs, rank, x);
  const double tolerance = 8 * element_tolerance * std::sqrt(as_double(matmul.n));
  std::vector<double> a_row(as_size(matmul.k));
  std::vector<double> c_row(as_size(matmul.n));
  for (const std::int64_t i : below(matmul.m)) {
    inputs.read(rank, matmul.a, i * matmul.k, a_row);
    output_row(i, c_row);
    const double product = dot(a_row, bx);
    const double output = dot(c_row, x);
    if (std::abs(product - output) > tolerance)
      return FreivaldsFailure{i, product, output, tolerance};
  }
  return std::nullopt;
}

}  // namespace halmark
