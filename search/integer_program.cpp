#include "search/integer_program.hpp"

#include <algorithm>
#include <cmath>

#include "core/text/error.hpp"

namespace halmark {
namespace integer_program {
namespace {

bool is_finite(double value) { return std::isfinite(value); }

}  // namespace

void check(const IntegerProgram& p) {
  const auto bad = [](const char* what) {
    return Error(ExitCode::error, std::string("integer program: ") + what);
  };
  if (p.low.size() != p.cost.size() || p.high.size() != p.cost.size()) {
    throw bad("bounds and costs differ in number");
  }
  if (!std::ranges::all_of(p.cost, is_finite)) throw bad("a cost is not finite");
  for (std::size_t i = 0; i < p.cost.size(); ++i) {
    if (p.low[i] > p.high[i]) throw bad("a lower bound is above its upper bound");
  }
  for (const IntegerProgram::Row& row : p.rows) {
    if (!is_finite(row.at_most)) throw bad("a row's limit is not finite");
    for (const auto& [variable, factor] : row.terms) {
      if (variable >= p.cost.size()) throw bad("a row names a variable that is not there");
      if (!is_finite(factor)) throw bad("a factor is not finite");
    }
  }
}

bool keeps_rows(const IntegerProgram& p, const std::vector<std::int64_t>& at) {
  return std::ranges::all_of(p.rows, [&](const IntegerProgram::Row& row) {
    double sum = 0, largest = std::abs(row.at_most);
    for (const auto& [variable, factor] : row.terms) {
      const double amount = factor * static_cast<double>(at[variable]);
      sum += amount;
      largest = std::max(largest, std::abs(amount));
    }
    return sum <= row.at_most + row_tolerance * largest;
  });
}

double cost_of(const IntegerProgram& p, const std::vector<std::int64_t>& at) {
  double out = 0;
  for (std::size_t i = 0; i < at.size(); ++i) out += p.cost[i] * static_cast<double>(at[i]);
  return out;
}

}  // namespace integer_program

namespace {

// Variables are set in order; what follows counts with its cheapest and its smallest amounts.
class Branching {
 public:
  Branching(const IntegerProgram& program, std::uint64_t nodes_max)
      : p_(program), nodes_max_(nodes_max), at_(program.cost.size()) {
    const std::size_t n = p_.cost.size();
    rest_.assign(n + 1, 0);
    factors_.assign(p_.rows.size(), std::vector<double>(n, 0));
    least_.assign(p_.rows.size(), std::vector<double>(n + 1, 0));
    largest_.assign(p_.rows.size(), 0);
    for (std::size_t r = 0; r < p_.rows.size(); ++r) {
      for (const auto& [variable, factor] : p_.rows[r].terms) factors_[r][variable] += factor;
    }
    for (std::size_t i = n; i-- > 0;) {
      rest_[i] = rest_[i + 1] + smallest(p_.cost[i], i);
      for (std::size_t r = 0; r < p_.rows.size(); ++r) {
        least_[r][i] = least_[r][i + 1] + smallest(factors_[r][i], i);
        largest_[r] += std::max(std::abs(factors_[r][i] * static_cast<double>(p_.low[i])),
                                std::abs(factors_[r][i] * static_cast<double>(p_.high[i])));
      }
    }
  }

  std::optional<IntegerSolution> run() {
    std::vector<double> sums(p_.rows.size(), 0);
    visit(0, 0, sums);
    return best_;
  }

 private:
  double smallest(double factor, std::size_t i) const {
    return factor * static_cast<double>(factor >= 0 ? p_.low[i] : p_.high[i]);
  }

  bool may_hold(std::size_t i, const std::vector<double>& sums) const {
    for (std::size_t r = 0; r < sums.size(); ++r) {
      const double slack = row_tolerance * std::max(largest_[r], std::abs(p_.rows[r].at_most));
      if (sums[r] + least_[r][i] > p_.rows[r].at_most + slack) return false;
    }
    return true;
  }

  void visit(std::size_t i, double cost, const std::vector<double>& sums) {
    if (++nodes_ > nodes_max_) {
      throw unfit("the integer program is too large without Cbc",
                  "install coinor-libcbc-dev and build again");
    }
    if (best_ && cost + rest_[i] >= best_->cost) return;
    if (!may_hold(i, sums)) return;
    if (i == at_.size()) {
      if (integer_program::keeps_rows(p_, at_)) best_ = {at_, cost, "own branch and bound"};
      return;
    }
    std::vector<double> next(sums.size());
    for (std::int64_t step = 0; step <= p_.high[i] - p_.low[i]; ++step) {
      const std::int64_t value = p_.cost[i] >= 0 ? p_.low[i] + step : p_.high[i] - step;
      at_[i] = value;
      for (std::size_t r = 0; r < sums.size(); ++r) {
        next[r] = sums[r] + factors_[r][i] * static_cast<double>(value);
      }
      visit(i + 1, cost + p_.cost[i] * static_cast<double>(value), next);
    }
  }

  const IntegerProgram& p_;
  std::uint64_t nodes_max_, nodes_ = 0;
  std::vector<std::int64_t> at_;
  std::vector<double> rest_;                          // least cost of the variables from i on
  std::vector<std::vector<double>> factors_, least_;  // by row and variable
  std::vector<double> largest_;                       // by row
  std::optional<IntegerSolution> best_;
};

}  // namespace

std::optional<IntegerSolution> solve_by_branching(const IntegerProgram& program,
                                                  std::uint64_t nodes_max) {
  integer_program::check(program);
  return Branching(program, nodes_max).run();
}

#ifdef HALMARK_HAS_CBC
bool has_cbc() { return true; }
std::optional<IntegerSolution> solve(const IntegerProgram& program) {
  integer_program::check(program);
  return integer_program::solve_with_cbc(program);
}
#else
bool has_cbc() { return false; }
std::optional<IntegerSolution> solve(const IntegerProgram& program) {
  return solve_by_branching(program);
}
#endif

}  // namespace halmark
