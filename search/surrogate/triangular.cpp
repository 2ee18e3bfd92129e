#include "search/surrogate/triangular.hpp"

#include <cmath>
#include <cstring>

#include "core/lists.hpp"

namespace halmark {
namespace {

using Lanes = double __attribute__((vector_size(16)));

Lanes load(const double* from) {
  Lanes out;
  std::memcpy(&out, from, sizeof out);
  return out;
}

}  // namespace

// The order of the additions is fixed here, not left to the compiler: equal seeds give equal
// proposals on every build.
double inner_product(const double* a, const double* b, std::size_t n) {
  Lanes sums[4] = {};
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (const auto lane : indices(4)) {
      sums[lane] += load(a + i + 2 * lane) * load(b + i + 2 * lane);
    }
  }
  const Lanes all = (sums[0] + sums[1]) + (sums[2] + sums[3]);
  double sum = all[0] + all[1];
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

bool CholeskyFactor::append(std::vector<double> next) {
  for (const auto j : indices(size_)) {
    next[j] = (next[j] - inner_product(next.data(), row(j), j)) / diagonal(j);
  }
  const double rest = next[size_] - inner_product(next.data(), next.data(), size_);
  if (!(rest > 0)) return false;
  next[size_] = std::sqrt(rest);
  append_all(rows_, next);
  ++size_;
  return true;
}

void CholeskyFactor::solve_lower(double* x) const {
  for (const auto i : indices(size_)) x[i] = (x[i] - inner_product(x, row(i), i)) / diagonal(i);
}

void CholeskyFactor::solve_upper(double* x) const {
  for (std::size_t i = size_; i-- > 0;) {
    x[i] /= diagonal(i);
    const double* r = row(i);
    for (const auto k : indices(i)) x[k] -= r[k] * x[i];
  }
}

}  // namespace halmark
