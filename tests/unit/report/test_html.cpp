#include <gmock/gmock.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <limits>
#include <memory>
#include <regex>
#include <set>

#include "core/json/json.hpp"
#include "markup_check.hpp"
#include "report/page/runs_page.hpp"
#include "report/text/clean_text.hpp"
#include "synthetic_report.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string& page() {
  static const std::string html = report_html(test::synthetic_report());
  return html;
}

TEST(html_report, is_well_formed) { EXPECT_EQ(test::read_markup(page()).error, ""); }

TEST(html_report, the_line_of_a_legend_lies_in_the_middle_of_its_box) {
  const std::regex sign(R"re(<svg class="key line" viewBox="0 0 (\d+) (\d+)"[^>]*><line [^>]*>)re");
  const auto number_of = [](const std::string& text, const char* name) {
    const std::size_t at = text.find(std::string(" ") + name + "=\"");
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + 5));
  };
  std::size_t count = 0;
  for (std::sregex_iterator it(page().begin(), page().end(), sign), end; it != end; ++it, ++count) {
    const std::string line = (*it)[0];
    EXPECT_EQ(number_of(line, "x1") + number_of(line, "x2"), std::stod((*it)[1])) << line;
    EXPECT_LT(number_of(line, "x1"), number_of(line, "x2")) << line;
    EXPECT_EQ(number_of(line, "y1"), std::stod((*it)[2]) / 2) << line;
    EXPECT_EQ(number_of(line, "y2"), std::stod((*it)[2]) / 2) << line;
  }
  EXPECT_GE(count, 2u);
}

TEST(html_report, the_checker_of_these_tests_rejects_broken_markup) {
  EXPECT_NE(test::read_markup("<p><b></p></b>").error, "");
  EXPECT_NE(test::read_markup("<p>").error, "");
  EXPECT_NE(test::read_markup("<p class=x></p>").error, "");
  EXPECT_NE(test::read_markup("<p>a & b</p>").error, "");
  EXPECT_NE(test::read_markup("<p>a < b</p>").error, "");
}

// The digest of the script that the policy names is computed by another program.
std::string base64_sha256(const std::string& text) {
  const test::ScratchFolder folder;
  std::ofstream(folder / "script", std::ios::binary) << text;
  const std::string command =
      "openssl dgst -sha256 -binary '" + (folder / "script") + "' | openssl base64 -A";
  std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  char line[100] = {};
  return pipe && fgets(line, sizeof line, pipe.get()) != nullptr ? line : "";
}

