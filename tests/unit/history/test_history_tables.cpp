// Every cell of what people read of nights, duets and retired samples, by hand.
#include <gmock/gmock.h>

#include <cmath>

#include "history/retention.hpp"
#include "history/runs.hpp"
#include "history/view/duets_view.hpp"
#include "history/view/history_view.hpp"
#include "history/view/retention_view.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::expect_error;
using halmark::test::has_all;
using halmark::test::has_lines;
using halmark::test::HasValues;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

// Three nights of one build, then two of another 10 % slower.
NightReport night_of(Change change) {
  NightReport out{.fingerprint = "machine", .runs = {1, 2, 3, 4, 5}, .last_started_utc = "today"};
  SeriesHistory s{.name = {.what = "gemm m=1", .plugin = "cpu"}};
  for (std::int64_t run = 1; run <= 5; ++run) {
    const double ns = run > 3 ? 1100 : 1000;
    s.nights.push_back({.run = run,
                        .ns = ns,
                        .adjusted_ns = ns,
                        .processes = {1, 2},
                        .build = run > 3 ? "new" : "old"});
  }
  s.changes = {{.at = 3,
                .before = std::log(1000.0),
                .after = std::log(1100.0),
                .p = 0.001,
                .is_agreed = true}};
  s.change = change;
  s.ratio = 1.1;
  s.interval = {1.08, 1.12};
  if (change == Change::undecided) s.reason = "too wide";
  out.series = {s};
  return out;
}

TEST(HistoryTable, says_where_a_change_lies_and_what_else_changed_there) {
  NightReport night = night_of(Change::slower);
  std::string text = history_view(night).text;
  EXPECT_THAT(text, has_lines({"SLOWER +\\+10.0 % +\\+8.0 % .. \\+12.0 % +gemm m=1 +1.10 us +5 "
                               "+run 3 to 4, build old to new\n",
                               "changes that both detectors see\n +time .*\n\\+10.0 % +gemm m=1 "
                               "+run 3 to 4, build old to new +2\n"}));
  EXPECT_THAT(text, HasSubstr("1 SLOWER, 0 FASTER, 0 UNDECIDED, 0 SAME, 0 WAITING, 0 INVALID, 0 "
                              "FAILED of 1 series over 5 runs up to today (floor 3.00 %)\n"));
  for (Night& n : night.series[0].nights) n.build = "old";
  night.series[0].is_of_one_build = true;
  text = history_view(night).text;
  EXPECT_THAT(text, HasSubstr("run 3 to 4, the plugin is the same: the machine, a library or "
                              "halmark changed\n"));
  night.series[0].duet = StoredDuet{.run = 5, .first_run = 5, .old_build = "a", .new_build = "b"};
  EXPECT_THAT(history_view(night).text, HasSubstr("  run 5: build a to b interleaved\n"));
  EXPECT_EQ(history_view(night).data["series"][0]["duet"]["run"], 5);
  EXPECT_THAT(history_view(night_of(Change::undecided)).text, HasSubstr("  too wide\n"));
  EXPECT_THAT(history_view(night_of(Change::faster)).text, HasSubstr("FASTER"));
}

TEST(HistoryTable, leaves_out_changes_below_the_floor_or_of_one_detector) {
  NightReport night = night_of(Change::same);
  EXPECT_THAT(history_view(night).text, testing::StartsWith("changes that both detectors see\n"));
  night.rules.floor = 0.11;
  EXPECT_THAT(history_view(night).text, testing::StartsWith("0 SLOWER"));
  night.rules.floor = 0.09;
  night.series[0].changes[0].is_agreed = false;
  EXPECT_THAT(history_view(night).text, testing::StartsWith("0 SLOWER"));
  EXPECT_EQ(history_view(night).data["series"][0]["changes"].size(), 1u) << "the document has all";
}

