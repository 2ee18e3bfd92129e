#include "simulate/power/carbon.hpp"

#include "core/text/error.hpp"

namespace halmark::power {
namespace {

constexpr double joules_per_kwh = 3.6e6;
constexpr double seconds_per_year = 365.25 * 86400;

}  // namespace

Carbon carbon_of(double energy_j, double device_seconds, const CarbonQuestion& q) {
  if (!(q.pue >= 1)) throw refused("a PUE is at least 1");
  if (!(q.g_per_kwh >= 0) || !(q.embodied_kg >= 0)) throw refused("carbon is not negative");
  if (!(q.life_years > 0)) throw refused("the life of a device is above 0 years");
  return {.operational_g = energy_j / joules_per_kwh * q.pue * q.g_per_kwh,
          .embodied_g = q.embodied_kg * 1e3 * device_seconds / (q.life_years * seconds_per_year)};
}

}  // namespace halmark::power
