// What a reported front loses, by areas counted by hand.
#include "search/pareto/front_loss.hpp"

#include <gmock/gmock.h>

#include "core/numeric/random.hpp"

namespace halmark {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// A tenth of the extent of 2 beyond 3, or 1 where that is what the extent leaves of 3. Below (4, 4)
// the steps of (1, 3), (2, 2) and (3, 1) are 3, 2 and 1 large.
TEST(FrontLoss, is_the_share_of_the_area_that_is_not_reported) {
  EXPECT_THAT(front_reference(std::vector<Objectives>{{1, 3}, {2, 2}, {3, 1}}),
              ElementsAre(DoubleNear(4, 1e-12), DoubleNear(4, 1e-12)));
  EXPECT_THAT(front_reference(std::vector<Objectives>{{1, -20}, {21, -200}}),
              ElementsAre(DoubleNear(23, 1e-12), DoubleNear(-2, 1e-12)));
  FrontLoss loss(4);
  loss.add({{1, 3}, {2, 2}, {3, 1}, {2.5, 2.5}});
  EXPECT_DOUBLE_EQ(loss.expected(), 1);
  loss.report(0);
  loss.report(2);
  EXPECT_NEAR(loss.expected(), 1.0 / 6, 1e-12);
  EXPECT_NEAR(loss.gain(1), 1.0 / 6, 1e-12);
  EXPECT_NEAR(loss.gain(3), 0.25 / 6, 1e-12);
  EXPECT_EQ(loss.gain(0), 0);
  loss.report(1);
  EXPECT_NEAR(loss.expected(), 0, 1e-12);
  EXPECT_EQ(loss.gain(3), 0) << "dominated";
}

TEST(FrontLoss, of_one_objective_is_how_much_worse_the_reported_is) {
  FrontLoss loss(3);
  loss.add({{100}, {103}, {250}});
  loss.report(1);
  EXPECT_NEAR(loss.expected(), 0.03, 1e-12);
  EXPECT_NEAR(loss.gain(0), 0.03, 1e-12);
  FrontLoss maximised(2);
  maximised.add({{-50}, {-40}});
  maximised.report(1);
  EXPECT_NEAR(maximised.expected(), 0.2, 1e-12);
}

// In one of two draws the second is the better.
TEST(FrontLoss, is_the_mean_over_draws) {
  FrontLoss loss(2);
  loss.add({{100}, {110}});
  loss.add({{100}, {80}});
  loss.report(0);
  EXPECT_NEAR(loss.expected(), (0 + 0.25) / 2, 1e-12);
  EXPECT_NEAR(loss.gain(1), 0.25 / 2, 1e-12);
  EXPECT_DOUBLE_EQ(loss.membership(1), 0.5);
}

// What is gained by reporting one more is what the loss falls by, in three objectives, too.
TEST(FrontLoss, falls_by_the_gain) {
  std::uint64_t counter = 0;
  const auto uniform = [&] { return uniform_01(hash_u64(7, counter++)); };
  FrontLoss loss(12);
  for (int draw = 0; draw < 20; ++draw) {
    std::vector<Objectives> points;
    for (int c = 0; c < 12; ++c) points.push_back({uniform(), -uniform(), uniform()});
    loss.add(std::move(points));
  }
  for (std::size_t c = 0; c < 12; ++c) {
    const double before = loss.expected(), gain = loss.gain(c);
    loss.report(c);
    EXPECT_NEAR(before - loss.expected(), gain, 1e-9);
  }
  EXPECT_NEAR(loss.expected(), 0, 1e-9);
}

}  // namespace
}  // namespace halmark
