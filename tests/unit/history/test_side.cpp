#include "history/side.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "history/stored_series.hpp"
#include "stored.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::error_of;
using halmark::test::ScratchFolder;
using testing::HasSubstr;

class Sides : public testing::Test {
 protected:
  std::string database(const std::string& name, const test::StoredNights& made) {
    const std::string path = folder_ / name;
    test::store_nights(path, made);
    return path;
  }
  ScratchFolder folder_;
};

TEST_F(Sides, two_runs_of_a_database_are_compared) {
  const std::string db = database("a.db", {.nights = 2, .step = 0.1, .step_at = 1});
  const Comparison c = compare_sides(load_side("1", db), load_side("2", db), {});
  ASSERT_EQ(c.changes.size(), 2u);
  EXPECT_EQ(c.changes[0].change, Change::slower);
  EXPECT_THAT(c.changes[0].name.what, HasSubstr("gemm k=64 m=1"));
  EXPECT_NEAR(*c.changes[0].ratio, 1.1, 0.02);
  EXPECT_EQ(c.changes[1].change, Change::same);
  EXPECT_EQ(c.before.builds, std::vector<std::string>{"0.1 (aabbccdd)"});
}

TEST_F(Sides, dates_and_databases_and_their_runs_are_named_too) {
  const std::string a = database("a.db", {.nights = 3});
  const std::string b = database("b.db", {.nights = 3, .step = 0.1, .step_at = 0, .seed = 2});
  EXPECT_EQ(load_side("2026-01-02", a).runs, std::vector<std::int64_t>{2});
  EXPECT_EQ(load_side(a, "absent.db").runs.size(), 3u);
  EXPECT_EQ(load_side(a + ":3", "absent.db").runs, std::vector<std::int64_t>{3});
  const Comparison c = compare_sides(load_side(a, ""), load_side(b, ""), {});
  EXPECT_EQ(c.changes[0].unit, Unit::runs);
  EXPECT_EQ(c.changes[0].change, Change::slower);
}

TEST_F(Sides, what_is_none_is_refused_with_the_reason) {
  const std::string db = database("a.db", {});
  EXPECT_EQ(error_of([&] { load_side("7", db); }).exit_code(), ExitCode::refused);
  EXPECT_THAT(error_of([&] { load_side("7", db); }).line(), HasSubstr("there is no run 7"));
  EXPECT_THAT(error_of([&] { load_side("2025-12-31", db); }).line(),
              HasSubstr("no run began on 2025-12-31"));
  EXPECT_THAT(error_of([&] { load_side("nothing.db", db); }).line(),
              HasSubstr("there is no such run, date or file"));
  halmark::test::write_file(folder_ / "text.db", "not a database");
  EXPECT_THAT(error_of([&] { load_side(folder_ / "text.db", db); }).line(),
              HasSubstr("no SQLite database"));
}

TEST_F(Sides, other_machines_and_other_problems_do_not_compare) {
  const std::string a = database("a.db", {});
  const std::string b = database("b.db", {.fingerprint = "class@other"});
  const Error other = error_of([&] { compare_sides(load_side(a, ""), load_side(b, ""), {}); });
  EXPECT_EQ(other.exit_code(), ExitCode::refused);
  EXPECT_THAT(other.line(), HasSubstr("different machines: class@host and class@other"));
  Side renamed = load_side(a, "");
  for (Series& one : renamed.series) one.name.what += " else";
  EXPECT_THAT(error_of([&] { compare_sides(load_side(a, ""), renamed, {}); }).line(),
              HasSubstr("other problems"));
  for (Series& one : renamed.series) one.name.plugin = "other";
  EXPECT_THAT(error_of([&] { compare_sides(load_side(a, ""), renamed, {}); }).line(),
              HasSubstr("other plugins"));
}

