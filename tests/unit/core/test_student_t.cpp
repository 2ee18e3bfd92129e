#include "core/numeric/student_t.hpp"

#include <gtest/gtest.h>

namespace halmark {
namespace {

// mpmath at 40 digits: by its incomplete beta function and, to 12 digits the same, by quadrature of
// the density.
TEST(StudentT, tails_are_those_of_forty_digits) {
  struct Row {
    double t, freedom, p;
  };
  for (const Row& row :
       {Row{0.1, 1, 0.93654896513889286}, Row{1, 2, 0.42264973081037424},
        Row{2.5, 3.7, 0.071822022911826773}, Row{4.2, 4, 0.013695810305096451},
        Row{12, 7.5, 3.6608064556194797e-6}, Row{5.3, 40, 4.5321253687491294e-6},
        Row{8, 58, 6.1246915642388604e-11}, Row{40, 3, 3.4380680789158528e-5},
        Row{1.96, 1e6, 0.049996067585269791}, Row{6, 1e6, 1.9738498123544347e-9}}) {
    EXPECT_NEAR(t_two_sided_p(row.t, row.freedom) / row.p, 1, 1e-9) << row.t << ' ' << row.freedom;
    EXPECT_EQ(t_two_sided_p(-row.t, row.freedom), t_two_sided_p(row.t, row.freedom));
  }
  EXPECT_EQ(t_two_sided_p(0, 5), 1);
  EXPECT_EQ(t_two_sided_p(std::numeric_limits<double>::infinity(), 5), 0);
}

// The usual printed table, two-sided.
TEST(StudentT, critical_values_are_those_of_the_printed_table) {
  EXPECT_NEAR(t_critical(0.05, 1), 12.706, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 2), 4.303, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 4), 2.776, 5e-4);
  EXPECT_NEAR(t_critical(0.05, 9), 2.262, 5e-4);
  EXPECT_NEAR(t_critical(0.001, 40), 3.551, 5e-4);
  EXPECT_NEAR(t_critical(0.10, 16), 1.746, 5e-4);
}

}  // namespace
}  // namespace halmark
