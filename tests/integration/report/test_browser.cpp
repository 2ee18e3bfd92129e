// The report in a real browser: it parses, says nothing on the console, asks nobody for anything.
#include <unistd.h>

#include "tests/checkout.hpp"
#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;
using testing::Not;

class Browser : public HalmarkTest {};

// The document as the browser understood it, on stdout; its console on stderr.
Launch opened(const Launch& base, const std::string& browser, const std::string& file) {
  Launch out = base;
  out.arguments = {browser, "--headless", "--disable-gpu", "--disable-dev-shm-usage",
                   "--no-first-run", "--user-data-dir=" + base.folder + "/profile",
                   "--enable-logging=stderr",
                   // Whatever the page asked the network for would be a console error.
                   "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", "file://" + file};
  if (geteuid() == 0) out.arguments.insert(out.arguments.begin() + 1, "--no-sandbox");
  return out;
}

TEST_F(Browser, shows_the_report_of_a_tiny_tune_without_a_console_error) {
  const auto browser = found_browser();
  if (!browser) GTEST_SKIP() << "chromium is not installed";
  tiny_sweep("fake", "shards = [1]");
  const Outcome tune = undisturbed({"tune", "tiny.toml", "--db", "r.db", "--out", "r.html"});
  ASSERT_EQ(tune.exit_code, 0) << tune.err;
  const Outcome page = run(opened(base_, *browser, path("r.html")));
  ASSERT_FALSE(page.timed_out) << page.err;
  EXPECT_EQ(page.exit_code, 0) << page.err;
  EXPECT_THAT(page.out, testing::AllOf(HasSubstr("<section id=\"front\">"), HasSubstr("</svg>"),
                                       HasSubstr("id=\"roofline\""), HasSubstr("</html>")));
  EXPECT_THAT(page.err, Not(HasSubstr("CONSOLE")));
}

// tests/integration/report/report_page_test.py says what is looked at.
TEST_F(Browser, a_report_is_read_as_a_person_would) {
  const auto browser = found_browser();
  const auto python = found_program("python3");
  if (!browser || !python) GTEST_SKIP() << "chromium or python3 is not installed";
  tiny_sweep("fake", "shards = [1, 3]");
  base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000;bytes_per_s=1e9;timer=device_event";
  tune_tiny("r.db");
  ASSERT_EQ(undisturbed({"tune", "tiny.toml", "--db", "r.db", "--again"}).exit_code, 0);
  const Json report = data_of({"report", "--db", "r.db", "--out", "r.html"});
  const Json runs = data_of({"report", "--db", "r.db", "--run", "1", "--run", "2", "--out",
                             "runs.html", "--out", "s.md"});
  EXPECT_EQ(runs["runs"].size(), 2u);
  write("report.json",
        Json{{"evaluations", report["evaluations"]}, {"sides", runs["configurations"]}}.dump());
  EXPECT_EQ(halmark({"report", "--db", "r.db", "--run", "1", "--run", "1"}).exit_code, 2);
  Launch launch = base_;
  launch.limit_s = 240;
  launch.arguments = {*python,
                      "-B",
                      test::in_source("/tests/integration/report/report_page_test.py"),
                      *browser,
                      path("r.html"),
                      path("report.json"),
                      base_.folder,
                      "--runs",
                      path("runs.html")};
  if (const char* pictures = std::getenv("HALMARK_PAGE_PICTURES")) {
    launch.arguments.insert(launch.arguments.end(), {"--pictures", pictures});
  }
  const Outcome page = run(launch);
  ASSERT_EQ(page.exit_code, 0) << page.err;
  EXPECT_EQ(Json::parse(page.out)["failed"], Json::array());
}

TEST_F(Browser, a_console_error_would_be_seen) {
  const auto browser = found_browser();
  if (!browser) GTEST_SKIP() << "chromium is not installed";
  write("bad.html",
        "<!doctype html><title>x</title><img src=\"http://halmark.invalid/x.png\">"
        "<script>console.error('seen')</script>");
  const Outcome page = run(opened(base_, *browser, path("bad.html")));
  EXPECT_THAT(page.err, HasSubstr("CONSOLE"));
}

}  // namespace
}  // namespace halmark::integration