TEST(html_report, loads_nothing_and_runs_one_script_that_its_policy_names) {
  const std::set<std::string> active = {"iframe", "object", "embed", "link", "img",
                                        "base",   "form",   "video", "audio"};
  bool has_policy = false;
  const test::Markup markup = test::read_markup(page());
  EXPECT_EQ(std::ranges::count(markup.tags, "script", &test::MarkupTag::name), 1);
  EXPECT_THAT(markup.script, test::has_none({"<", "alert"}));
  if (const std::string digest = base64_sha256(markup.script); !digest.empty()) {
    EXPECT_THAT(page(), HasSubstr("script-src 'sha256-" + digest + "'\""));
  }
  for (const test::MarkupTag& tag : markup.tags) {
    EXPECT_FALSE(tag.name == "script" && !tag.attributes.empty());
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
  // A namespace is a name: nothing is asked for there.
  const std::string rest = std::regex_replace(page(), std::regex("http://www.w3.org/2000/svg"), "");
  EXPECT_THAT(rest, Not(HasSubstr("http:")));
  EXPECT_THAT(page(), Not(HasSubstr("url(")));
}

TEST(html_report, hostile_names_are_shown_as_text) {
  EXPECT_EQ(page().find("<script"), page().rfind("<script")) << "one, and it is the page's";
  EXPECT_THAT(page(), test::has_all({"&lt;script&gt;alert(1)&lt;/script&gt;", "=cmd()"}));
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

// Whatever became of it: also those that were refused.
TEST(html_report, every_evaluated_configuration_is_a_row_without_script) {
  const RunReport report = test::synthetic_report();
  const std::string body = page().substr(0, page().find("<script>"));
  std::size_t rows = 0;
  for (const char* table : {"id=\"rows-decode\"", "id=\"rows-prefill\""}) {
    const std::size_t begin = body.find(table), end = body.find("</table>", begin);
    ASSERT_NE(begin, std::string::npos);
    const std::string text = body.substr(begin, end - begin);
    for (std::size_t at = text.find("<tr class"); at != text.npos;
         at = text.find("<tr class", at + 1)) {
      ++rows;
    }
  }
  EXPECT_EQ(rows, report.evaluations.size());
  for (const Evaluation& e : report.evaluations) {
    if (has_latency(e.status)) continue;
    EXPECT_THAT(body, HasSubstr(report::html_text(e.reason)));
  }
}

TEST(html_report, every_heading_of_a_table_is_explained) {
  int headings = 0;
  for (const test::MarkupTag& tag : test::read_markup(page()).tags) {
    if (tag.name != "th") continue;
    EXPECT_TRUE(tag.attributes.contains("title"));
    ++headings;
  }
  EXPECT_GT(headings, 60);
}

TEST(html_report, runs_side_by_side_share_rows_by_their_configuration) {
  std::vector<NumberedReport> runs = {{3, test::synthetic_report()}, {7, test::synthetic_report()}};
  for (Evaluation& e : runs[1].report.evaluations) {
    if (e.estimate) e.estimate->step_ns *= 1.25;
  }
  runs[1].report.evaluations.pop_back();
  const std::string html = runs_html(runs);
  EXPECT_EQ(test::read_markup(html).error, "");
  const Json data = runs_json(runs);
  ASSERT_EQ(data["configurations"].size(), runs[0].report.evaluations.size());
  for (const Json& row : data["configurations"]) {
    if (row["change"].is_null()) continue;
    EXPECT_NEAR(row["change"].get<double>(), 0.25, 1e-12);
  }
  EXPECT_EQ(data["configurations"].back()["runs"][1]["is_evaluated"], false);
  for (const test::MarkupTag& tag : test::read_markup(html).tags) {
    EXPECT_TRUE(tag.name != "th" || tag.attributes.contains("title"));
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
  EXPECT_THAT(html,
              test::has_none({">nan", "\"nan", " nan", ">inf", "\"inf", " inf ", "-nan", "-inf"}));
  EXPECT_EQ(test::read_markup(html).error, "");
}

TEST(html_report, an_empty_report_is_a_page_that_says_so) {
  const std::string html = report_html(RunReport{.title = "t", .model = "m"});
  EXPECT_EQ(test::read_markup(html).error, "");
  EXPECT_THAT(html, test::has_all({"nothing was evaluated", "no kernel has a latency",
                                   "No configuration was run as a whole."}));
  // No run was asked for, so there is nothing to be undecided about.
  EXPECT_THAT(html, test::has_none({"composition error", "UNDECIDED"}));
}

TEST(html_report, a_suspect_front_is_labelled_in_words) {
  RunReport report = test::synthetic_report();
  EXPECT_THAT(report_html(report), Not(HasSubstr("suspect: some rows")));
  report.front[0].is_suspect = true;
  EXPECT_THAT(report_html(report),
              test::has_all({"suspect: some rows did not pass", "(suspect)</text>"}));
}

TEST(html_report, a_large_study_with_every_configuration_stays_below_six_hundred_kilobytes) {
  const RunReport report =
      test::synthetic_report({.batches = 14, .kernels = 495, .front_per_phase = 9});
  ASSERT_GE(report.evaluations.size(), 144u);
  ASSERT_GE(report.kernels.size(), 500u);
  EXPECT_LT(report_html(report).size(), 600'000u);
}

}  // namespace
}  // namespace halmark
