// What reaches a pipe and a terminal.
#include <algorithm>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"
#include "tests/unit/case_name.hpp"

namespace halmark::integration {
namespace {

using testing::HasSubstr;

class Terminal : public HalmarkTest {
 protected:
  Terminal() { tiny_sweep("fake", "shards = [1]"); }
  Launch tune(Arguments more = {}) const {
    Arguments arguments = {"tune", "tiny.toml", "--db", "r.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return launch(arguments);
  }
  Outcome undisturbed_run(const Launch& launch) const {
    return undisturbed([&] { return run(launch); });
  }
};

// Columns of UTF-8 text whose characters are all one column wide, as the bar's are.
int columns_of(const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// What stands on the progress line between one clearing of it and the next.
std::vector<std::string> drawings(const std::string& text) {
  const std::string clear = "\r\033[K";
  std::vector<std::string> out;
  for (std::size_t at = text.find(clear); at != std::string::npos; at = text.find(clear, at)) {
    at += clear.size();
    out.push_back(text.substr(at, text.find_first_of("\r\n\033", at) - at));
  }
  return out;
}

TEST_F(Terminal, progress_in_a_pipe_is_plain_lines) {
  const Outcome o = undisturbed_run(tune());
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.err, HasSubstr("tune 50/50 failed 0"));
  for (const char c : o.err + o.out) {
    EXPECT_TRUE(c == '\n' || static_cast<unsigned char>(c) >= 0x20) << static_cast<int>(c);
  }
}

TEST_F(Terminal, quiet_says_nothing_beside_the_result) {
  const Outcome o = undisturbed_run(tune({"--quiet"}));
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(o.err, "");
  EXPECT_THAT(o.out, HasSubstr("on the front"));
}

TEST_F(Terminal, json_progress_is_one_object_per_line) {
  const Outcome o = undisturbed_run(tune({"--json", "--progress=json"}));
  ASSERT_EQ(o.exit_code, 0) << o.err;
  std::istringstream lines(o.err);
  std::int64_t done = 0, count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const Json event = parse_json(line, "stderr");
    EXPECT_EQ(event["event"], "trial");
    EXPECT_EQ(event["total"], 50);
    EXPECT_GT(event["done"].get<std::int64_t>(), done);
    done = event["done"];
  }
  EXPECT_EQ(done, 50);
  EXPECT_EQ(count, 50);
}

class Width : public Terminal, public testing::WithParamInterface<int> {};

TEST_P(Width, the_progress_line_never_overflows) {
  Launch launch = tune();
  launch.terminal_columns = GetParam();
  const Outcome o = undisturbed_run(launch);
  ASSERT_EQ(o.exit_code, 0) << o.err;
  const std::vector<std::string> drawn = drawings(o.err);
  ASSERT_GT(drawn.size(), 1u) << o.err;
  EXPECT_THAT(drawn.front(), HasSubstr("tune "));
  for (const std::string& line : drawn) EXPECT_LT(columns_of(line), GetParam()) << line;
  EXPECT_EQ(drawn.back(), "") << "the line is cleared at the end";
}

INSTANTIATE_TEST_SUITE_P(Columns, Width, testing::Values(20, 40, 80, 200), [](const auto& info) {
  return test::case_name({"columns", info.param});
});

// No table of six columns fits into less than 80.
class PageWidth : public Terminal, public testing::WithParamInterface<int> {};

TEST_P(PageWidth, the_page_of_a_model_fits) {
  Launch launch = this->launch({"model", "deepseek-v3", "--device", "h100-sxm", "--tp", "8"});
  launch.stdout_columns = GetParam();
  launch.environment["COLUMNS"] = "";
  const Outcome o = run(launch);
  ASSERT_EQ(o.exit_code, 0) << o.err;
  EXPECT_THAT(o.out, HasSubstr("expert_gate_up"));
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with('\r')) line.pop_back();
    EXPECT_LE(columns_of(line), GetParam()) << line;
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, PageWidth, testing::Values(80, 120, 200), [](const auto& info) {
  return test::case_name({"columns", info.param});
});

TEST_F(Terminal, columns_said_by_the_environment_count_on_a_terminal_alone) {
  Launch launch = this->launch({"explain"});
  launch.environment["COLUMNS"] = "40";
  const Outcome piped = run(launch);
  EXPECT_THAT(piped.out, HasSubstr("against the best that was ever seen on this machine"));
  launch.stdout_columns = 200;
  std::istringstream lines(run(launch).out);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(columns_of(line), 41) << line;
}

TEST_F(Terminal, a_dumb_terminal_gets_plain_lines) {
  Launch launch = tune();
  launch.terminal_columns = 80;
  launch.environment["TERM"] = "dumb";
  const Outcome o = undisturbed_run(launch);
  EXPECT_EQ(o.exit_code, 0);
  EXPECT_EQ(o.err.find('\033'), std::string::npos);
}

TEST_F(Terminal, a_reader_that_leaves_early_ends_nothing_but_the_printing) {
  Launch launch = tune();
  launch.closes_stdout = true;
  const Outcome o = undisturbed_run(launch);
  EXPECT_EQ(o.signal, 0);
  EXPECT_EQ(o.exit_code, 0) << o.err;
  // The run itself is complete.
  EXPECT_EQ(sql_count(path("r.db"), "SELECT count(*) FROM entry WHERE kind = 'evaluation'"), 2);
  for (const Arguments& arguments :
       {Arguments{"model", "qwen3-0.6b"}, Arguments{"devices", "--known"}}) {
    Launch other = this->launch(arguments);
    other.closes_stdout = true;
    const Outcome end = run(other);
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(end.err, "");
  }
}

TEST_F(Terminal, colour_follows_the_option_before_the_environment) {
  ASSERT_EQ(undisturbed_run(tune()).exit_code, 0);
  const auto has_colour = [&](const Arguments& more, const char* variable, const char* value) {
    Arguments arguments = {"report", "--db", "r.db"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Launch report = launch(arguments);
    if (variable != nullptr) report.environment[variable] = value;
    return run(report).out.find('\033') != std::string::npos;
  };
  EXPECT_FALSE(has_colour({}, nullptr, nullptr));
  EXPECT_TRUE(has_colour({"--color=always"}, "NO_COLOR", "1"));
  EXPECT_TRUE(has_colour({}, "CLICOLOR_FORCE", "1"));
  EXPECT_FALSE(has_colour({"--color=never"}, "CLICOLOR_FORCE", "1"));
}

}  // namespace
}  // namespace halmark::integration
