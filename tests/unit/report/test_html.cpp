#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>

#include "markup_check.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string& page() {
  static const std::string html = report_html(test::synthetic_report());
  return html;
}

TEST(html_report, is_well_formed) { EXPECT_EQ(test::read_markup(page()).error, ""); }

TEST(html_report, the_checker_of_these_tests_rejects_broken_markup) {
  EXPECT_NE(test::read_markup("<p><b></p></b>").error, "");
  EXPECT_NE(test::read_markup("<p>").error, "");
  EXPECT_NE(test::read_markup("<p class=x></p>").error, "");
  EXPECT_NE(test::read_markup("<p>a & b</p>").error, "");
  EXPECT_NE(test::read_markup("<p>a < b</p>").error, "");
}

TEST(html_report, loads_and_runs_nothing) {
  const std::set<std::string> active = {"script", "iframe", "object", "embed", "link",
                                        "img",    "base",   "form",   "video", "audio"};
  bool has_policy = false;
  for (const test::MarkupTag& tag : test::read_markup(page()).tags) {
    EXPECT_FALSE(active.contains(tag.name)) << tag.name;
    for (const auto& [name, value] : tag.attributes) {
      EXPECT_FALSE(name.starts_with("on")) << tag.name << ' ' << name;
      if (name == "href") {
        EXPECT_TRUE(value.starts_with("#")) << value;
      }
      has_policy = has_policy || (name == "content" && value.starts_with("default-src 'none'"));
    }
  }
  EXPECT_TRUE(has_policy);
  EXPECT_THAT(page(), Not(HasSubstr("http:")));
  EXPECT_THAT(page(), Not(HasSubstr("url(")));
}

TEST(html_report, hostile_names_are_shown_as_text) {
  EXPECT_THAT(page(), Not(HasSubstr("<script")));
  EXPECT_THAT(page(), HasSubstr("&lt;script&gt;alert(1)&lt;/script&gt;"));
  EXPECT_THAT(page(), HasSubstr("=cmd()"));
  for (const char c : page()) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte >= 0x20 || c == '\n') << static_cast<int>(byte);
  }
}

TEST(html_report, every_link_has_its_target) {
  std::set<std::string> ids;
  const test::Markup markup = test::read_markup(page());
  for (const test::MarkupTag& tag : markup.tags) {
    const auto id = tag.attributes.find("id");
    if (id != tag.attributes.end()) {
      EXPECT_TRUE(ids.insert(id->second).second) << id->second;
    }
  }
  for (const test::MarkupTag& tag : markup.tags) {
    const auto href = tag.attributes.find("href");
    if (href != tag.attributes.end()) {
      EXPECT_TRUE(ids.contains(href->second.substr(1))) << href->second;
    }
  }
}

TEST(html_report, has_a_breakdown_for_every_front_point) {
  const RunReport report = test::synthetic_report();
  ASSERT_EQ(report.front.size(), 6u);
  for (const FrontPoint& point : report.front) {
    EXPECT_THAT(page(), HasSubstr("id=\"point-" + std::to_string(point.evaluation) + '"'));
  }
}

TEST(html_report, coordinates_are_finite_numbers_inside_a_sane_range) {
  const std::set<std::string> numeric = {"x",  "y",  "x1", "x2",    "y1",    "y2",
                                         "cx", "cy", "r",  "width", "height"};
  int checked = 0;
  for (const test::MarkupTag& tag : test::read_markup(page()).tags) {
    for (const auto& [name, value] : tag.attributes) {
      if (!numeric.contains(name)) continue;
      double number = std::numeric_limits<double>::quiet_NaN();
      const auto end = std::from_chars(value.data(), value.data() + value.size(), number).ptr;
      EXPECT_EQ(end, value.data() + value.size()) << name << '=' << value;
      EXPECT_TRUE(number > -500 && number < 5000) << name << '=' << value;
      ++checked;
    }
  }
  EXPECT_GT(checked, 300);
}

TEST(html_report, says_nothing_about_not_a_number) {
  RunReport report = test::synthetic_report();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  report.evaluations[0].estimate->mfu = nan;
  report.evaluations[0].estimate->operators[0].ns = nan;
  report.evaluations[report.front[0].evaluation].estimate->high_ns = nan;
  report.kernels[0].duration_ns = nan;
  report.kernels[4].roofline_fraction = std::numeric_limits<double>::infinity();
  const std::string html = report_html(report);
  for (const char* text : {">nan", "\"nan", " nan", ">inf", "\"inf", " inf ", "-nan", "-inf"}) {
    EXPECT_THAT(html, Not(HasSubstr(text)));
  }
  EXPECT_EQ(test::read_markup(html).error, "");
}

TEST(html_report, an_empty_report_is_a_page_that_says_so) {
  const std::string html = report_html(RunReport{.title = "t", .model = "m"});
  EXPECT_EQ(test::read_markup(html).error, "");
  EXPECT_THAT(html, HasSubstr("nothing was evaluated"));
  EXPECT_THAT(html, HasSubstr("no kernel has a latency"));
  EXPECT_THAT(html, HasSubstr("UNDECIDED"));
}

TEST(html_report, a_suspect_front_is_labelled_in_words) {
  RunReport report = test::synthetic_report();
  EXPECT_THAT(report_html(report), Not(HasSubstr("suspect: some rows")));
  report.front[0].is_suspect = true;
  EXPECT_THAT(report_html(report), HasSubstr("suspect: some rows did not pass"));
  EXPECT_THAT(report_html(report), HasSubstr("(suspect)</text>"));
}

TEST(html_report, the_same_value_gives_the_same_bytes) {
  EXPECT_EQ(report_html(test::synthetic_report()), page());
}

TEST(html_report, a_large_study_stays_below_half_a_megabyte) {
  const RunReport report =
      test::synthetic_report({.batches = 14, .kernels = 495, .front_per_phase = 9});
  ASSERT_GE(report.evaluations.size(), 144u);
  ASSERT_GE(report.kernels.size(), 500u);
  EXPECT_LT(report_html(report).size(), 500'000u);
}

}  // namespace
}  // namespace halmark
