// What comes, and what is no load.
#include "simulate/serving/load.hpp"
#include "tests/unit/simulate/suite.hpp"

namespace halmark::serving {
namespace {

struct Gaps {
  double mean_s = 0, variation = 0;
};
Gaps gaps_of(const Load& load) {
  double sum = 0, squares = 0, before = 0;
  for (const RequestPlan& r : load.requests) {
    const double gap = events::seconds_of(r.arrival_ps) - before;
    before += gap;
    sum += gap, squares += gap * gap;
  }
  const auto n = static_cast<double>(load.requests.size());
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

// 40,000 gaps: the mean of Poisson gaps lies within 2 % with more than four standard errors.
TEST(Load, arrivals_have_the_rate_and_the_variation_that_were_asked_for) {
  LoadQuestion q{.arrivals = Arrivals::poisson, .requests = 40'000, .rate_per_s = 50};
  EXPECT_NEAR(gaps_of(load_of(q)).mean_s, 0.02, 0.0004);
  EXPECT_NEAR(gaps_of(load_of(q)).variation, 1, 0.03);
  for (const double variation : {0.3, 1.0, 2.5}) {
    q.arrivals = Arrivals::bursty;
    q.variation = variation;
    const Gaps gaps = gaps_of(load_of(q));
    EXPECT_NEAR(gaps.mean_s, 0.02, 0.02 * variation * 0.025) << variation;
    EXPECT_NEAR(gaps.variation / variation, 1, 0.06) << variation;
  }
}

TEST(Load, follows_from_its_seed) {
  LoadQuestion q{.arrivals = Arrivals::poisson,
                 .shape = {100, 5},
                 .requests = 50,
                 .prefix_tokens = 40,
                 .prefix_share = 0.5};
  const Load a = load_of(q), b = load_of(q);
  q.seed = 2;
  const Load c = load_of(q);
  std::size_t same = 0, with_prefix = 0;
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_EQ(a.requests[i].arrival_ps, b.requests[i].arrival_ps);
    same += a.requests[i].arrival_ps == c.requests[i].arrival_ps ? 1 : 0;
    with_prefix += a.requests[i].prefix_tokens == 40 ? 1 : 0;
  }
  EXPECT_EQ(same, 0u);
  EXPECT_GT(with_prefix, 10u);
  EXPECT_LT(with_prefix, 40u);
}

TEST(Trace, columns_stand_in_any_order) {
  const Load load = parse_trace(
      "output_tokens,arrival_s,input_tokens,prefix_id,prefix_tokens\r\n"
      "5,0,100,3,64\r\n7,1.5,200,,\r\n",
      "t.csv");
  ASSERT_EQ(load.requests.size(), 2u);
  EXPECT_EQ(load.requests[0].prefix, 3);
  EXPECT_EQ(load.requests[0].prefix_tokens, 64);
  EXPECT_EQ(load.requests[1].arrival_ps, 1'500'000'000'000);
  EXPECT_EQ(load.requests[1].input_tokens, 200);
  EXPECT_EQ(load.requests[1].prefix, RequestPlan::no_prefix);
  EXPECT_EQ(load.clients, 0);
}

}  // namespace
}  // namespace halmark::serving
