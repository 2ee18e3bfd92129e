// Small integer programs, solved exactly: numbers in, numbers out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace halmark {

// Minimise cost . x over whole x with low <= x <= high and every row: sum of terms <= at_most.
struct IntegerProgram {
  struct Term {
    std::size_t variable = 0;
    double factor = 0;
  };
  struct Row {
    std::vector<Term> terms;
    double at_most = 0;
  };
  std::vector<double> cost;
  std::vector<std::int64_t> low, high;  // as cost
  std::vector<Row> rows;
};

struct IntegerSolution {
  std::vector<std::int64_t> at;
  double cost = 0;
  std::string solver;  // "Cbc 2.10.8"
};

// Rows hold to this share of their largest amount: sums of doubles are not exact.
inline constexpr double row_tolerance = 1e-9;

// Of minimum cost, by Cbc; nothing where no x keeps all rows. Throws Error (exit 1) for a program
// that is none (lengths, numbers that are not finite) and where Cbc ends without an optimum.
std::optional<IntegerSolution> solve(const IntegerProgram& program);

}  // namespace halmark
