#include "simulate/collectives/known_systems.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::simulate {
namespace {

// 8 ranks, 16-bit, us at 256 KiB, 4 MiB and 512 MiB, of the tables that the curves go through.
struct Anchor {
  Collective collective;
  double link_bytes_per_s, us[3];
};

TEST(KnownSystems, published_anchors_are_within_a_quarter) {
  const Anchor rows[] = {{Collective::all_reduce, 300e9, {27.5, 77.3, 4226}},
                         {Collective::all_reduce, 450e9, {19.1, 50.5, 2111}},
                         {Collective::all_reduce, 900e9, {28.3, 53.4, 1335}},
                         {Collective::all_gather, 450e9, {13.6, 33.4, 1402}},
                         {Collective::reduce_scatter, 300e9, {18.2, 52.0, 2207}},
                         {Collective::all_to_all, 900e9, {17.5, 26.5, 834}}};
  for (const Anchor& a : rows) {
    SCOPED_TRACE(collective_name(a.collective));
    const auto fit = fit_of_known_systems(a.collective, Wire::nvlink, {a.link_bytes_per_s, true});
    ASSERT_TRUE(fit);
    const double sizes[3] = {262144, 4194304, 536870912};
    for (int i = 0; i < 3; ++i) {
      EXPECT_NEAR(fit->seconds(sizes[i], 8) * 1e6 / a.us[i], 1, 0.25) << sizes[i];
    }
  }
}

TEST(KnownSystems, a_link_a_tenth_faster_is_never_slower_at_large_sizes) {
  for (const Collective c : {Collective::all_reduce, Collective::all_gather,
                             Collective::reduce_scatter, Collective::all_to_all}) {
    double last = 1;
    for (double rate = 100e9; rate < 2e12; rate *= 1.1) {
      const auto fit = fit_of_known_systems(c, Wire::nvlink, {rate, false});
      const double seconds = fit->seconds(4e9, 8);
      EXPECT_LT(seconds, last) << collective_name(c) << ' ' << rate;
      EXPECT_GE(seconds, fit->bound_s(4e9, 8));
      last = seconds;
    }
  }
}

TEST(KnownSystems, what_nobody_measured_has_no_curve) {
  EXPECT_FALSE(fit_of_known_systems(Collective::broadcast, Wire::nvlink, {450e9, true}));
  EXPECT_FALSE(fit_of_known_systems(Collective::all_reduce, Wire::network, {50e9, false}));
  EXPECT_EQ(test::error_of([] {
              fit_of_known_systems(Collective::all_reduce, Wire::nvlink, {0, false});
            }).exit_code(),
            ExitCode::refused);
}

}  // namespace
}  // namespace halmark::simulate