TEST(HistoryTable, of_the_first_nights_says_what_is_missing) {
  NightReport night = night_of(Change::waiting);
  night.series[0].ratio.reset();
  night.series[0].changes.clear();
  EXPECT_THAT(
      history_view(night).text,
      testing::StartsWith("1 series over 5 runs up to today; no verdict yet: a series needs "
                          "6 nights with sound rows, the longest has 5\n"));
  night.runs = {1};
  EXPECT_THAT(history_view(night).text, HasSubstr("over 1 run up"));
  EXPECT_THAT(history_view(night).text, Not(HasSubstr("WAITING with fewer")));
  EXPECT_EQ(history_view(night).data["counts"]["WAITING"], 1);
  EXPECT_EQ(history_exit(night), ExitCode::ok) << "nothing is wrong yet";
  night.series.push_back(night_of(Change::same).series[0]);
  const std::string mixed = history_view(night).text;
  EXPECT_THAT(mixed, HasSubstr("1 WAITING with fewer than 6 nights with sound rows\n"));
  EXPECT_THAT(mixed, Not(HasSubstr("no verdict yet")));
  EXPECT_THAT(history_markdown(night), HasSubstr("\n1 WAITING with fewer than 6 nights"));
  night.series[0].nights.clear();
  night.series[0].change = Change::invalid;
  EXPECT_THAT(history_view(night).text, ContainsRegex("INVALID +- +- +gemm m=1 +- +0"));
}

// A series with enough nights that has no verdict on tonight is named, in each view.
TEST(HistoryTable, names_what_was_not_measured_tonight) {
  NightReport night = night_of(Change::waiting);
  night.rules.nights_min = 3;
  night.series[0].ratio.reset();
  night.series[0].reason = "not measured tonight, last in run 4";
  const std::string row = "gemm m=1 +1.10 us +5 +not measured tonight, last in run 4";
  EXPECT_THAT(history_view(night).text, ContainsRegex("WAITING +- +- +" + row));
  EXPECT_THAT(history_view(night).text, Not(HasSubstr("WAITING with")));
  EXPECT_THAT(history_markdown(night), HasSubstr("| WAITING | - |"));
  EXPECT_THAT(history_html(night),
              HasSubstr("<p>WAITING: not measured tonight, last in run 4</p>"));
  EXPECT_EQ(history_view(night).data["series"][0]["change"], "WAITING");
  EXPECT_TRUE(history_view(night).data["series"][0]["ratio_interval"].is_null());
}

TEST(HistoryTable, as_markdown_has_both_tables_and_its_verdict) {
  EXPECT_THAT(history_markdown(night_of(Change::slower)),
              testing::AllOf(testing::StartsWith("## Halmark: slower\n\n1 SLOWER"),
                             HasSubstr("| SLOWER | +10.0 % |"),
                             HasSubstr("\n### Changes that both detectors see\n\n| time |")));
  EXPECT_THAT(history_markdown(night_of(Change::same)),
              testing::StartsWith("## Halmark: nothing is called slower\n\n"));
  EXPECT_EQ(history_exit(night_of(Change::same)), ExitCode::ok);
  const halmark::test::ScratchFolder folder;
  expect_error([&] { write_history(night_of(Change::same), folder / "a.csv"); },
               "unknown format of a history");
}

TEST(HistoryPage, has_nights_changes_and_the_speed_of_the_memory) {
  NightReport night = night_of(Change::slower);
  night.series[0].nights[1].ns = 1100;
  night.series[0].nights[1].bytes_per_s = 2e10;
  night.series[0].machine.memory_share = 0.06;
  const std::string page = history_html(night);
  EXPECT_THAT(
      page,
      has_all({"<span class=\"badge bad\">1 SLOWER, 0 FASTER, 0 UNDECIDED, 0 SAME, 0 WAITING, "
               "0 INVALID, 0 FAILED of 1</span>",
               "SLOWER +10.0 % (+8.0 % .. +12.0 %); follows the memory",
               "run 2: 1.10 us, 2 processes, build old, memory at 20.0 GB/s", ">run 1<", ">run 5<",
               ">+10.0 %<"}));
  const auto count = [&](const std::string& what) {
    int out = 0;
    for (std::size_t at = page.find(what); at != page.npos; at = page.find(what, at + 1)) ++out;
    return out;
  };
  EXPECT_EQ(count("class=\"m k0\""), 5) << "a filled mark for each night";
  EXPECT_EQ(count("class=\"h k0\""), 1) << "where the speed made a difference";
  EXPECT_EQ(count("class=\"roof\""), 2) << "the level before and behind the change";
  EXPECT_EQ(count("class=\"bar\""), 1);
  night.series[0].machine.memory_share = 0.048;
  night.series.resize(201, night.series[0]);
  EXPECT_THAT(history_html(night), HasSubstr("1 further series, the calmest, are in the JSON"));
  EXPECT_THAT(history_html(night), Not(HasSubstr("follows the memory")));
  night.series.resize(200);
  EXPECT_THAT(history_html(night), Not(HasSubstr("further series")));
  EXPECT_THAT(history_html(night_of(Change::same)), HasSubstr("badge ok\">0 SLOWER"));
}

