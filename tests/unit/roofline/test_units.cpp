// Figures in another unit say the same: rates and amounts times one factor leave every time as it
// is, amounts and times times one factor every share. The factor is a power of two, so that nothing
// is rounded, and so small that no figure is above 1 any more.
#include <gtest/gtest.h>

#include <cmath>

#include "roofline/ceilings.hpp"
#include "roofline/estimate.hpp"
#include "roofline/peaks.hpp"
#include "roofline/row_utilisation.hpp"
#include "roofline/score.hpp"

namespace halmark {
namespace {

const double tiny = std::exp2(-90);

Device device(double unit) {
  Device out{.id = "d"};
  out.peaks = {{.path = "bf16_matrix", .dtype = Dtype::bf16, .flops_per_s = unit * 1e12}};
  out.bandwidths = {{.level = "memory", .bytes_per_s = unit * 1e10}};
  out.links = {{.name = "ring", .bytes_per_s = unit * 1e9, .domain_devices = 4}};
  return out;
}

Work work(double unit) {
  return {.matmul_flops = unit * 1e9,
          .bytes_read = unit * 8e6,
          .bytes_written = unit * 1e6,
          .constant_bytes = unit * 7e6,
          .compute_dtype = Dtype::bf16};
}

TEST(Units, limiters_and_quarantine_depend_on_no_unit_of_time) {
  for (const double unit : {1.0, tiny}) {
    roofline::Bound bound;
    bound.add({unit * 1e9, 1e12, roofline::Level::compute});
    EXPECT_EQ(bound.ns(), unit * 1e6);
    EXPECT_EQ(bound.ns(Limiter::compute), unit * 1e6);
    EXPECT_EQ(bound.limiter(), Limiter::compute);
    EXPECT_FALSE(quarantine(bound, unit * 1e6 / 1.019));
    EXPECT_TRUE(quarantine(bound, unit * 1e6 / 1.021));
  }
}

TEST(Units, shares_of_peaks_depend_on_no_unit) {
  const auto of = [](double unit) {
    const Device d = device(unit);
    const roofline::Ceilings ceilings(d, 0);
    const Work w = work(unit);
    return row_utilisation(w, ceilings.bound(w, roofline::step_traffic(w)),
                           {.measured = &d, .datasheet = &d, .threads = 0}, "", 4e6);
  };
  const RowUtilisation a = of(1), b = of(tiny);
  EXPECT_EQ(a.mfu.value(), 0.25);
  EXPECT_EQ(a.mfu, b.mfu);
  EXPECT_EQ(a.mfu_datasheet, b.mfu_datasheet);
  EXPECT_EQ(a.roofline_fraction.value(), b.roofline_fraction.value());
  EXPECT_EQ(a.lower_bound_ns, b.lower_bound_ns);
}

TEST(Units, a_score_depends_on_no_unit_of_time) {
  for (const double t : {21.0, 40.0, 400.0}) {
    EXPECT_EQ(speed_of_light_score(tiny * t, tiny * 20, tiny * 80),
              speed_of_light_score(t, 20, 80));
  }
  EXPECT_EQ(speed_of_light_score(tiny * 19, tiny * 20, tiny * 10), 1.0);
}

}  // namespace
}  // namespace halmark
