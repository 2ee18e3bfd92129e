// Completions and man pages, read by the shells and the formatter that they are for.
#include <algorithm>
#include <filesystem>
#include <sstream>

#include "tests/integration/halmark_fixture.hpp"

namespace halmark::integration {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;

bool is_installed(const std::string& program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (std::filesystem::exists(std::filesystem::path(folder) / program)) return true;
  }
  return false;
}

std::vector<std::string> words_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

class HelpPages : public HalmarkTest {
 protected:
  // What a real bash offers for the last of `words`.
  std::vector<std::string> offered(const std::string& words) const {
    const Outcome script = halmark({"completion", "bash"});
    EXPECT_EQ(script.exit_code, 0) << script.err;
    write("halmark.bash", script.out);
    Launch bash = base_;
    bash.arguments = {"/bin/bash", "-c",
                      "source ./halmark.bash; COMP_WORDS=(" + words +
                          "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _halmark; "
                          "printf '%s\\n' \"${COMPREPLY[@]}\""};
    const Outcome outcome = run(bash);
    EXPECT_EQ(outcome.err, "");
    return words_in(outcome.out);
  }
};

TEST_F(HelpPages, bash_offers_commands_options_and_the_words_of_a_closed_set) {
  EXPECT_THAT(offered("halmark tu"), testing::ElementsAre("tune"));
  EXPECT_THAT(offered("halmark ''"), IsSupersetOf({"bench", "model", "--json"}));
  EXPECT_THAT(offered("halmark tune --val"), testing::ElementsAre("--validate"));
  EXPECT_THAT(offered("halmark tune sweep.toml --quiet --lat"), testing::ElementsAre("--latency"));
  EXPECT_THAT(offered("halmark model --color ''"), testing::ElementsAre("auto", "always", "never"));
  EXPECT_THAT(offered("halmark --color al"), testing::ElementsAre("always"));
  EXPECT_THAT(offered("halmark tune ''"), Not(Contains("bench")));
}

TEST_F(HelpPages, bash_follows_commands_of_a_command) {
  EXPECT_THAT(offered("halmark study ''"), IsSupersetOf({"serve", "list"}));
  EXPECT_THAT(offered("halmark study serve --sam"), testing::ElementsAre("--sampler"));
}

TEST_F(HelpPages, every_shell_that_is_here_reads_its_completion) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    const Outcome script = halmark({"completion", shell});
    ASSERT_EQ(script.exit_code, 0) << script.err;
    EXPECT_THAT(script.out, HasSubstr("plan-size")) << shell;
    if (!is_installed(shell)) continue;
    write("script", script.out);
    Launch check = base_;
    check.arguments = {"/usr/bin/env", shell, "-n", "script"};
    const Outcome outcome = run(check);
    EXPECT_EQ(outcome.exit_code, 0) << shell << ": " << outcome.err;
  }
}

TEST_F(HelpPages, a_shell_that_nobody_knows_is_refused_with_the_nearest) {
  const Outcome outcome = halmark({"completion", "zhs"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_TRUE(is_one_line(outcome.err));
  EXPECT_THAT(outcome.err, HasSubstr("zsh"));
}

TEST_F(HelpPages, man_pages_of_all_commands_format_without_a_warning) {
  std::filesystem::create_directory(path("man1"));
  const Outcome written = halmark({"man", "man1"});
  ASSERT_EQ(written.exit_code, 0) << written.err;
  EXPECT_THAT(read("man1/halmark-tune.1"), HasSubstr("\\-\\-validate"));
  EXPECT_THAT(read("man1/halmark.1"), HasSubstr("EXIT STATUS"));
  std::size_t pages = 0;
  for (const auto& entry : std::filesystem::directory_iterator(path("man1"))) {
    ++pages;
    if (!is_installed("groff")) continue;
    Launch groff = base_;
    groff.arguments = {"/usr/bin/env",       "groff", "-man", "-Tutf8", "-ww", "-z",
                       entry.path().string()};
    const Outcome outcome = run(groff);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "") << entry.path();
  }
  EXPECT_GT(pages, 20u);
}

TEST_F(HelpPages, man_pages_without_a_folder_are_refused_in_one_line) {
  write("file", "no folder");
  const Outcome outcome = halmark({"man", "file/nowhere"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out;
  EXPECT_TRUE(is_one_line(outcome.err));
  EXPECT_THAT(outcome.err, HasSubstr("nowhere"));
  EXPECT_EQ(halmark({"man", "made/here"}).exit_code, 0);
  EXPECT_GT(read("made/here/halmark.1").size(), 100u);
}

}  // namespace
}  // namespace halmark::integration
