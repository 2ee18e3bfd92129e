#include <gmock/gmock.h>

#include <algorithm>
#include <array>

#include "history/view/comparison_view.hpp"
#include "history/view/history_view.hpp"
#include "stored.hpp"
#include "tests/unit/expect.hpp"

namespace halmark::history {
namespace {

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
