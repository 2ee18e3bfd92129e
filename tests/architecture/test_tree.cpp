// What the tree as a whole promises: its top level, its paths, its version, its format.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "tests/checkout.hpp"
#include "tree.hpp"

namespace halmark::architecture {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(Tree, the_top_level_is_fixed) {
  const std::set<std::string> allowed = {"CMakeLists.txt",
                                         "README.md",
                                         "framework",
                                         "plugins",
                                         "kernels",
                                         "search",
                                         "configs",
                                         "results",
                                         "tests",
                                         "CMakePresets.json",
                                         "LICENSE",
                                         "CHANGELOG.md",
                                         "HACKING.md",
                                         ".clang-format",
                                         ".clang-tidy",
                                         ".gitignore",
                                         ".gitattributes",
                                         "scripts",
                                         ".ci"};
  std::set<std::string> strange;
  for (const SourceFile& file : tracked_files()) {
    const std::string first = file.path.substr(0, file.path.find('/'));
    if (!allowed.contains(first)) strange.insert(first);
  }
  EXPECT_THAT(strange, IsEmpty());
}

// Where a person's files lie on one machine is nobody else's business, and breaks everywhere else.
std::vector<std::string> home_paths(const SourceFile& file) {
  static const std::regex home(R"((^|[\s"'(=:])/(home|root|Users)/[A-Za-z0-9_.])");
  std::vector<std::string> out;
  std::istringstream lines(file.text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.size() < 4096 && std::regex_search(line, home)) {
      out.push_back(file.path + ':' + std::to_string(number) + ": " + line);
    }
  }
  return out;
}

TEST(Tree, no_file_names_a_home_folder) {
  std::vector<std::string> faults;
  for (const SourceFile& file : tracked_files()) {
    // The examples below are the rule's own.
    if (file.path == "tests/architecture/test_tree.cpp") continue;
    for (std::string& fault : home_paths(file)) faults.push_back(std::move(fault));
  }
  EXPECT_THAT(faults, IsEmpty());
}

TEST(Tree, the_rule_against_home_folders_finds_them) {
  EXPECT_EQ(home_paths({"a", "path = \"/home/ann/x\"\n"}).size(), 1u);
  EXPECT_EQ(home_paths({"a", "cd /root/x\nok\n/Users/ann\n"}).size(), 2u);
  EXPECT_THAT(home_paths({"a", "a/home/b /homely $HOME/x https://example.org/home/a\n"}),
              IsEmpty());
}

TEST(Tree, no_work_is_left_for_later_in_a_comment) {
  static const std::regex later(
      "\\b(TO"
      "DO|FIX"
      "ME|XX"
      "X)\\b");
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path)) continue;
    EXPECT_FALSE(std::regex_search(file.text, later)) << file.path;
  }
}

// Commands hold flags, wiring and printing. Growth beyond this is logic in the wrong room.
constexpr std::ptrdiff_t command_lines_max = 4200, function_lines_max = 60;

TEST(Tree, commands_stay_small) {
  std::ptrdiff_t lines = 0;
  for (const SourceFile& file : tracked_files()) {
    if (is_cpp(file.path) && file.path.starts_with("framework/cli/")) {
      lines += std::ranges::count(file.text, '\n');
    }
  }
  EXPECT_GT(lines, 1000) << "the commands were not found";
  EXPECT_LE(lines, command_lines_max);
}

// The text with a mark at the begin of every line that a raw literal goes on over. A word that ends
// in R before a quote begins none.
std::string with_literals_marked(std::string text) {
  const auto is_word = [](char c) {
    return c == '_' || std::isalnum(static_cast<unsigned char>(c));
  };
  for (std::size_t at = text.find("R\""); at != std::string::npos; at = text.find("R\"", at + 2)) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '\\')) continue;
    std::size_t open = at + 2;
    while (open < text.size() && is_word(text[open])) ++open;
    if (open == text.size() || text[open] != '(') continue;
    const std::string close = ')' + text.substr(at + 2, open - at - 2) + '"';
    for (at = open; at < text.size() && text.compare(at, close.size(), close) != 0; ++at) {
      if (text[at] == '\n') text.insert(++at, 1, '\1');
    }
  }
  return text;
}

