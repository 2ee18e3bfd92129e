#include "history/side.hpp"

#include <gmock/gmock.h>

#include "history/stored_series.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::error_of;
using halmark::test::expect_error;
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
  halmark::test::write_file(folder_ / "text.db", "not a database");
  open_store(folder_ / "empty.db")
      ->begin_run({.command = "x", .fingerprint = "f", .started_utc = "2026-01-01"});
  for (const auto& [side, reason] : std::map<std::string, std::string>{
           {"7", "there is no run 7"},
           {"123456789", "no run 123456789"},
           {"1234567890", "no such run"},
           {"", "no such run"},
           {"2025-12-31", "no run began on 2025-12-31"},
           {"nothing.db", "there is no such run, date or file"},
           {folder_ / "text.db", "not a results database or the JSON of Google Benchmark"},
           {folder_ / "empty.db", "there are no rows to compare"}}) {
    SCOPED_TRACE(side);
    expect_error([&] { load_side(side, db); }, reason);
  }
  EXPECT_EQ(error_of([&] { load_side("7", db); }).exit_code(), ExitCode::refused);
  EXPECT_EQ(load_side("1", db).title, "run 1");
  EXPECT_EQ(load_side(db, "").title, db);
  EXPECT_TRUE(load_side(db, "").is_journal);
}

TEST_F(Sides, other_machines_and_other_problems_do_not_compare) {
  const std::string a = database("a.db", {});
  const std::string b = database("b.db", {.fingerprint = "class@other"});
  expect_error([&] { compare_sides(load_side(a, ""), load_side(b, ""), {}); },
               "different machines: class@host and class@other", ExitCode::refused);
  Side renamed = load_side(a, "");
  for (Series& one : renamed.series) one.name.what += " else";
  expect_error([&] { compare_sides(load_side(a, ""), renamed, {}); }, "other problems");
  for (Series& one : renamed.series) one.name.plugin = "other";
  expect_error([&] { compare_sides(load_side(a, ""), renamed, {}); }, "other plugins");
}

// A changed row: whatever follows from it would be made up.
TEST_F(Sides, a_damaged_database_is_refused) {
  const std::string db = database("a.db", {});
  std::string bytes = halmark::test::file_bytes(db);
  const std::size_t at = bytes.rfind("aabbccddeeff");
  ASSERT_NE(at, std::string::npos);
  bytes[at] = 'b';
  halmark::test::write_file(folder_ / "changed.db", bytes);
  expect_error([&] { load_side(folder_ / "changed.db", ""); }, "damaged", ExitCode::refused);
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

Evaluation step_of(std::int64_t batch, double ns) {
  Evaluation out;
  out.configuration = {.model = "m", .precision = {.name = "f32"}};
  out.configuration.workload.batch = batch;
  out.estimate = Estimate{.step_ns = ns, .low_ns = 0.99 * ns, .high_ns = 1.01 * ns};
  return out;
}

// Of each run the last evaluation of a configuration; without an estimate there is none. The plan
// is that of the latest run that has one and configurations.
TEST_F(Sides, hold_the_configurations_of_their_runs) {
  const std::string path = folder_ / "a.db";
  {
    const auto store = open_store(path);
    for (int night = 1; night <= 3; ++night) {
      const std::int64_t run = store->begin_run({.command = "halmark tune",
                                                 .plan_text = night == 3 ? "" : "plan",
                                                 .fingerprint = "class@host",
                                                 .started_utc = "2026-01-01T02:00:00Z"});
      Evaluation refused = step_of(3, 1);
      refused.estimate.reset();
      store->append(run, refused);
      store->append(run, step_of(2, 500));
      store->append(run, step_of(1, 900));
      store->append(run, step_of(1, 100 * night));
    }
  }
  const Side side = load_side("2026-01-01", path);
  EXPECT_EQ(side.runs, (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(side.fingerprints, std::vector<std::string>{"class@host"});
  EXPECT_EQ(side.plan_text, "plan");
  ASSERT_EQ(side.evaluations.size(), 3u) << "the refused one is an evaluation too";
  std::map<std::int64_t, double> steps;
  for (const Evaluation& e : side.evaluations) {
    if (e.estimate) steps[e.configuration.workload.batch] = e.estimate->step_ns;
  }
  EXPECT_EQ(steps, (std::map<std::int64_t, double>{{1, 200}, {2, 500}}));
  ASSERT_EQ(side.series.size(), 2u);
  for (const Series& one : side.series) {
    ASSERT_EQ(one.rows.size(), 3u) << one.name.what;
    EXPECT_EQ(one.name.fingerprint, "class@host");
    const bool is_first = one.name.what == step_of(1, 1).configuration.key();
    EXPECT_EQ(one.rows[2].ns, is_first ? 300 : 500);
    EXPECT_EQ(one.rows[2].run, 3);
  }
  EXPECT_EQ(load_side("3", path).plan_text, "");
  EXPECT_TRUE(load_side("3", path).evaluations.empty());
}

TEST_F(Sides, of_several_machines_or_of_two_kinds_are_refused) {
  const std::string a = database("a.db", {});
  test::store_nights(a, {.nights = 1, .fingerprint = "class@other"});
  const std::string b = database("b.db", {});
  for (const bool is_first : {true, false}) {
    const Error error = error_of([&] {
      compare_sides(load_side(is_first ? a : b, ""), load_side(is_first ? b : a, ""), {});
    });
    EXPECT_THAT(error.line(), halmark::test::has_all({"its runs are of 2 machines", "a.db"}));
  }
  Side other = load_side(b, "");
  other.is_journal = false;
  expect_error([&] { compare_sides(load_side(b, ""), other, {}); },
               "one side is a results database and the other the JSON");
}

TEST_F(Sides, are_listed_by_urgency_and_then_by_ratio) {
  const auto side = [](const std::map<std::string, double>& ratios) {
    Side out{.title = "x", .fingerprints = {"machine"}};
    for (const auto& [name, ratio] : ratios) {
      Series one{.name = {.what = name}};
      for (int i = 0; i < 3; ++i) one.rows.push_back(test::row(1, i, ratio * (100 + 0.1 * i)));
      out.series.push_back(one);
    }
    return out;
  };
  Side before = side({{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}, {"e", 1}, {"f", 1}});
  const Side after = side({{"a", 1}, {"b", 1.2}, {"c", 0.7}, {"d", 1.5}, {"e", 0.8}, {"g", 1}});
  const Comparison c = compare_sides(before, after, {});
  std::string order;
  for (const SeriesChange& change : c.changes) order += change.name.what;
  EXPECT_EQ(order, "dbeca");
  EXPECT_EQ(c.only_before, std::vector<std::string>{"f"});
  EXPECT_EQ(c.only_after, std::vector<std::string>{"g"});
  EXPECT_EQ(c.count(Change::slower), 2);
  EXPECT_EQ(c.before.series.size(), 6u);
}

}  // namespace
}  // namespace halmark::history
