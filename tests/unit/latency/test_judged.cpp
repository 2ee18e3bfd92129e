#include "latency/judged.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halmark {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

roofline::Bound one_ms() {
  roofline::Bound out;
  out.add({1e9, 1e12, roofline::Level::compute});
  return out;
}

TEST(Judged, gives_the_bound_and_quarantines_only_what_is_below_it) {
  const Latency kept = judged({.ns = 1e6 / 1.019, .reason = "r"}, one_ms());
  EXPECT_EQ(kept.status, Status::ok);
  EXPECT_DOUBLE_EQ(kept.lower_bound_ns, 1e6);
  EXPECT_EQ(kept.limiter, Limiter::compute);
  EXPECT_EQ(kept.reason, "r");
  const Latency refused = judged({.ns = 1e6 / 1.021, .reason = "r"}, one_ms());
  EXPECT_EQ(refused.status, Status::quarantined);
  EXPECT_DOUBLE_EQ(refused.ns, 1e6 / 1.021) << "the figure stays, to be shown";
  EXPECT_TRUE(refused.reason.ends_with("; r")) << refused.reason;
}

TEST(Judged, a_doubt_survives_a_bound_that_the_time_keeps) {
  EXPECT_EQ(judged({.ns = 2e6, .status = Status::suspect}, one_ms()).status, Status::suspect);
}

TEST(Quarantined, counts_each_problem_once_and_names_the_first) {
  Quarantined all;
  EXPECT_THAT(all.lines(), IsEmpty());
  const Problem a{"copy", {{"bytes", 64}}}, b{"copy", {{"bytes", 128}}};
  all.add(a, "too fast; a.csv");
  all.add(a, "again");
  EXPECT_THAT(all.lines(), ElementsAre("1 time quarantined and not used, the first:", a.text(),
                                       "too fast", "a.csv"));
  all.add(b, "as well");
  EXPECT_EQ(all.size(), 2u);
  EXPECT_THAT(all.lines(), ElementsAre(StartsWith("2 times"), a.text(), "too fast", "a.csv"));
}

}  // namespace
}  // namespace halmark
