// A value or why there is none is `Result` (core/result.hpp): no second type of it, no reason that
// comes back through a parameter.
#include <gtest/gtest.h>

#include <regex>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

bool is_ours(const SourceFile& file) {
  return is_cpp(file.path) && file.path != "framework/core/result.hpp" &&
         (file.path.starts_with("framework/") || file.path.starts_with("search/") ||
          file.path.starts_with("kernels/"));
}

// What breaks the rule; "" = nothing does.
std::string broken_rule(const std::string& text) {
  static const std::regex second_type(
      R"(std::expected<|std::variant<[^<>;]*(Error|Failure)|template <[^<>]*>\s+(struct|class) \w+ \{[^{}]*std::optional<T>)");
  static const std::regex handed_back(
      R"((^|[(,]\s*|\n\s*)std::string& (reason|why|error|failure|message)\b)");
  std::smatch found;
  if (std::regex_search(text, found, second_type) || std::regex_search(text, found, handed_back)) {
    return found.str();
  }
  return {};
}

TEST(Results, a_value_or_its_failure_is_one_type) {
  std::size_t files = 0;
  for (const SourceFile& file : tracked_files()) {
    if (!is_ours(file)) continue;
    ++files;
    EXPECT_EQ(broken_rule(file.text), "") << file.path;
  }
  EXPECT_GT(files, 400U);
}

TEST(Results, the_rule_finds_what_breaks_it_and_nothing_else) {
  for (const char* text :
       {"std::expected<int, Failure> f();", "std::variant<Row, ReadError> read();",
        "template <class T>\nstruct Maybe {\n  std::optional<T> value;\n};",
        "std::optional<int> f(const Device& d, std::string& reason);",
        "bool read(\n    std::string& error);"}) {
    EXPECT_NE(broken_rule(text), "") << text;
  }
  for (const char* text :
       {"Result<int, std::string> f();", "void say(const std::string& reason);",
        "std::variant<RunReport, ServedReport> search();", "std::optional<double> mfu;",
        "template <class T>\nstd::optional<T> first(std::span<const T> all);"}) {
    EXPECT_EQ(broken_rule(text), "") << text;
  }
}

}  // namespace
}  // namespace halmark::architecture
