// Names of tests are kept by people and by tools between runs and builds, so the case of a suite is
// called by what it tests: a number moves with every row that is inserted, and GoogleTest's own
// print of a struct is its bytes, addresses among them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

constexpr std::string_view macro = "INSTANTIATE_TEST_SUITE_P(";

// Commas at the level of the macro's own arguments, from behind its '('.
int commas_at_top(std::string_view code) {
  int commas = 0, depth = 0;
  for (const char c : code) {
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (depth < 0) break;
    if (c == ',' && depth == 0) ++commas;
  }
  return commas;
}

// Lines of instantiations without a name generator, their fourth argument.
std::vector<long> unnamed_cases(std::string_view text) {
  const std::string code = code_only(text);
  std::vector<long> out;
  for (std::size_t at = code.find(macro); at != std::string::npos; at = code.find(macro, at + 1)) {
    if (commas_at_top(std::string_view(code).substr(at + macro.size())) < 3) {
      out.push_back(1 + std::count(code.begin(), code.begin() + static_cast<long>(at), '\n'));
    }
  }
  return out;
}

TEST(TestNames, every_case_of_a_suite_has_a_name_of_its_own) {
  int suites = 0;
  for (const SourceFile& file : tracked_files()) {
    if (!file.path.starts_with("tests/") || !is_cpp(file.path)) continue;
    for (const long line : unnamed_cases(file.text)) {
      ADD_FAILURE() << file.path << ':' << line
                    << ": the cases have no names; give the suite a generator with "
                       "test::case_name (tests/unit/case_name.hpp)";
    }
    if (code_only(file.text).find(macro) != std::string::npos) ++suites;
  }
  EXPECT_GT(suites, 30);
}

TEST(TestNames, the_rule_counts_the_arguments_of_the_macro_only) {
  const std::string begin = "INSTANTIATE_TEST_SUITE_P(Table, Rule, ";
  EXPECT_THAT(unnamed_cases("\n" + begin + "testing::Values(Row{1, 2}, Row{\"),\", 3}));\n"),
              testing::ElementsAre(2));
  EXPECT_THAT(
      unnamed_cases(begin + "testing::ValuesIn(rows),\n  [](const auto& i) { return f(i); });"),
      testing::IsEmpty());
  EXPECT_THAT(unnamed_cases("// " + begin + "rows);\n"), testing::IsEmpty());
}

}  // namespace
}  // namespace halmark::architecture
