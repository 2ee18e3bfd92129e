#include "latency/judged.hpp"
#include "tests/unit/latency/fixtures.hpp"

namespace halmark {
namespace {

using namespace latency_test;

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

TEST(AskedTimes, counts_each_problem_once_and_names_the_first) {
  AskedTimes all;
  EXPECT_THAT(lines_of(all.quarantined()), IsEmpty());
  const Problem a{"copy", {{"bytes", 64}}}, b{"copy", {{"bytes", 128}}}, c{"copy", {{"bytes", 1}}};
  const Latency fast{.ns = 5,
                     .lower_bound_ns = 50,
                     .status = Status::quarantined,
                     .reason = "too fast; a.csv:7",
                     .where = "a.csv:7"};
  const Latency slow{.ns = 60};
  all.add(a, &fast, &slow);
  all.add(a, &fast, &slow);
  all.add(c, nullptr, &slow);
  EXPECT_THAT(lines_of(all.quarantined()), ElementsAre(StartsWith("1 of 2 kernels quarantined"),
                                                       a.text(), "too fast", "a.csv:7"));
  const Latency other{.ns = 6, .reason = "as well"};
  all.add(b, &other, nullptr);
  const QuarantinedTimes& times = all.quarantined();
  EXPECT_EQ(times.kernels, 2u);
  EXPECT_EQ(times.asked, 3u);
  EXPECT_EQ(times.problem, a.text());
  EXPECT_EQ(times.source, "a.csv:7");
  EXPECT_EQ(times.ns, 5);
  EXPECT_EQ(times.lower_bound_ns, 50);
}

TEST(AskedTimes, kernels_are_counted_by_the_series_that_gave_them) {
  AskedTimes all;
  const Latency exact{.provenance = Provenance::imported, .origin = "t.csv: gemm bf16"};
  const Latency between{.provenance = Provenance::interpolated, .origin = "t.csv: gemm bf16"};
  const Latency bound{.provenance = Provenance::roofline};
  for (std::int64_t i = 0; i < 5; ++i) {
    all.add({"copy", {{"bytes", i}}}, nullptr, i == 0 ? &exact : i == 1 ? &bound : &between);
  }
  ASSERT_EQ(all.given().size(), 1u);
  EXPECT_EQ(all.given().begin()->second.exact, 1u);
  EXPECT_EQ(all.given().begin()->second.interpolated, 3u);
}

}  // namespace
}  // namespace halmark
