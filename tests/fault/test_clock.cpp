// A clock of the wall that runs backwards or leaps ahead while a sweep goes on: durations are of
// the monotonic clock, and the order of rows is that of their numbers.
#include "../integration/halmark_fixture.hpp"
#include "../unit/case_name.hpp"
#include "tests/checkout.hpp"

namespace halmark::integration {
namespace {

// Seconds per second.
class ClockRate : public HalmarkTest, public testing::WithParamInterface<int> {
 protected:
  ClockRate() {
    tiny_sweep("fake", "shards = [1]");
    base_.environment["HALMARK_FAKE_SCRIPT"] = "latency_ns=200000";
    base_.environment["LD_PRELOAD"] = test::in_build("/tests/fault/libhalmark_clock_shim.so");
    base_.environment["HALMARK_TEST_CLOCK_OFFSET_S"] = "-631152000";  // twenty years
    base_.environment["HALMARK_TEST_CLOCK_RATE"] = std::to_string(GetParam());
  }
  double column(const std::string& what) const {
    return std::stod(
        sql(path("r.db"), "SELECT " + what + " FROM entry WHERE kind = 'measurement'"));
  }
};

TEST_P(ClockRate, changes_no_duration_and_no_order) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer wants to be the first library";
#endif
  tune_tiny("r.db");
  ASSERT_FALSE(HasFailure());
  EXPECT_GT(column("count(*)"), 5);
  EXPECT_GE(column("min(json_extract(body, '$.wall_s'))"), 0);
  EXPECT_LT(column("max(json_extract(body, '$.wall_s'))"), 30);
  EXPECT_GT(column("min(json_extract(body, '$.duration_ns_median'))"), 0);
  EXPECT_LT(column("max(json_extract(body, '$.duration_ns_median'))"), 1e9);
  EXPECT_LT(sql(path("r.db"), "SELECT started_utc FROM run"), "2020") << "the clock was as always";
  EXPECT_TRUE(data_of({"verify", "r.db"})["findings"].empty());
  // The same command under a clock that was set right finds all its rows and measures none anew.
  base_.environment.erase("LD_PRELOAD");
  const double rows = column("count(*)");
  EXPECT_EQ(halmark({"tune", "tiny.toml", "--db", "r.db"}).exit_code, 0);
  EXPECT_EQ(column("count(DISTINCT key || json_extract(body, '$.round'))"), rows);
  EXPECT_EQ(column("count(*)"), rows);
  EXPECT_EQ(halmark({"report", "--db", "r.db"}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Rates, ClockRate, testing::Values(-1000, 100'000),
                         [](const auto& info) { return test::case_name({info.param}); });

}  // namespace
}  // namespace halmark::integration
