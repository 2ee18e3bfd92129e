// How far forecasts lie from what others measured, on rows that are carried: a median that becomes
// worse, a row that is lost or an interval that does not hold fails. All rows: scripts/accuracy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/numeric/cast.hpp"
#include "core/numeric/statistics.hpp"
#include "served_points.hpp"
#include "tests/checkout.hpp"

namespace halmark::test {
namespace {

const tune::Folders models = {in_source("/configs/models")};
const tune::Folders devices = {in_source("/configs/devices")};

struct Errors {
  std::vector<double> sizes;
  std::size_t inside = 0;
  void add(double measured, double predicted, const serving::MeanRange& range) {
    sizes.push_back(std::abs(predicted / measured - 1));
    inside += measured >= range.low && measured <= range.high ? 1U : 0U;
  }
  double share_inside() const { return as_double(inside) / as_double(sizes.size()); }
};

TEST(ServedDeployments, are_predicted_by_the_shipped_terms) {
  const auto rows = read_served_rows(in_source("/tests/data/served_deployments.tsv"));
  ASSERT_EQ(rows.size(), 60u);
  Errors ttft, tpot, rate;
  for (const ServedRow& row : rows) {
    SCOPED_TRACE(row.id);
    try {
      const auto s = tune::simulate_serving(question_of(row), models, devices);
      ASSERT_TRUE(s.ranges);
      ttft.add(row.ttft_ms * 1e6, s.summary.ttft.mean, s.ranges->ttft);
      tpot.add(row.tpot_ms * 1e6, s.summary.tpot.mean, s.ranges->tpot);
      ASSERT_TRUE(s.ranges->requests_per_s);
      const double request_ms =
          row.ttft_ms + as_double(row.request.output_tokens - 1) * row.tpot_ms;
      rate.add(as_double(row.clients) * 1e3 / request_ms, s.summary.requests_per_s,
               *s.ranges->requests_per_s);
    } catch (const std::exception&) {  // what is not answered is counted below
    }
  }
  EXPECT_EQ(tpot.sizes.size(), 60u);
  EXPECT_LE(median(tpot.sizes), 0.08);
  EXPECT_LE(median(ttft.sizes), 0.21);
  EXPECT_LE(median(rate.sizes), 0.078) << "clients over the time of a request, by Little's law";
  EXPECT_GE(tpot.share_inside(), 0.85);
  EXPECT_GE(rate.share_inside(), 0.85);
  EXPECT_GE(ttft.share_inside(), 0.85);
}

}  // namespace
}  // namespace halmark::test
