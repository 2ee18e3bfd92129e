// Where figures stand in tables, and what pages and pictures have beside their figures.
#include <gmock/gmock.h>

#include <cmath>

#include "core/json/json.hpp"
#include "history/runs.hpp"
#include "history/view/comparison_view.hpp"
#include "history/view/device_comparison_view.hpp"
#include "history/view/duets_view.hpp"
#include "history/view/history_view.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using halmark::test::has_all;
using halmark::test::HasValues;
using testing::HasSubstr;
using testing::Not;

Comparison compared() {
  Comparison c;
  c.before = {.title = "run 1", .runs = {1}, .fingerprints = {"machine"}};
  c.after = {.title = "run 2", .runs = {2}, .fingerprints = {"machine"}};
  SeriesChange slower{.name = {.what = "gemm", .plugin = "cpu"}, .change = Change::slower};
  slower.ratio = 1.1;
  slower.unit = Unit::runs;
  slower.units_before = slower.units_after = 2;
  c.changes = {slower};
  c.front_moves = {{.configuration = "b1"}};
  return c;
}

TEST(TableColumns, of_a_comparison_have_figures_on_the_right) {
  const std::string text = comparison_markdown(compared());
  EXPECT_THAT(text, has_all({"| verdict | time | interval | series | before | after | of | why |\n"
                             "| --- | ---: | ---: | --- | ---: | ---: | --- | --- |\n",
                             "| the front | configuration | before | after | moved by | kernel of "
                             "a step |\n| --- | --- | ---: | ---: | --- | ---: |\n",
                             "2 and 2 runs |"}));
}

// Two nights, the second 10 % slower.
NightReport night() {
  NightReport out{.fingerprint = "machine", .runs = {1, 2}, .last_started_utc = "today"};
  SeriesHistory s{.name = {.what = "gemm", .plugin = "cpu"}, .change = Change::slower};
  s.nights = {{.run = 1, .ns = 1000, .adjusted_ns = 1000},
              {.run = 2, .ns = 1100, .adjusted_ns = 1100}};
  s.changes = {{.at = 1, .before = std::log(1000.0), .after = std::log(1100.0), .is_agreed = true}};
  s.ratio = 1.1;
  s.interval = {1.08, 1.12};
  out.series = {s};
  return out;
}

TEST(TableColumns, of_nights_have_figures_on_the_right) {
  const std::string text = history_markdown(night());
  EXPECT_THAT(text, has_all({"| verdict | time | interval | series | now | nights | where or why "
                             "|\n| --- | ---: | ---: | --- | ---: | ---: | --- |\n",
                             "| time | series | changed | nights since |\n"
                             "| ---: | --- | --- | ---: |\n"}));
}

// A floor of exp(size) - 1 is the size itself.
TEST(TableColumns, of_changes_have_those_at_the_floor) {
  NightReport one = night();
  one.series[0].changes[0].before = 0;
  one.series[0].changes[0].after = std::log1p(0.5);
  one.rules.floor = 0.5;
  EXPECT_THAT(history_view(one).text, HasSubstr("both detectors see"));
  one.rules.floor = 0.51;
  EXPECT_THAT(history_view(one).text, Not(HasSubstr("both detectors see")));
}

TEST(HistoryDocument, has_every_figure_of_its_nights) {
  NightReport one = night();
  one.series[0].nights[0].bytes_per_s = 5e10;
  one.series[0].nights[0].processes = {1, 2, 3};
  one.series[0].duet = StoredDuet{.run = 2,
                                  .first_run = 2,
                                  .old_build = "a",
                                  .new_build = "b",
                                  .verdict = {.change = Change::slower, .ratio = 1.2, .pairs = 9}};
  one.series.push_back({.name = {.what = "lost"}, .reason = "few"});
  const Json data = history_view(one).data;
  const Json& first = data["series"][0];
  EXPECT_THAT(first, HasValues(R"({"/nights/0/processes": 3, "/nights/0/bytes_per_s": 5e10,
      "/changes/0/run": 2, "/duet/change": "SLOWER", "/duet/ratio": 1.2, "/duet/pairs": 9,
      "/nights/1/bytes_per_s": null})"));
  EXPECT_NEAR(first["changes"][0]["ratio"].get<double>(), 1.1, 1e-12);
  EXPECT_THAT(data, HasValues(R"({"/series/1/ratio_interval": null, "/series/1/duet": null,
      "/counts/SLOWER": 1, "/rules/nights_min": 5})"));
  const halmark::test::ScratchFolder folder;
  write_history(one, folder / "a.json");
  EXPECT_EQ(read_json_file(folder / "a.json")["counts"], data["counts"]);
  write_history(one, folder / "a.md");
  EXPECT_EQ(halmark::test::file_bytes(folder / "a.md"), history_markdown(one));
  write_history(one, folder / "a.html");
  EXPECT_EQ(halmark::test::file_bytes(folder / "a.html"), history_html(one));
}

