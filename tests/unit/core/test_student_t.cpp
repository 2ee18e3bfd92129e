#include "core/numeric/student_t.hpp"

#include <gtest/gtest.h>

#include <cmath>

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
    EXPECT_NEAR(t_two_sided_p(row.t, row.freedom) / row.p, 1, 1e-12) << row.t << ' ' << row.freedom;
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

// Below one, where the search begins, and far beyond it; mpmath at 40 digits.
TEST(StudentT, critical_values_are_found_on_both_sides_of_where_the_search_begins) {
  EXPECT_NEAR(t_critical(0.5, 1), 1, 1e-12) << "tan(pi / 4)";
  EXPECT_NEAR(t_critical(0.9, 1), 0.15838444032453629, 1e-12) << "tan(pi / 20)";
  EXPECT_NEAR(t_critical(1e-6, 1) * 1e-6, 0.6366197723675813, 1e-9) << "2 / pi";
  for (const double p : {0.9, 0.4, 0.01, 1e-8}) {
    EXPECT_NEAR(t_two_sided_p(t_critical(p, 7), 7) / p, 1, 1e-12);
  }
}

// Two degrees have a closed form: 1 - t / sqrt(t^2 + 2).
TEST(StudentT, of_two_degrees_is_its_closed_form) {
  for (const double t : {1e-3, 0.5, 1.0, 1.4, 1.5, 3.0, 20.0, 500.0}) {
    const double square = t * t + 2;
    const double exact = 2 / (square + t * std::sqrt(square));
    EXPECT_NEAR(t_two_sided_p(t, 2) / exact, 1, 1e-12) << t;
  }
}

}  // namespace
}  // namespace halmark
