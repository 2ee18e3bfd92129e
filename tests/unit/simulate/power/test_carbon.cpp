
#include "simulate/power/carbon.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::power {
namespace {

TEST(Carbon, of_a_kilowatt_hour_is_the_grids) {
  const Carbon carbon = carbon_of(3.6e6, 0, {.g_per_kwh = 400, .pue = 1.25});
  EXPECT_DOUBLE_EQ(carbon.operational_g, 500);
  EXPECT_EQ(carbon.embodied_g, 0);
}

TEST(Carbon, of_a_devices_whole_life_is_all_that_it_took_to_make_it) {
  const double life_s = 4 * 365.25 * 86400;
  const Carbon carbon = carbon_of(0, life_s, {.embodied_kg = 164, .life_years = 4});
  EXPECT_DOUBLE_EQ(carbon.embodied_g, 164e3);
  EXPECT_DOUBLE_EQ(carbon.total_g(), 164e3);
}

TEST(Carbon, refuses_what_cannot_be) {
  EXPECT_THROW(carbon_of(1, 1, {.pue = 0.9}), Error);
  EXPECT_THROW(carbon_of(1, 1, {.g_per_kwh = -1}), Error);
  EXPECT_THROW(carbon_of(1, 1, {.life_years = 0}), Error);
}

}  // namespace
}  // namespace halmark::power
