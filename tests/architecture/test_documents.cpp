// A value that lists its fields has no JSON beside that list: what the list says would be said
// twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

std::set<std::string> found_in(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::set<std::string> out;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    out.insert((*at)[1]);
  }
  return out;
}

// The last part of a qualified name.
std::set<std::string> listed_in(const std::string& text) {
  return found_in(text, R"(Of<(?:\w+::)*(\w+)> M>\s+void fields\(V& v, M& m\))");
}
std::set<std::string> written_in(const std::string& text) {
  return found_in(
      text, R"(void (?:to_json\(Json& \w+, const|from_json\(const Json& \w+,) (?:\w+::)*(\w+)&)");
}

TEST(Documents, a_value_that_lists_its_fields_has_no_other_json) {
  std::set<std::string> listed;
  for (const SourceFile& file : tracked_files()) {
    if (is_cpp(file.path) && file.path.starts_with("framework/"))
      listed.merge(listed_in(file.text));
  }
  EXPECT_GT(listed.size(), 60U);
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path) || !file.path.starts_with("framework/")) continue;
    for (const std::string& name : written_in(file.text)) {
      EXPECT_FALSE(listed.contains(name)) << file.path << ": " << name;
    }
  }
}

TEST(Documents, lists_and_writers_are_found) {
  EXPECT_THAT(
      listed_in("template <class V, Of<Validation::Operator> M>\nvoid fields(V& v, M& m) {"),
      testing::ElementsAre("Operator"));
  EXPECT_THAT(written_in("void to_json(Json& out, const Signal& value);\n"
                         "void from_json(const Json& in, core::Interval& value) {"),
              testing::ElementsAre("Interval", "Signal"));
}

}  // namespace
}  // namespace halmark::architecture