TEST(ComparisonDocument, is_what_is_written) {
  const halmark::test::ScratchFolder folder;
  write_comparison(compared(), folder / "a.json");
  EXPECT_EQ(read_json_file(folder / "a.json"), comparison_view(compared()).data);
  write_comparison(compared(), folder / "a.md");
  EXPECT_EQ(halmark::test::file_bytes(folder / "a.md"), comparison_markdown(compared()));
  halmark::test::expect_error([&] { write_comparison(compared(), folder / "a.pdf"); }, "",
                              ExitCode::refused);
  EXPECT_FALSE(folder.names().contains("a.pdf"));
}

// A series without nights has its verdict alone; a twentieth of the memory is no following.
TEST(HistoryPage, leaves_out_what_there_is_not) {
  NightReport one = night();
  one.series[0].machine.memory_share = 0.05;
  one.series[0].reason = "why";
  one.series.push_back({.name = {.what = "lost"}, .reason = "few"});
  const std::string page = history_html(one);
  EXPECT_THAT(page, has_all({"<p>SLOWER +10.0 % (+8.0 % .. +12.0 %): why</p>", "<h3>lost</h3>",
                             "<p>WAITING: few</p>", "Machine machine, 2 runs.",
                             "<title>Halmark history, today</title>"}));
  EXPECT_EQ(page.find("<figure"), page.rfind("<figure"));
}

// One night is drawn at the left end; what one detector saw alone is no line.
TEST(HistoryPage, draws_a_single_night_and_agreed_changes_alone) {
  NightReport one = night();
  one.series[0].changes[0].is_agreed = false;
  EXPECT_THAT(history_html(one), Not(HasSubstr("class=\"bar\"")));
  one.series[0].changes.insert(one.series[0].changes.begin() + 1, one.series[0].changes[0]);
  one.series[0].changes[1].is_agreed = true;
  EXPECT_THAT(history_html(one), HasSubstr("class=\"bar\"")) << "behind one of one detector";
  one.series[0].nights.resize(1);
  one.series[0].changes.clear();
  const std::string page = history_html(one);
  EXPECT_THAT(page, HasSubstr("cx=\"80\""));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST(TableColumns, of_runs_have_counts_on_the_right) {
  const std::string text =
      runs_view({{.id = 7,
                  .info = {.command = "halmark bench", .started_utc = "2026-01-01T00:00:00Z"},
                  .rows = 3,
                  .failed = 2,
                  .invalid = 1,
                  .configurations = 1},
                 {.id = 12,
                  .info = {.command = "halmark tune", .started_utc = "2026"},
                  .rows = 12345,
                  .failed = 0,
                  .configurations = 4}})
          .text;
  EXPECT_EQ(text,
            "run  began                  rows  failed  invalid  configurations  command\n"
            "  7  2026-01-01T00:00:00Z      3       2        1               1  halmark bench\n"
            " 12  2026                  12345       0        0               4  halmark tune\n"
            "halmark compare RUN RUN compares two of them, or two dates\n");
}

TEST(TableColumns, of_duets_have_figures_on_the_right) {
  Duet slower{.kernel_case = test::measurement(1, 1, 0).kernel_case,
              .old_build = "a",
              .new_build = "b",
              .old_ns = 1000,
              .new_ns = 1.5e9};
  slower.log_ratios.assign(100, std::log(1.05));
  Duet lost = slower;
  lost.status = Status::crashed;
  lost.log_ratios.clear();
  const report::View view = duets_view({slower, lost}, 0.03);
  EXPECT_THAT(view.text, has_all({"change    ratio   interval (95 %)      old     new  pairs  ",
                                  "SLOWER   +5.0 %  +5.0 % .. +5.0 %  1.00 us  1.50 s    100  ",
                                  "INVALID                                                 0  "}));
  EXPECT_THAT(view.data, HasValues(R"({"/duets/1/p": null, "/duets/1/ratio_interval": null,
      "/duets/0/change": "SLOWER", "/floor": 0.03})"));
  Duet open = slower;
  open.log_ratios = {0.2, -0.2, 0.2, -0.2, 0.2};
  EXPECT_EQ(duets_exit({open}, 0.03), ExitCode::partial);
}

}  // namespace
}  // namespace halmark::history
