#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "core/ranges.hpp"
#include "report/report.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/report_text.hpp"
#include "report/text/table.hpp"
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

TEST(text_report, fits_into_the_columns_of_a_terminal_and_nothing_is_cut) {
  RunReport report = with_long_names();
  report.left_out.pop_back();  // of words that are longer than any line
  for (const int width : {80, 120, 200}) {
    const std::string text = report_text(report, false, width);
    std::istringstream lines(text);
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
      EXPECT_LE(report::display_width(line), width) << line;
      EXPECT_FALSE(line.ends_with('~')) << line;
      ++count;
    }
    EXPECT_GT(count, 20);
    EXPECT_THAT(text, HasSubstr("an_operator_with_quite_a_long_name (communication)"));
  }
}

TEST(text_report, begins_with_the_model_and_the_machine_a_line_each_and_an_empty_line) {
  RunReport report = test::synthetic_report();
  report.title = "t";
  report.model = "m";
  report.machine = {"a cpu", "a compiler"};
  EXPECT_THAT(report_text(report, false), testing::StartsWith("t: m\na cpu\na compiler\n\n"));
  EXPECT_THAT(report_text(report, false), Not(HasSubstr("\n\n\n")));
}

// "- " and ten words of ten columns take 111; a space and eight more fill the line to the last.
TEST(text_report, items_are_wrapped_between_words_at_the_last_column_and_indented) {
  std::string words;
  for (int i = 0; i < 10; ++i) words += (i > 0 ? " " : "") + std::string(10, 'w');
  const auto item = [](const std::string& text) {
    RunReport report{.title = "t", .model = "m", .left_out = {text}};
    const std::string out = report_text(report, false);
    const std::size_t begin = out.find("left out\n") + 9;
    return out.substr(begin, out.find("\nfound: ") - begin);
  };
  EXPECT_EQ(item(words + " 1234567"), "- " + words + " 1234567\n") << "119 columns";
  EXPECT_EQ(item(words + " 12345678"), "- " + words + " 12345678\n") << "120 columns";
  EXPECT_EQ(item(words + " 123456789"), "- " + words + "\n  123456789\n") << "121 columns";
  EXPECT_EQ(item(words + ' ' + words), "- " + words + "\n  " + words + '\n');
  EXPECT_EQ(item(std::string(118, 'x')), "- " + std::string(118, 'x') + '\n');
  EXPECT_EQ(item(std::string(119, 'x')), "- " + std::string(119, 'x') + '\n')
      << "a word is never cut";
  EXPECT_EQ(item("a  b"), "- a b\n");
}

// Its run is set against that, and not against the latency of a step in a stream.
TEST(text_report, says_how_long_a_pipeline_s_step_takes_when_it_stands_alone) {
  RunReport report = test::synthetic_report();
  EXPECT_THAT(report_text(report, false), Not(HasSubstr("isolated step")));
  report.evaluations[report.front.front().evaluation].estimate->alone = {54.1e6, 50e6, 60e6};
  EXPECT_THAT(report_text(report, false), HasSubstr(": isolated step, as it is run, 54.1 ms\n"));
  EXPECT_THAT(report_html(report), HasSubstr("of a stream; 54.1 ms alone, as it is run"));
}

TEST(text_report, says_of_every_front_point_in_doubt_how_likely_it_is) {
  RunReport report = test::synthetic_report();
  std::vector<std::size_t> front;
  for (const FrontPoint& point : report.front) front.push_back(point.evaluation);
  for (const FrontClass of_first : {FrontClass::certain, FrontClass::possible}) {
    for (std::size_t i = 0; i < front.size(); ++i) {
      report.evaluations[front[i]].standing =
          FrontStanding{i % 2 == 0 ? of_first : FrontClass::possible, 0.5};
    }
    const std::string text = report_text(report, false);
    std::size_t said = 0;
    for (std::size_t at = text.find("on the front with probability"); at != std::string::npos;
         at = text.find("on the front with probability", at + 1)) {
      ++said;
    }
    EXPECT_EQ(said, of_first == FrontClass::certain ? front.size() / 2 : front.size());
  }
  report.evaluations[front[0]].standing.reset();
  EXPECT_THAT(report_text(report, false), HasSubstr("on the front with probability"));
}

TEST(text_report, names_what_may_be_on_the_front_from_five_percent_on) {
  for (const double probability : {0.045, 0.05, 0.075}) {
    RunReport report = test::synthetic_report();
    std::size_t off_front = 0;
    while (contains(report.front, off_front, &FrontPoint::evaluation)) {
      ++off_front;
    }
    report.evaluations[off_front].standing = FrontStanding{FrontClass::possible, probability};
    const std::string text = report_text(report, false);
    EXPECT_EQ(text.find("may be on the front too") != std::string::npos, probability >= 0.05);
  }
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

TEST(markdown_report, escapes_what_would_break_a_table) {
  RunReport report = test::synthetic_report();
  report.evaluations[report.front[0].evaluation].estimate->bottleneck = "a|b `c` <b>";
  const std::string text = report_markdown(report);
  EXPECT_THAT(text, HasSubstr("a\\|b \\`c\\` &lt;b&gt;"));
  EXPECT_THAT(text, Not(HasSubstr("<b>")));
}

}  // namespace
}  // namespace halmark
