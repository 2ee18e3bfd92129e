// Sole user of NLopt.
#include "search/surrogate/minimise.hpp"

#include <nlopt.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>

#include "core/lists.hpp"
#include "core/text/error.hpp"
#include "search/samplers/sobol_sequence.hpp"

namespace halmark {
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
  for (const auto i : indices(out.at)) out.at[i] = std::clamp(out.at[i], low[i], high[i]);
  return out;
}

}  // namespace

Minimum minimise(const Objective& objective, std::span<const double> low,
                 std::span<const double> high, std::span<const double> start,
                 const MinimiseOptions& options) {
  bool is_inside = low.size() == high.size() && low.size() == start.size() && !low.empty();
  for (std::size_t i = 0; is_inside && i < low.size(); ++i) {
    is_inside = low[i] <= start[i] && start[i] <= high[i];
  }
  if (!is_inside) throw Error(ExitCode::error, "a start outside of the bounds of a minimisation");
  const Objective finite = [&](std::span<const double> x) {
    const double y = objective(x);
    return std::isfinite(y) ? y : 1e300;
  };
  const auto local = [&](std::span<const double> from) {
    return solve(NLOPT_LN_SBPLX, finite, low, high, from, options);
  };
  std::vector<double> first(start.begin(), start.end());
  if (options.is_global_first)
    first = solve(NLOPT_GN_DIRECT_L, finite, low, high, first, options).at;
  Minimum best = local(first);
  SobolSequence sequence(low.size(), options.seed);
  for (const int s : below(options.starts)) {
    const std::span<const double> u = sequence.at(as_uint64(s));
    std::vector<double> from(low.size());
    for (const auto i : indices(from)) from[i] = low[i] + u[i] * (high[i] - low[i]);
    Minimum other = local(from);
    other.evaluations += best.evaluations;
    if (other.value < best.value) {
      best = std::move(other);
    } else {
      best.evaluations = other.evaluations;
    }
  }
  return best;
}

}  // namespace halmark
