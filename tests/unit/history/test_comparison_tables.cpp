// Every cell of what people read of two sides, by hand.
#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "core/json/json.hpp"
#include "core/ranges.hpp"
#include "history/view/comparison_view.hpp"
#include "history/view/history_view.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::history {
namespace {

using halmark::test::has_all;
using halmark::test::has_lines;
using testing::HasSubstr;
using testing::Not;

SeriesChange change_of(Change change, const char* what, double ratio) {
  SeriesChange out{.name = {.what = what, .plugin = "cpu"}, .change = change};
  out.before_ns = 1000;
  out.after_ns = 1000 * ratio;
  out.ratio = ratio;
  out.interval = {ratio - 0.01, ratio + 0.02};
  out.p = 0.001;
  out.q = 0.002;
  out.units_before = 3;
  out.units_after = 4;
  return out;
}

Comparison compared() {
  Comparison c;
  c.before = {.title = "run 1", .runs = {1}, .builds = {"0.1 (aa)", "0.2 (bb)"}};
  c.after = {.title = "r.db", .runs = {2, 3}};
  c.before.fingerprints = c.after.fingerprints = {"machine"};
  c.changes = {change_of(Change::slower, "gemm m=1", 1.1), change_of(Change::same, "norm", 1.0)};
  c.changes.push_back({.name = {.what = "lost"}, .reason = "too few"});
  c.changes.push_back(change_of(Change::undecided, "step", 0.95));
  c.changes[3].unit = Unit::intervals;
  c.only_before = {"x"};
  c.only_after = {"y", "z"};
  return c;
}

TEST(ComparisonTable, has_a_row_for_all_that_is_not_the_same) {
  const std::string text = comparison_view(compared()).text;
  EXPECT_THAT(
      text, testing::StartsWith("1 SLOWER, 0 FASTER, 1 UNDECIDED, 1 INVALID, 1 SAME, 0 FAILED of 4 "
                                "series (floor 3.00 %, 1.00 % of the changes called may be "
                                "false)\nbefore: run 1; build 0.1 (aa), 0.2 (bb)\nafter:  "
                                "r.db, 2 runs\nverdict"));
  EXPECT_THAT(text, has_lines({"SLOWER +\\+10.0 % +\\+9.0 % .. \\+12.0 % +gemm m=1 +1.00 us "
                               "+1.10 us +3 and 4 processes\n",
                               "INVALID +- +- +lost +- +- +- +too few\n",
                               "UNDECIDED +-5.0 % .* step .* composed\n"}));
  EXPECT_THAT(text, Not(HasSubstr("norm")));
  EXPECT_THAT(text, testing::EndsWith("1 series are of the first side alone\n2 series are of the "
                                      "second side alone\n"));
  Comparison lone = compared();
  lone.changes.resize(1);
  EXPECT_THAT(comparison_view(lone).text,
              HasSubstr(" of 1 series: time +10.0 % (+9.0 % .. +12.0 %) (floor 3.00 %"));
}

TEST(ComparisonTable, as_a_document_has_null_for_what_is_invalid) {
  const Json data = comparison_view(compared()).data;
  EXPECT_THAT(data, halmark::test::HasValues(R"({"/changes/0/p": 0.001, "/changes/0/q": 0.002,
      "/changes/0/unit": "processes", "/counts/INVALID": 1, "/after/fingerprint": "machine",
      "/changes/2/p": null, "/changes/2/ratio_interval": null})"));
  EXPECT_EQ(data["before"]["builds"].size(), 2u);
}

TEST(ComparisonTable, tells_moves_of_the_front_with_the_kernel_that_moved_them) {
  Comparison c = compared();
  c.front_moves = {{.configuration = "b1",
                    .has_entered = true,
                    .is_certain = true,
                    .before_ns = 1000,
                    .after_ns = 900,
                    .moved_by = "b1",
                    .kernel = "gemm",
                    .kernel_before_ns = 500,
                    .kernel_after_ns = 400},
                   {.configuration = "b2",
                    .has_entered = false,
                    .moved_by = "b1",
                    .kernel = "gemm",
                    .kernel_before_ns = 500,
                    .kernel_after_ns = 400},
                   {.configuration = "b3", .has_entered = false, .is_certain = true}};
  const std::string text = comparison_view(c).text;
  EXPECT_THAT(text, HasSubstr("The front moved: 1 entered, 2 left\n"));
  EXPECT_THAT(text, has_lines({"entered +b1 +1.00 us +900 ns +itself: gemm +500 ns to 400 ns\n",
                               "left, within noise +b2 +- +- +b1: gemm +500 ns to 400 ns\n",
                               "left +b3 +- +- +- +-\n"}));
  EXPECT_EQ(comparison_view(c).data["front_moves"][1]["move"], "left");
  EXPECT_THAT(comparison_markdown(c), HasSubstr("\n### The front moved: 1 entered, 2 left\n\n|"));
}

// The largest first, by its logarithm: -10 % is more than +10 %.
TEST(ComparisonPicture, has_bars_of_what_was_called_or_else_of_all) {
  Comparison c = compared();
  EXPECT_THAT(comparison_markdown(c),
              has_all({"## Halmark: slower", "```mermaid\nxychart-beta horizontal\n",
                       "x-axis [\"gemm m=1\"]\n  y-axis \"%\"\n  bar [10.00]"}));
  c.changes.push_back(change_of(Change::faster, "a|b[c]", 0.9));
  EXPECT_THAT(comparison_markdown(c), HasSubstr("x-axis [\"a b c \", \"gemm m=1\"]\n  y-axis "
                                                "\"%\"\n  bar [-10.00, 10.00]"));
  for (SeriesChange& one : c.changes) {
    if (one.ratio) one.change = Change::same;
  }
  EXPECT_THAT(comparison_markdown(c),
              has_all({"bar [-10.00, 10.00, -5.00, 0.00]", "nothing is called slower"}));
  c.changes.assign(13, change_of(Change::slower, "g", 1.1));
  const std::string many = comparison_markdown(c);
  EXPECT_EQ(std::ranges::count(many.substr(many.find("bar ["), 200), ','), 11) << "twelve bars";
  c.changes.assign(1, {.name = {.what = "lost"}});
  EXPECT_THAT(comparison_markdown(c), Not(HasSubstr("mermaid")));
  c.changes[0] = change_of(Change::slower, "a name of more than 28 characters", 1.1);
  EXPECT_THAT(comparison_markdown(c), HasSubstr("x-axis [\"a name of more than 28 char \"]"));
}

// Over every set of verdicts: a gate fails on SLOWER and FAILED, and on nothing else.
TEST(Gate, exits_with_3_or_0_alone) {
  constexpr std::array all = {Change::same,    Change::faster,  Change::slower, Change::undecided,
                              Change::waiting, Change::invalid, Change::failed};
  for (unsigned set = 0; set < 1U << all.size(); ++set) {
    std::vector<Change> changes;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if ((set >> i & 1U) != 0) changes.push_back(all[i]);
    }
    const auto has = [&](Change change) { return contains(changes, change); };
    const bool is_bad = has(Change::slower) || has(Change::failed);
    const bool is_open = has(Change::undecided) || has(Change::invalid);
    const ExitCode of_gate = is_bad ? ExitCode::gate_failed : ExitCode::ok;
    EXPECT_EQ(verdict_exit(changes, true), of_gate) << set;
    EXPECT_EQ(verdict_exit(changes, false), is_open && !is_bad ? ExitCode::partial : of_gate)
        << set;
    Comparison comparison;
    NightReport night;
    for (const Change change : changes) {
      comparison.changes.push_back({.change = change});
      night.series.push_back({.change = change});
    }
    EXPECT_EQ(comparison_exit(comparison, true), of_gate) << set;
    EXPECT_EQ(history_exit(night, true), of_gate) << set;
  }
}

TEST(HistoryViews, the_page_has_a_picture_of_each_series_and_escapes_names) {
  NightReport night;
  night.series = {{.name = {.what = "<script>alert(1)</script>"}}};
  for (std::int64_t run = 1; run <= 3; ++run) {
    night.series[0].nights.push_back({.run = run, .ns = 1000, .adjusted_ns = 1000});
  }
  const std::string page = history_html(night);
  EXPECT_THAT(page, halmark::test::has_all({"<svg", "default-src 'none'", "&lt;script&gt;"}));
  EXPECT_THAT(page, halmark::test::has_none({"<script>", "nan"}));
}

}  // namespace
}  // namespace halmark::history
