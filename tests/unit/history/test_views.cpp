#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "history/view/comparison_view.hpp"
#include "history/view/history_view.hpp"
#include "stored.hpp"
#include "tests/unit/error_of.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::history {
namespace {

using testing::HasSubstr;
using testing::Not;

class HistoryViews : public testing::Test {
 protected:
  HistoryViews() {
    test::store_nights(path_, {.nights = 22, .step = 0.08, .step_at = 20});
    comparison_ = compare_sides(load_side("20", path_), load_side("21", path_), {});
    night_ = night_report(*open_store_read_only(path_), {}, {}, path_);
  }
  halmark::test::ScratchFolder folder_;
  std::string path_ = folder_ / "a.db";
  Comparison comparison_;
  NightReport night_;
};

TEST_F(HistoryViews, a_comparison_is_text_document_and_markdown_of_the_same_figures) {
  const report::View view = comparison_view(comparison_);
  EXPECT_EQ(view.data["counts"]["SLOWER"], 1);
  EXPECT_EQ(view.data["changes"][0]["change"], "SLOWER");
  EXPECT_NEAR(view.data["changes"][0]["ratio"].get<double>(), 1.08, 0.02);
  EXPECT_THAT(view.text, HasSubstr("SLOWER"));
  EXPECT_THAT(view.text,
              HasSubstr("1 SLOWER, 0 FASTER, 0 UNDECIDED, 0 INVALID, 1 SAME, 0 FAILED of 2"));
  const std::string markdown = comparison_markdown(comparison_);
  EXPECT_THAT(markdown, HasSubstr("## Halmark: slower"));
  EXPECT_THAT(markdown, HasSubstr("```mermaid\nxychart-beta horizontal\n"));
  EXPECT_EQ(comparison_exit(comparison_), ExitCode::gate_failed);
}

TEST_F(HistoryViews, the_exit_code_says_slower_before_undecided) {
  Comparison c = comparison_;
  c.changes[1].change = Change::undecided;
  EXPECT_EQ(comparison_exit(c), ExitCode::gate_failed);
  c.changes[0].change = Change::faster;
  EXPECT_EQ(comparison_exit(c), ExitCode::partial);
  c.changes[1].change = Change::same;
  EXPECT_EQ(comparison_exit(c), ExitCode::ok);
  EXPECT_THAT(comparison_markdown(c), HasSubstr("nothing is called slower"));
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
    const auto has = [&](Change change) {
      return std::ranges::find(changes, change) != changes.end();
    };
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

TEST_F(HistoryViews, a_history_has_its_nights_and_its_changes) {
  const report::View view = history_view(night_);
  const Json& series = view.data["series"][0];
  EXPECT_EQ(series["change"], "SLOWER");
  EXPECT_EQ(series["nights"].size(), 22u);
  EXPECT_EQ(series["changes"][0]["run"], 21);
  EXPECT_THAT(view.text, HasSubstr("run 20 to 21"));
  EXPECT_THAT(view.text, HasSubstr("changes that both detectors see"));
  EXPECT_EQ(history_exit(night_), ExitCode::gate_failed);
}

TEST_F(HistoryViews, the_page_has_a_picture_of_each_series_and_escapes_names) {
  night_.series[0].name.what = "<script>alert(1)</script>";
  const std::string page = history_html(night_);
  EXPECT_THAT(page, HasSubstr("<svg"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, Not(HasSubstr("nan")));
}

TEST_F(HistoryViews, files_follow_their_suffix_and_others_are_refused) {
  for (const char* name : {"a.json", "a.md"}) {
    write_comparison(comparison_, folder_ / name);
    EXPECT_FALSE(halmark::test::file_bytes(folder_ / name).empty());
  }
  for (const char* name : {"b.json", "b.md", "b.html"}) {
    write_history(night_, folder_ / name);
    EXPECT_FALSE(halmark::test::file_bytes(folder_ / name).empty());
  }
  const Error error =
      halmark::test::error_of([&] { write_comparison(comparison_, folder_ / "a.pdf"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  EXPECT_FALSE(folder_.names().contains("a.pdf"));
}

}  // namespace
}  // namespace halmark::history
