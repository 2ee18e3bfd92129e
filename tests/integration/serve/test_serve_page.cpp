// The page in a real browser: every control, no console error, nobody else asked.
#include "serve_fixture.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

class ServePage : public ServeTest {};

TEST_F(ServePage, is_used_as_a_person_would) {
  const auto browser = found_program("chromium");
  const auto python = found_program("python3");
  if (!browser || !python) GTEST_SKIP() << "chromium or python3 is not installed";
  tiny_sweep("fake", "shards = [1]");
  std::filesystem::create_directories(path("own/sweeps"));
  // Long enough to be stopped: each kernel is sampled for a while.
  std::string longer = read("tiny.toml");
  const std::string budget = "sample_budget_s = 0.002";
  longer.replace(longer.find(budget), budget.size(), "sample_budget_s = 0.15");
  longer.replace(longer.find("name = \"tiny\""), 13, "name = \"longer\"");
  write("own/sweeps/longer.toml", longer);
  base_.environment["HALMARK_CONFIG_PATH"] = path("own");
  tune_tiny("r.db");
  ASSERT_EQ(
      halmark({"serve", "--html", "grid.html", "--state", "model=qwen3-0.6b&shards=4"}).exit_code,
      0);
  start({"--writable", "--db", path("r.db")});
  Launch launch = base_;
  launch.limit_s = 280;
  launch.arguments = {*python,
                      "-B",
                      test::in_source("/tests/integration/serve/page_test.py"),
                      *browser,
                      address_,
                      base_.folder,
                      "--file",
                      path("grid.html"),
                      "--sweep",
                      "longer",
                      "--program",
                      HalmarkTest::launch({}).arguments.front()};
  const Outcome page = run(launch);
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_EQ(Json::parse(page.out)["failed"], Json::array());
}

}  // namespace
}  // namespace halmark::integration
