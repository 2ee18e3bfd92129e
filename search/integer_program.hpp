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
  std::string solver;  // "Cbc 2.10.8", "own branch and bound"
};

// Rows hold to this share of their largest amount: sums of doubles are not exact.
inline constexpr double row_tolerance = 1e-9;

// Of minimum cost; nothing where no x keeps all rows. Cbc where it was found when this was built,
// solve_by_branching otherwise. Throws Error (exit 1) for a program that is none (lengths, numbers
// that are not finite), and as solve_by_branching does.
std::optional<IntegerSolution> solve(const IntegerProgram& program);
bool has_cbc();

// Depth first, with the cost of what is not set yet at its least and rows at their smallest as
// bounds: for programs of few variables. Throws Error (exit 5) beyond `nodes_max`, naming the
// library that could do it.
std::optional<IntegerSolution> solve_by_branching(const IntegerProgram& program,
                                                  std::uint64_t nodes_max = 20'000'000);

namespace integer_program {
// For solvers: throws what solve() throws for a program that is none.
void check(const IntegerProgram& program);
bool keeps_rows(const IntegerProgram& program, const std::vector<std::int64_t>& at);
double cost_of(const IntegerProgram& program, const std::vector<std::int64_t>& at);
// Of the library; the program is already checked. Only where it was built with it.
std::optional<IntegerSolution> solve_with_cbc(const IntegerProgram& program);
}  // namespace integer_program

}  // namespace halmark