Duet duet_of(std::int64_t m, double log_ratio) {
  Duet out{.kernel_case = test::measurement(m, 1, 0).kernel_case,
           .old_build = "a",
           .new_build = "b",
           .old_ns = 1000,
           .new_ns = 1050};
  out.log_ratios.assign(10, log_ratio);
  return out;
}

TEST(DuetsTable, has_the_worst_first_and_says_what_is_open) {
  Duet failed = duet_of(3, 0);
  failed.status = Status::crashed;
  failed.reason = "gone";
  const std::vector<Duet> duets = {duet_of(1, 0), duet_of(2, std::log(1.05)), failed,
                                   duet_of(4, std::log(1.08))};
  const report::View view = duets_view(duets, 0.03);
  EXPECT_THAT(view.text, has_lines({"SLOWER +\\+8.0 % .* 1.00 us +1.05 us +10 +gemm .*m=4",
                                    "m=3 .*: crashed: gone\n"}));
  EXPECT_LT(view.text.find("m=4"), view.text.find("m=2"));
  EXPECT_LT(view.text.find("m=2"), view.text.find("INVALID"));
  EXPECT_LT(view.text.find("INVALID"), view.text.find("SAME"));
  EXPECT_THAT(view.text,
              testing::EndsWith("build a (old) and b (new), interleaved on the same inputs\n"));
  EXPECT_TRUE(view.data["duets"][2]["ratio"].is_null());
  EXPECT_NEAR(view.data["duets"][0]["ratio"].get<double>(), 1.08, 1e-9);
  EXPECT_THAT(duets_view({}, 0.03).text, Not(HasSubstr("interleaved")));
  EXPECT_EQ(duets_exit(duets, 0.03), ExitCode::gate_failed);
  EXPECT_EQ(duets_exit(duets, 0.03, true), ExitCode::gate_failed);
  EXPECT_EQ(duets_exit({failed, duet_of(1, 0)}, 0.03), ExitCode::partial);
  EXPECT_EQ(duets_exit({failed, duet_of(1, 0)}, 0.03, true), ExitCode::ok);
  EXPECT_EQ(duets_exit({duet_of(1, 0), duet_of(1, -0.1)}, 0.03), ExitCode::ok);
  failed.is_new_at_fault = true;
  EXPECT_EQ(duets_exit({failed, duet_of(1, 0)}, 0.03, true), ExitCode::gate_failed);
  EXPECT_THAT(duets_view({failed}, 0.03).text, HasSubstr("FAILED"));
  EXPECT_TRUE(duets_view({failed}, 0.03).data["duets"][0]["ratio"].is_null());
}

TEST(FalseAlarmsText, counts_what_was_called_and_what_a_duet_confirmed) {
  FalseAlarms alarms{.comparisons = 200, .confirmed = 1};
  alarms.called.resize(3);
  const report::View view = false_alarms_view(alarms, 0.03);
  // Of 1 in 200 one-sided: 2.35 %, by Clopper and Pearson.
  EXPECT_EQ(view.text,
            "\na build against itself: 3 of 200 comparisons called a change of 3.00 % or "
            "more, interleaved pairs confirmed 1: 0.50 % false alarms (95 % below 2.35 %)\n");
  EXPECT_EQ(view.data["chain"]["called"], 3);
  EXPECT_EQ(FalseAlarms{}.share(), 0);
}

TEST(RetentionText, tells_what_went_what_a_row_takes_and_the_file) {
  Retention r{.policy = {.text = "--keep-runs 1"}};
  r.samples = {.runs = {{1, 2, 3000}, {2, 3, 2000}},
               .before = {10, 20000, 1000},
               .after = {12, 15000, 4000},
               .rows_with_samples = 8,
               .sample_bytes = 8000};
  report::View view = retention_view(r);
  // (20000 - 8000) / 10 rows, 8000 / 8 rows with samples.
  EXPECT_EQ(view.text,
            "--keep-runs 1: samples of 5 rows in 2 runs retired, 4.88 KiB\na row takes "
            "1200 bytes, its raw samples 1000 where they are kept\nthe file has 18.6 "
            "KiB, 3.91 KiB of them free for later rows; it had 20.5 KiB\n");
  EXPECT_THAT(view.data, HasValues(R"({"/bytes": 5000, "/file_bytes_before": 21000,
      "/file_bytes": 19000, "/bytes_per_row": 1200})"));
  r.is_dry_run = true;
  r.note = "no space";
  r.samples.rows_with_samples = 0;
  view = retention_view(r);
  EXPECT_THAT(view.text, has_all({"runs would be retired, ",
                                  "a row takes 1200 bytes; no raw samples are left that can go"}));
  EXPECT_THAT(view.text, Not(HasSubstr("the file has")));
  EXPECT_THAT(view.text, testing::EndsWith("no space\n"));
  r.samples.before.rows = 0;
  EXPECT_THAT(retention_view(r).text, Not(HasSubstr("a row takes")));
}

