// Sole user of NLopt.
#include <nlopt.h>

#include <algorithm>
#include <memory>

#include "search/surrogate/minimise.hpp"

namespace halmark {

bool has_nlopt() { return true; }

namespace minimiser {
namespace {

using Objective = std::function<double(std::span<const double>)>;

struct Call {
  const Objective* objective;
  std::exception_ptr thrown;
  nlopt_opt solver;
};

// An exception must not pass through C: it stops the solver and is thrown again behind it.
double call(unsigned n, const double* x, double*, void* data) {
  Call& c = *static_cast<Call*>(data);
  try {
    return (*c.objective)({x, n});
  } catch (...) {
    c.thrown = std::current_exception();
    nlopt_force_stop(c.solver);
    return 1e300;
  }
}

Minimum solve(nlopt_algorithm algorithm, const Objective& objective, std::span<const double> low,
              std::span<const double> high, std::span<const double> start,
              const MinimiseOptions& options) {
  const auto dimensions = static_cast<unsigned>(low.size());
  const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> solver(
      nlopt_create(algorithm, dimensions), nlopt_destroy);
  Call c{&objective, nullptr, solver.get()};
  nlopt_set_min_objective(solver.get(), call, &c);
  nlopt_set_lower_bounds(solver.get(), low.data());
  nlopt_set_upper_bounds(solver.get(), high.data());
  nlopt_set_maxeval(solver.get(), options.evaluations_max);
  nlopt_set_xtol_rel(solver.get(), options.relative_tolerance);
  Minimum out{.at = {start.begin(), start.end()}, .value = 1e300, .evaluations = 0, .stop = {}};
  const nlopt_result result = nlopt_optimize(solver.get(), out.at.data(), &out.value);
  if (c.thrown) std::rethrow_exception(c.thrown);
  out.evaluations = nlopt_get_numevals(solver.get());
  out.stop = result == NLOPT_MAXEVAL_REACHED    ? "evaluations"
             : result == NLOPT_ROUNDOFF_LIMITED ? "roundoff"
             : result > 0                       ? "xtol"
                                                : "failure";
  for (std::size_t i = 0; i < out.at.size(); ++i)
    out.at[i] = std::clamp(out.at[i], low[i], high[i]);
  return out;
}

}  // namespace

Minimum local(const Objective& objective, std::span<const double> low, std::span<const double> high,
              std::span<const double> start, const MinimiseOptions& options) {
  return solve(NLOPT_LN_SBPLX, objective, low, high, start, options);
}

std::vector<double> global(const Objective& objective, std::span<const double> low,
                           std::span<const double> high, std::span<const double> start,
                           const MinimiseOptions& options) {
  return solve(NLOPT_GN_DIRECT_L, objective, low, high, start, options).at;
}

}  // namespace minimiser
}  // namespace halmark
