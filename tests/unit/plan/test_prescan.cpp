#include <gtest/gtest.h>

#include "plan/toml/toml_table.hpp"
#include "tests/unit/error_of.hpp"

namespace halmark {
namespace {

using test::error_of;

// "a.a.a" with `dots` dots.
std::string dotted(int dots) {
  std::string out = "a";
  for (int i = 0; i < dots; ++i) out += ".a";
  return out;
}

std::string brackets(int levels) {
  const auto n = static_cast<std::size_t>(levels);
  return "a = " + std::string(n, '[') + std::string(n, ']') + '\n';
}

std::string refusal(const std::string& text) {
  const Error error = error_of([&] { prescan_toml(text, "f.toml"); });
  EXPECT_EQ(error.exit_code(), ExitCode::refused);
  return error.line();
}

TEST(Prescan, sixty_four_dots_in_a_key_pass_and_sixty_five_do_not) {
  EXPECT_NO_THROW(prescan_toml(dotted(64) + " = 1\n", "f.toml"));
  EXPECT_EQ(refusal("x = 1\n" + dotted(65) + " = 1\n"),
            "f.toml:2:130: more than 64 dots in one key");
}

TEST(Prescan, sixty_four_dots_in_a_header_pass_and_sixty_five_do_not) {
  EXPECT_NO_THROW(prescan_toml("[" + dotted(64) + "]\n[[" + dotted(64) + "]]\n", "f.toml"));
  EXPECT_NE(refusal("[" + dotted(65) + "]\n").find("more than 64 dots"), std::string::npos);
  EXPECT_NE(refusal("[[" + dotted(65) + "]]\n").find("more than 64 dots"), std::string::npos);
}

TEST(Prescan, dots_are_counted_per_key) {
  std::string text = "a = { ";
  for (int i = 0; i < 100; ++i) text += (i > 0 ? ", k" : "k") + std::to_string(i) + ".b.c = 1.5";
  EXPECT_NO_THROW(prescan_toml(text + " }\n", "f.toml"));
  EXPECT_NE(refusal("a = { x = 1, " + dotted(65) + " = 1 }\n").find("dots"), std::string::npos);
}

TEST(Prescan, dots_and_brackets_in_strings_and_comments_are_text) {
  const std::string dots(1000, '.'), open(1000, '[');
  for (const std::string& text :
       {"a = \"" + dots + open + "\"\n", "a = '" + dots + open + "'\n",
        "a = \"\"\"" + dots + "\n" + open + "\"\"\"\n", "a = '''" + dots + "\n" + open + "'''\n",
        "# " + dots + open + "\na = 1 # " + dots + "\n", "\"" + dots + "\" = 1\n",
        "a = \"\\\"" + dots + "\"\n", "a = \"\"\"\\\"\"\"" + dots + "\"\"\"\n"}) {
    EXPECT_NO_THROW(prescan_toml(text, "f.toml")) << text.substr(0, 12);
  }
}

// A multi-line string may end in two more quotes; what follows them is text no longer.
TEST(Prescan, nothing_hides_behind_the_quotes_at_the_end_of_a_string) {
  for (const char* string : {"\"\"\"x\"\"\"", "\"\"\"x\"\"\"\"", "\"\"\"x\"\"\"\"\"", "'''x'''",
                             "'''x''''", "'''x'''''", "\"x\"", "'x'", "\"\"", "''"}) {
    const std::string text = "a = { s = " + std::string(string) + ", " + dotted(65) + " = 1 }\n";
    EXPECT_NE(refusal(text).find("more than 64 dots"), std::string::npos) << string;
  }
}

TEST(Prescan, nesting_is_limited_on_both_sides) {
  EXPECT_NO_THROW(prescan_toml(brackets(64), "f.toml"));
  EXPECT_EQ(refusal(brackets(65)), "f.toml:1:69: nesting exceeds 64");
  std::string tables = "a = ";
  for (int i = 0; i < 65; ++i) tables += "{ a = ";
  EXPECT_NE(refusal(tables).find("nesting exceeds 64"), std::string::npos);
}

TEST(Prescan, a_line_of_65536_bytes_passes_and_one_more_does_not) {
  const std::string line = "a = '" + std::string(65536 - 6, 'x') + "'";
  ASSERT_EQ(line.size(), 65536u);
  EXPECT_NO_THROW(prescan_toml(line + "\n" + line + "\n" + line, "f.toml"));
  const std::string said = refusal("x = 1\n" + line + " \n");
  EXPECT_TRUE(said.starts_with("f.toml:2:65537: the line is longer than 65536 bytes")) << said;
}

TEST(Prescan, size_is_limited_on_both_sides) {
  std::string text;
  while (text.size() + 64 <= toml_bytes_max) text += std::string(63, '#') + '\n';
  ASSERT_EQ(text.size(), toml_bytes_max);
  EXPECT_NO_THROW(prescan_toml(text, "f.toml"));
  EXPECT_EQ(refusal(text + "\n"), "f.toml: the file has 1048577 bytes; the limit is 1048576");
}

TEST(Prescan, a_nul_byte_is_refused) {
  EXPECT_NE(refusal(std::string("a = 1\0\n", 7)).find("NUL"), std::string::npos);
}

TEST(Prescan, unfinished_text_ends_the_scan_without_a_crash) {
  for (const char* text : {"", "\"", "'", "\"\"\"", "'''", "\"\\", "a = \"\"\"\\", "[", "]", "}}}",
                           "\"abc\n", "#", "a = \"\"\"\"", "\xef\xbb\xbf"}) {
    EXPECT_NO_THROW(prescan_toml(text, "f.toml")) << text;
  }
}

TEST(Prescan, what_it_lets_through_the_library_survives) {
  for (const std::string& text : {dotted(64) + " = 1\n", brackets(64), "[" + dotted(64) + "]\n"}) {
    EXPECT_NO_THROW(TomlTable::parse(text, "f.toml"));
  }
  for (const char* text : {"\"", "a = \"\"\"", "[", "a = \"\"\"\"", "a = {", "a.b.c"}) {
    EXPECT_EQ(error_of([&] { TomlTable::parse(text, "f.toml"); }).exit_code(), ExitCode::refused);
  }
}

}  // namespace
}  // namespace halmark