TEST(Runs, are_listed_with_their_rows_and_applied_retention_goes_by_policy) {
  const halmark::test::ScratchFolder folder;
  const std::string path = folder / "a.db";
  test::store_nights(path, {.nights = 3});
  {
    const auto store = open_store(path);
    Measurement failed = test::measurement(1, 1, 0);
    failed.status = Status::crashed;
    store->append(3, failed);
    failed.status = Status::invalid;  // noise is a row, and no failure
    store->append(3, failed);
    failed.status = Status::unsupported;
    store->append(3, failed);
  }
  const std::vector<ListedRun> runs = list_runs(*open_store_read_only(path), 2, path);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_EQ(runs[1].id, 3);
  EXPECT_EQ(runs[1].rows, 9u);
  EXPECT_EQ(runs[1].failed, 1u);
  EXPECT_EQ(runs[1].invalid, 1u);
  const report::View view = runs_view(runs);
  EXPECT_THAT(view.text, ContainsRegex("3  2026-01-03T02:00:00Z +9 +1 +1 +0  halmark bench\n"));
  EXPECT_THAT(view.data, HasValues(R"({"/runs/0/run": 2, "/runs/1/failed": 1,
      "/runs/1/invalid": 1})"));
  EXPECT_TRUE(apply_retention(path, {.keep_runs = 3}, false).samples.runs.empty());
  EXPECT_EQ(apply_retention(path, {.keep_runs = 1}, true).samples.runs.size(), 2u);
  EXPECT_EQ(open_store_read_only(path)->samples_by_run().size(), 3u) << "a dry run";
  EXPECT_EQ(apply_retention(path, {.keep_runs = 1, .text = "x"}, false).samples.runs.size(), 2u);
  EXPECT_EQ(open_store_read_only(path)->samples_by_run().size(), 1u);
  { open_store(folder / "b.db"); }
  expect_error([&] { list_runs(*open_store_read_only(folder / "b.db"), 5, "b.db"); },
               "the database has no run");
}

// Nights at 80 to 1070, 247.5 apart; times from 1000 / 1.05 at 120 to 1100 x 1.05 at 12, by
// logarithm.
TEST(HistoryPicture, has_its_marks_where_nights_and_times_are) {
  NightReport night = night_of(Change::slower);
  const std::string page = history_html(night);
  EXPECT_THAT(page, has_all({
                        "viewBox=\"0 0 1100 150\"",
                        "<line class=\"grid\" x1=\"70\" y1=\"120\" x2=\"1080\" y2=\"120\"/>",
                        "<line class=\"grid\" x1=\"70\" y1=\"66\" x2=\"1080\" y2=\"66\"/>",
                        "x=\"64\" y=\"70\" text-anchor=\"end\">1.05 us<",
                        "<line class=\"roof\" x1=\"80\" y1=\"92.7\" x2=\"575\" y2=\"92.7\"/>",
                        "<line class=\"roof\" x1=\"822.5\" y1=\"39.3\" x2=\"1070\" y2=\"39.3\"/>",
                        "<line class=\"bar\" x1=\"698.8\" y1=\"12\" x2=\"698.8\" y2=\"120\"/>",
                        "x=\"702.8\" y=\"22\">+10.0 %<",
                        "cx=\"327.5\" cy=\"92.7\" r=\"3.5\"",
                        "x=\"80\" y=\"140\">run 1<",
                        "x=\"1070\" y=\"140\" text-anchor=\"end\">run 5<",
                    }));
  night.series[0].nights[1].ns = 1004;
  EXPECT_THAT(history_html(night), Not(HasSubstr("class=\"h k0\""))) << "half a percent is nothing";
  night.series[0].nights[1].ns = 1006;
  EXPECT_THAT(history_html(night), HasSubstr("class=\"h k0\""));
}

}  // namespace
}  // namespace halmark::history