// Functions longer than a screen, going by the format: what begins in the first column ends with a
// brace there. Lines of a literal are no lines of a function.
std::vector<std::string> long_functions(const SourceFile& file) {
  std::vector<std::string> out;
  std::istringstream lines(with_literals_marked(file.text));
  std::ptrdiff_t number = 0, begin = 0, literal = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with('\1')) {
      ++literal;
      continue;
    }
    if (line == "}" && number - begin + 1 - literal > function_lines_max) {
      out.push_back(file.path + ':' + std::to_string(begin));
    }
    if (!line.empty() && std::string_view(" }#/").find(line.front()) == std::string_view::npos) {
      begin = number;
      literal = 0;
    }
  }
  return out;
}

TEST(Tree, functions_fit_a_screen) {
  std::vector<std::string> faults;
  for (const SourceFile& file : tracked_files()) {
    if (!file.path.ends_with(".cpp") || file.path.starts_with("tests/")) continue;
    for (std::string& fault : long_functions(file)) faults.push_back(std::move(fault));
  }
  EXPECT_THAT(faults, IsEmpty());
}

TEST(Tree, the_rule_for_functions_finds_long_ones) {
  const auto body = [](int lines) {
    std::string out = "void f(int a,\n       int b) {\n";
    for (int i = 0; i < lines; ++i) out += "  g();\n";
    return out + "}\n";
  };
  EXPECT_THAT(long_functions({"a.cpp", body(57) + '\n' + body(57)}), IsEmpty());
  EXPECT_THAT(long_functions({"a.cpp", body(57) + '\n' + body(58)}),
              testing::ElementsAre("a.cpp:62"));
  const std::string literal = "  return R\"x(\n}\nint g() {\n)\";\n)x\";\n";
  const std::string with = "void f() {\n" + literal + body(56).substr(body(56).find('{') + 2);
  EXPECT_THAT(long_functions({"a.cpp", with}), IsEmpty());
  EXPECT_THAT(long_functions({"a.cpp", with + body(58)}), testing::ElementsAre("a.cpp:64"));
  const std::string word = "int f() {\n  return g(\"TMPDIR\"), h();\n";
  EXPECT_THAT(long_functions({"a.cpp", word + body(58).substr(body(58).find('{') + 2)}),
              testing::ElementsAre("a.cpp:1"));
}

TEST(Tree, every_header_is_guarded) {
  for (const SourceFile& file : tracked_files()) {
    if (file.path.ends_with(".hpp")) {
      EXPECT_THAT(file.text, HasSubstr("#pragma once")) << file.path;
    }
  }
}

TEST(Tree, the_version_is_written_in_one_place) {
  std::smatch found;
  std::string cmake;
  for (const SourceFile& file : tracked_files()) {
    if (file.path == "CMakeLists.txt") cmake = file.text;
  }
  ASSERT_TRUE(
      std::regex_search(cmake, found, std::regex(R"(project\(halmark VERSION (\d+\.\d+\.\d+))")));
  const CommandOutput said = output_of("'" + test::in_build("/bin/halmark") + "' --version 2>&1");
  EXPECT_EQ(said.status, 0) << said.text;
  EXPECT_THAT(said.text, testing::StartsWith("halmark " + found[1].str() + " ("));
}

// Versions of clang-format disagree about a few constructs; one of them is the house's.
constexpr const char* pinned_major = "14";

std::string clang_format() {
  for (const char* name : {"clang-format-14", "clang-format"}) {
    const CommandOutput said = output_of(std::string(name) + " --version 2>/dev/null");
    if (said.text.find(std::string("version ") + pinned_major + '.') != std::string::npos) {
      return name;
    }
  }
  return {};
}

TEST(Format, every_source_is_as_clang_format_writes_it) {
  const std::string tool = clang_format();
  if (tool.empty()) GTEST_SKIP() << "clang-format " << pinned_major << " is not installed";
  std::string command = "cd '" + root().string() + "' && " + tool + " --dry-run -Werror";
  std::size_t count = 0;
  for (const SourceFile& file : tracked_files()) {
    // Headers of released contracts are frozen as they were.
    if (!is_cpp(file.path) || file.path.starts_with("tests/abi/headers/")) continue;
    command += " '" + file.path + "'";
    ++count;
  }
  EXPECT_GT(count, 200u);
  const CommandOutput said = output_of(command + " 2>&1 | grep error: | cut -d: -f1 | sort -u");
  EXPECT_EQ(said.text, "") << "clang-format -i puts these right";
}

}  // namespace
}  // namespace halmark::architecture
