#include "core/numeric/student_t.hpp"

#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace halmark {
namespace {

namespace policies = boost::math::policies;

// What has no value is none: no exception and no errno.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;

}  // namespace

double t_two_sided_p(double t, double freedom) {
  const boost::math::students_t_distribution<double, Quiet> distribution(freedom);
  return 2 * cdf(complement(distribution, std::abs(t)));
}

double t_critical(double p, double freedom) {
  const boost::math::students_t_distribution<double, Quiet> distribution(freedom);
  return quantile(complement(distribution, p / 2));
}

}  // namespace halmark