// A changed row: whatever follows from it would be made up.
TEST_F(Sides, a_damaged_database_is_refused) {
  const std::string db = database("a.db", {});
  std::string bytes = halmark::test::file_bytes(db);
  const std::size_t at = bytes.rfind("aabbccddeeff");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'b';
  halmark::test::write_file(folder_ / "changed.db", bytes);
  const Error error = error_of([&] { load_side(folder_ / "changed.db", ""); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_THAT(error.line(), HasSubstr("damaged"));
}

TEST_F(Sides, series_of_one_side_alone_are_named) {
  const std::string a = database("a.db", {});
  Side less = load_side(a, "");
  less.series.pop_back();
  const Comparison c = compare_sides(load_side(a, ""), less, {});
  EXPECT_EQ(c.changes.size(), 1u);
  ASSERT_EQ(c.only_before.size(), 1u);
  EXPECT_THAT(c.only_before[0], HasSubstr("m=2"));
  EXPECT_TRUE(c.only_after.empty());
}

TEST(Floor, is_a_share_or_a_percentage) {
  EXPECT_DOUBLE_EQ(parse_floor("3%", "--floor"), 0.03);
  EXPECT_DOUBLE_EQ(parse_floor("2.5 %", "--floor"), 0.025);
  EXPECT_DOUBLE_EQ(parse_floor("0.03", "--floor"), 0.03);
  EXPECT_DOUBLE_EQ(parse_floor("0", "--floor"), 0);
  for (const char* text : {"", "three", "3 percent", "-1%", "nan", "inf", "2000%", "%"}) {
    EXPECT_THAT(error_of([&] { parse_floor(text, "--floor"); }).line(), HasSubstr("is no share"))
        << text;
  }
}

TEST(StoredSeries, rows_have_the_state_around_them_and_why_they_do_not_count) {
  Measurement m = test::measurement(1, 1000, 2);
  m.bandwidth.before = 4e10;
  m.bandwidth.after = 6e10;
  m.clock_hz_after = 3e9;
  SeriesRow row = row_of(m, 7);
  EXPECT_EQ(row.run, 7);
  EXPECT_EQ(row.round, 2);
  EXPECT_EQ(row.ns, 1000);
  EXPECT_EQ(row.build, "0.1 (aabbccdd)");
  EXPECT_EQ(row.state.bytes_per_s, 5e10) << "half of both";
  EXPECT_EQ(row.state.clock_hz, 3e9) << "what was seen";
  EXPECT_TRUE(row.is_sound());
  m.bandwidth.after.reset();
  m.clock_hz_after.reset();
  EXPECT_EQ(row_of(m, 7).state.bytes_per_s, 4e10);
  EXPECT_EQ(row_of(m, 7).state.clock_hz, std::nullopt);
  m.status = Status::suspect;
  EXPECT_EQ(row_of(m, 7).doubt, "suspect");
  m.reason = "steal";
  EXPECT_EQ(row_of(m, 7).doubt, "steal");
  m.duration_ns_median = 0;
  EXPECT_EQ(row_of(m, 7).fault, "it has no time");
  m.status = Status::crashed;
  EXPECT_EQ(row_of(m, 7).fault, "crashed: steal");
  m.reason.clear();
  EXPECT_EQ(row_of(m, 7).fault, "crashed");
  EXPECT_EQ(row_of(m, 7).ns, 0);
}

TEST(StoredSeries, estimates_have_their_interval_and_their_doubt) {
  Evaluation e;
  EXPECT_EQ(row_of(e, 1).fault, "it has no estimate");
  e.reason = "refused";
  EXPECT_EQ(row_of(e, 1).fault, "refused");
  e.estimate = Estimate{.step_ns = 100, .low_ns = 90, .high_ns = 120};
  SeriesRow row = row_of(e, 4);
  EXPECT_EQ(row.run, 4);
  EXPECT_EQ(row.ns, 100);
  ASSERT_TRUE(row.interval_ns);
  EXPECT_EQ(row.interval_ns->low, 90);
  EXPECT_EQ(row.interval_ns->high, 120);
  EXPECT_TRUE(row.is_sound());
  e.estimate->status = Status::suspect;
  e.estimate->reason = "one part";
  EXPECT_EQ(row_of(e, 4).doubt, "one part");
  e.estimate->step_ns = 0;
  EXPECT_EQ(row_of(e, 4).fault, "refused");
}

}  // namespace
}  // namespace halmark::history
