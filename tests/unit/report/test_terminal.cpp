// What reaches standard output and standard error, as a pipe and as a terminal of a known width.
#include "report/terminal/terminal.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <limits>
#include <map>
#include <thread>

#include "core/json/json.hpp"
#include "report/text/clean_text.hpp"
#include "report/text/wrapped_text.hpp"
#include "terminal_screen.hpp"
#include "tests/unit/expect.hpp"
#include "tests/unit/scratch_folder.hpp"

namespace halmark::report {
namespace {

using test::Redirected;
using test::Screen;
using testing::HasSubstr;
using testing::Not;

class Terminal : public testing::Test {
 protected:
  Terminal() {
    for (const char* name : {"COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "TERM"}) {
      const char* value = std::getenv(name);
      if (value != nullptr) kept_[name] = value;
      unsetenv(name);
    }
    setenv("TERM", "xterm", 1);
  }
  ~Terminal() override {
    for (const char* name : {"COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "TERM"}) unsetenv(name);
    for (const auto& [name, value] : kept_) setenv(name.c_str(), value.c_str(), 1);
  }

  // What `call` writes to `fd` where that is a file.
  template <class Call>
  std::string written(int fd, Call call) {
    const int file = open((folder_ / "out").c_str(), O_RDWR | O_CREAT | O_TRUNC, 0600);
    {
      const Redirected redirected(fd, file);
      call();
    }
    close(file);
    return test::file_bytes(folder_ / "out");
  }
  template <class Call>
  std::string drawn(unsigned short columns, Call call) {
    const Screen screen(columns);
    {
      const Redirected redirected(STDERR_FILENO, screen.fd());
      call();
    }
    return screen.text();
  }

  test::ScratchFolder folder_;
  std::map<std::string, std::string> kept_;
};

TEST_F(Terminal, steps_in_a_file_are_a_plain_line_each) {
  const std::string text = written(STDERR_FILENO, [] {
    Progress progress(ProgressMode::automatic, "tune");
    progress.step(1, 4, 0, "gemm", 65);
    progress.step(2, 4, 1, "a\x1b[2J", -1);
    progress.note("half");
    progress.finish();
  });
  EXPECT_EQ(text, "tune 1/4 failed 0 eta 1:05 gemm\ntune 2/4 failed 1 eta --:-- a?[2J\nhalf\n");
}

TEST_F(Terminal, seconds_are_rounded_and_told_in_minutes) {
  const auto eta = [&](double s) {
    const std::string text = written(
        STDERR_FILENO, [&] { Progress(ProgressMode::automatic, "t").step(1, 2, 0, "x", s); });
    return text.substr(19, text.size() - 19 - 3);
  };
  EXPECT_EQ(eta(0), "0:00");
  EXPECT_EQ(eta(0.4), "0:00");
  EXPECT_EQ(eta(59.4), "0:59");
  EXPECT_EQ(eta(59.6), "1:00");
  EXPECT_EQ(eta(600), "10:00");
  EXPECT_EQ(eta(7265), "121:05");
  EXPECT_EQ(eta(-0.1), "--:--");
  EXPECT_EQ(eta(std::numeric_limits<double>::infinity()), "--:--");
}

TEST_F(Terminal, steps_as_json_have_every_figure) {
  const std::string text = written(STDERR_FILENO, [] {
    Progress progress(ProgressMode::json, "tune");
    progress.step(3, 7, 2, "gemm", 1.5);
    progress.note("said to people alone");
    progress.step(4, 7, 2, "gemm", -1);
    progress.step(7, 7, 2, "gemm", 0);
  });
  std::vector<Json> events;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    events.push_back(parse_json(text.substr(at, text.find('\n', at) - at), "line"));
  }
  ASSERT_EQ(events.size(), 3u);
  EXPECT_THAT(events, test::HasValues(R"({"/0/event": "trial", "/0/title": "tune", "/0/done": 3,
      "/0/failed": 2, "/0/total": 7, "/0/eta_s": 1.5, "/0/subject": "gemm", "/2/eta_s": 0,
      "/1/eta_s": null})"));
  EXPECT_GE(events[0]["elapsed_s"].get<double>(), 0);
  EXPECT_LT(events[0]["elapsed_s"].get<double>(), 60);
}

TEST_F(Terminal, quiet_progress_says_nothing) {
  EXPECT_EQ(written(STDERR_FILENO,
                    [] {
                      Progress progress(ProgressMode::never, "tune");
                      progress.step(1, 2, 0, "x", 1);
                      progress.note("x");
                    }),
            "");
}

// 24 cells: 1 of 4 fills six of them.
TEST_F(Terminal, a_line_on_a_screen_has_a_bar_and_is_cleared_at_the_end) {
  const std::string text = drawn(200, [] {
    Progress progress(ProgressMode::automatic, "tune");
    progress.step(1, 4, 0, "gemm", 65);
  });
  std::string bar;
  for (int i = 0; i < 24; ++i) bar += i < 6 ? "█" : "░";
  EXPECT_THAT(text, testing::StartsWith("\r\033[Ktune " + bar + " 1/4  "));
  EXPECT_THAT(text, HasSubstr("/s  eta 1:05  gemm\r\033[K"));
  EXPECT_THAT(text, Not(HasSubstr("failed")));
  EXPECT_THAT(drawn(200, [] { Progress(ProgressMode::automatic, "t").step(0, 0, 3, "x", -1); }),
              HasSubstr("0/0  0.0/s  eta --:--  failed 3  x"));
}

// At most five times a second; the last step always.
TEST_F(Terminal, a_line_is_drawn_anew_when_its_time_has_come_or_all_is_done) {
  const auto drawings = [&](int wait_ms, std::size_t done) {
    const std::string text = drawn(200, [&] {
      Progress progress(ProgressMode::automatic, "t");
      progress.step(1, 9, 0, "first", 1);
      std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
      progress.step(done, 9, 0, "second", 1);
    });
    return text.find("second") != std::string::npos;
  };
  bool is_drawn_at_once = true;  // also where this process stands still for that long
  for (int i = 0; i < 5 && is_drawn_at_once; ++i) is_drawn_at_once = drawings(0, 2);
  EXPECT_FALSE(is_drawn_at_once);
  EXPECT_TRUE(drawings(205, 2));
  EXPECT_TRUE(drawings(0, 9));
}

TEST_F(Terminal, a_note_clears_the_line_and_stands_alone) {
  const std::string text = drawn(200, [] {
    Progress progress(ProgressMode::automatic, "t");
    progress.note("before");
    progress.step(1, 9, 0, "x", 1);
    progress.note("behind");
  });
  EXPECT_THAT(text, testing::StartsWith("before\n\r\033[Kt "));
  EXPECT_THAT(text, testing::EndsWith("\r\033[Kbehind\n")) << "and nothing is left to clear";
}

TEST_F(Terminal, a_line_leaves_the_last_column_free_and_cuts_no_character) {
  for (const int columns : {10, 12, 30, 60}) {
    const std::string text = drawn(static_cast<unsigned short>(columns), [] {
      Progress(ProgressMode::automatic, "t").step(1, 2, 0, std::string(90, 'x'), 1);
    });
    const std::string line = text.substr(4, text.find('\r', 4) - 4);
    EXPECT_LE(display_width(line), columns - 1) << line;
    EXPECT_GE(display_width(line), columns - 2) << line;
    EXPECT_EQ(clean_text(line), line) << "no half of a character";
  }
  const std::string unknown = drawn(
      0, [] { Progress(ProgressMode::automatic, "t").step(1, 2, 0, std::string(90, 'x'), 1); });
  EXPECT_EQ(display_width(unknown.substr(4, unknown.find('\r', 4) - 4)), 79)
      << "80 columns where nobody says";
}

TEST_F(Terminal, a_dumb_one_gets_plain_lines) {
  for (const char* term : {"dumb", ""}) {
    *term == '\0' ? unsetenv("TERM") : setenv("TERM", term, 1);
    EXPECT_EQ(drawn(80, [] { Progress(ProgressMode::automatic, "t").step(1, 2, 0, "x", 1); }),
              "t 1/2 failed 0 eta 0:01 x\n");
  }
}

TEST_F(Terminal, columns_are_those_that_are_said_within_reason_or_its_own) {
  const auto columns = [](unsigned short own, const char* said) {
    const Screen screen(own);
    const Redirected redirected(STDOUT_FILENO, screen.fd());
    said == nullptr ? unsetenv("COLUMNS") : setenv("COLUMNS", said, 1);
    return stdout_columns();
  };
  EXPECT_EQ(columns(132, nullptr), 132);
  EXPECT_EQ(columns(1, nullptr), 1);
  EXPECT_EQ(columns(0, nullptr), 80);
  EXPECT_EQ(columns(132, "100"), 100);
  EXPECT_EQ(columns(132, "20"), 20);
  EXPECT_EQ(columns(132, "19"), 132);
  EXPECT_EQ(columns(132, "10000"), 10000);
  EXPECT_EQ(columns(132, "10001"), 132);
  EXPECT_EQ(columns(132, "wide"), 132);
  int in_a_file = 0;
  setenv("COLUMNS", "100", 1);
  written(STDOUT_FILENO, [&] { in_a_file = stdout_columns(); });
  EXPECT_EQ(in_a_file, unlimited_width);
}

TEST_F(Terminal, colour_is_for_screens_unless_somebody_says_otherwise) {
  const auto wants = [](bool is_screen, const std::map<std::string, std::string>& said) {
    for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
    for (const auto& [name, value] : said) setenv(name.c_str(), value.c_str(), 1);
    const Screen screen(80);
    int ends[2];
    if (pipe(ends) != 0) return false;
    bool out = false;
    {
      const Redirected redirected(STDOUT_FILENO, is_screen ? screen.fd() : ends[1]);
      out = stdout_wants_color();
    }
    close(ends[0]);
    close(ends[1]);
    return out;
  };
  EXPECT_TRUE(wants(true, {}));
  EXPECT_FALSE(wants(false, {}));
  EXPECT_FALSE(wants(true, {{"TERM", "dumb"}}));
  EXPECT_FALSE(wants(true, {{"NO_COLOR", "1"}}));
  EXPECT_TRUE(wants(true, {{"NO_COLOR", ""}})) << "an empty one says nothing";
  EXPECT_TRUE(wants(false, {{"CLICOLOR_FORCE", "1"}}));
  EXPECT_FALSE(wants(false, {{"CLICOLOR_FORCE", "0"}}));
  EXPECT_FALSE(wants(false, {{"CLICOLOR_FORCE", ""}}));
  EXPECT_FALSE(wants(true, {{"CLICOLOR_FORCE", "1"}, {"NO_COLOR", "1"}}));
}

TEST_F(Terminal, texts_are_written_whole) {
  const std::string large(300'000, 'x');
  EXPECT_EQ(written(STDOUT_FILENO, [&] { write_stdout(large); }), large);
  EXPECT_EQ(written(STDERR_FILENO, [&] { write_stderr("a\n"); }), "a\n");
  EXPECT_EQ(written(STDOUT_FILENO, [&] { write_stdout(""); }), "");
}

// The last of these tests by its name: what is lost stays known to the end.
TEST_F(Terminal, what_is_lost_is_said_and_a_reader_that_left_is_no_loss) {
  const auto old = signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  close(ends[0]);
  {
    const Redirected redirected(STDOUT_FILENO, ends[1]);
    write_stdout("x");
  }
  close(ends[1]);
  signal(SIGPIPE, old);
  bool is_lost = true;
  EXPECT_EQ(written(STDERR_FILENO, [&] { is_lost = says_lost_output(); }), "");
  EXPECT_FALSE(is_lost);
  const int full = open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);
  {
    const Redirected redirected(STDOUT_FILENO, full);
    write_stdout("x");
  }
  close(full);
  written(STDOUT_FILENO, [] { write_stdout("later, and well"); });
  EXPECT_EQ(written(STDERR_FILENO, [&] { is_lost = says_lost_output(); }),
            "halmark: standard output cannot be written: No space left on device\n");
  EXPECT_TRUE(is_lost);
}

TEST_F(Terminal, words_with_a_password_hide_it_wherever_it_is_written) {
  hide_passwords_of("postgresql://user:hunter2@host/d");
  const std::string line = "at postgresql://user:hunter2@host/d";
  for (const std::string& text : {written(STDOUT_FILENO, [&] { write_stdout(line); }),
                                  written(STDERR_FILENO, [&] { write_stderr(line); })}) {
    EXPECT_THAT(text, HasSubstr("at postgresql://user"));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
  }
}

}  // namespace
}  // namespace halmark::report
