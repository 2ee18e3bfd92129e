#include "tune/sizing/fleet.hpp"

#include <cmath>

#include "core/lists.hpp"

namespace halmark::tune {
namespace {

std::size_t types(const FleetQuestion& q) { return q.usd_per_hour.size(); }

std::size_t slice_variable(const FleetQuestion& q, std::size_t bucket, std::size_t type) {
  return bucket * types(q) + type;
}
std::size_t unit_variable(const FleetQuestion& q, std::size_t type) {
  return q.rates.size() * types(q) + type;
}

// Units' worth of work of one slice; 0 where the type cannot serve the bucket.
double slice_load(const FleetQuestion& q, std::size_t bucket, std::size_t type) {
  const double capacity = q.capacity[bucket][type];
  return capacity > 0 ? q.rates[bucket] / capacity / as_double(q.slices) : 0;
}

// More of a type than serve everything that it can serve are of no use.
std::int64_t units_max(const FleetQuestion& q, std::size_t type) {
  double load = 0;
  for (std::size_t b = 0; b < q.rates.size(); ++b) {
    load += slice_load(q, b, type) * as_double(q.slices);
  }
  return as_int64(std::ceil(load * (1 + 1e-9)));
}

}  // namespace

IntegerProgram fleet_program(const FleetQuestion& q) {
  IntegerProgram out;
  const std::size_t variables = (q.rates.size() + 1) * types(q);
  out.cost.assign(variables, 0);
  out.low.assign(variables, 0);
  out.high.assign(variables, 0);
  for (std::size_t b = 0; b < q.rates.size(); ++b) {
    IntegerProgram::Row at_most{.terms = {}, .at_most = as_double(q.slices)};
    IntegerProgram::Row at_least{.terms = {}, .at_most = -as_double(q.slices)};
    for (std::size_t t = 0; t < types(q); ++t) {
      const std::size_t variable = slice_variable(q, b, t);
      if (q.capacity[b][t] > 0) out.high[variable] = q.slices;
      at_most.terms.push_back({variable, 1});
      at_least.terms.push_back({variable, -1});
    }
    out.rows.push_back(std::move(at_most));
    out.rows.push_back(std::move(at_least));
  }
  for (std::size_t t = 0; t < types(q); ++t) {
    const std::size_t units = unit_variable(q, t);
    out.cost[units] = q.usd_per_hour[t];
    out.high[units] = units_max(q, t);
    IntegerProgram::Row work{.terms = {{units, -1}}, .at_most = 0};
    for (std::size_t b = 0; b < q.rates.size(); ++b) {
      work.terms.push_back({slice_variable(q, b, t), slice_load(q, b, t)});
    }
    out.rows.push_back(std::move(work));
  }
  return out;
}

std::optional<Fleet> cheapest_fleet(const FleetQuestion& q) {
  const auto solution = solve(fleet_program(q));
  if (!solution) return std::nullopt;
  Fleet out{.usd_per_hour = solution->cost, .solver = solution->solver};
  for (std::size_t b = 0; b < q.rates.size(); ++b) {
    auto& slices = out.slices.emplace_back();
    for (std::size_t t = 0; t < types(q); ++t) {
      slices.push_back(solution->at[slice_variable(q, b, t)]);
    }
  }
  for (std::size_t t = 0; t < types(q); ++t) {
    out.units.push_back(solution->at[unit_variable(q, t)]);
    double load = 0;
    for (std::size_t b = 0; b < q.rates.size(); ++b) {
      load += slice_load(q, b, t) * as_double(out.slices[b][t]);
    }
    out.load.push_back(load);
  }
  return out;
}

}  // namespace halmark::tune
