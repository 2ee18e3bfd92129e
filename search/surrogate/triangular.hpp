// Just enough dense linear algebra for Gaussian processes: a Cholesky factor that grows by rows.
#pragma once

#include <cstddef>
#include <vector>

namespace halmark {

double inner_product(const double* a, const double* b, std::size_t n);

// The lower triangle L of a positive definite matrix L L^T, packed by rows.
class CholeskyFactor {
 public:
  std::size_t size() const { return size_; }
  void clear() {
    size_ = 0;
    rows_.clear();
  }
  // The next row of the matrix, `size() + 1` values, the diagonal last. False, and nothing changes,
  // when the matrix would not be positive definite.
  bool append(std::vector<double> row);
  const double* row(std::size_t i) const { return &rows_[i * (i + 1) / 2]; }
  double diagonal(std::size_t i) const { return row(i)[i]; }
  void solve_lower(double* x) const;  // L x = b in place
  void solve_upper(double* x) const;  // L^T x = b in place

 private:
  std::size_t size_ = 0;
  std::vector<double> rows_;
};

}  // namespace halmark
