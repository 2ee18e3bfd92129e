#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "report/clean_text.hpp"
#include "report/report.hpp"
#include "report/table.hpp"
#include "synthetic_report.hpp"

namespace halmark {
namespace {

using testing::HasSubstr;
using testing::Not;

RunReport with_long_names() {
  RunReport report = test::synthetic_report();
  report.left_out.push_back(std::string(400, 'x') + ' ' + std::string(30, 'y'));
  for (Evaluation& e : report.evaluations) {
    if (e.estimate) e.estimate->bottleneck = "an_operator_with_quite_a_long_name (communication)";
  }
  return report;
}

TEST(text_report, fits_into_120_columns) {
  std::istringstream lines(report_text(with_long_names(), false));
  std::string line;
  int count = 0;
  while (std::getline(lines, line)) {
    EXPECT_LE(report::display_width(line), 120) << line;
    ++count;
  }
  EXPECT_GT(count, 20);
}

TEST(text_report, shows_every_front_point_with_its_figures) {
  const RunReport report = test::synthetic_report();
  const std::string text = report_text(report, false);
  EXPECT_THAT(text, HasSubstr("decode: 3 of 28 configurations on the front"));
  EXPECT_THAT(text, HasSubstr("prefill: 3 of 18 configurations on the front"));
  EXPECT_THAT(text, HasSubstr("MFU"));
  EXPECT_THAT(text, HasSubstr("gate_up_proj (me"));
  EXPECT_THAT(text, HasSubstr("measured"));
}

TEST(text_report, holds_no_control_character_without_color) {
  for (const char c : report_text(test::synthetic_report(), false)) {
    const auto byte = static_cast<unsigned char>(c);
    ASSERT_TRUE(byte >= 0x20 || c == '\n');
  }
}

TEST(text_report, color_only_repeats_the_words) {
  std::string colored = report_text(test::synthetic_report(), true);
  EXPECT_THAT(colored, HasSubstr("\x1b[1m"));
  for (const char* code : {"\x1b[1m", "\x1b[32m", "\x1b[33m", "\x1b[0m"}) {
    for (std::size_t at = colored.find(code); at != std::string::npos; at = colored.find(code)) {
      colored.erase(at, std::string(code).size());
    }
  }
  EXPECT_EQ(colored, report_text(test::synthetic_report(), false));
}

TEST(text_report, numbers_give_way_last) {
  report::Table table{.columns = {{"name", false}, {"value", true}},
                      .rows = {{{.text = std::string(60, 'n')}, {.text = "123456789012"}}}};
  const std::string text = report::table_text(table, 40);
  EXPECT_THAT(text, HasSubstr("123456789012"));
  EXPECT_THAT(text, HasSubstr("n~"));
}

TEST(markdown_report, escapes_what_would_break_a_table) {
  RunReport report = test::synthetic_report();
  report.evaluations[report.front[0].evaluation].estimate->bottleneck = "a|b `c` <b>";
  const std::string text = report_markdown(report);
  EXPECT_THAT(text, HasSubstr("a\\|b \\`c\\` &lt;b&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace halmark
