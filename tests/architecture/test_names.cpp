// Words that name nothing: a thing without a better name has no clear duty.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <regex>
#include <sstream>

#include "tree.hpp"

namespace halmark::architecture {
namespace {

constexpr std::array empty_words = {"manager", "managers", "util",   "utils", "utility",
                                    "helper",  "helpers",  "common", "misc"};

// "file_helper.hpp", "FileHelper" -> "helper": what the name says the thing is. An adjective before
// a noun ("CommonStart") is no such claim.
std::string last_word(std::string_view name) {
  while (!name.empty() && name.back() == '_') name.remove_suffix(1);
  std::size_t begin = name.size();
  while (begin > 0 && name[begin - 1] != '_' && name[begin - 1] != '-') {
    --begin;
    const bool is_upper = std::isupper(static_cast<unsigned char>(name[begin])) != 0;
    const bool after_lower =
        begin > 0 && std::islower(static_cast<unsigned char>(name[begin - 1])) != 0;
    if (is_upper && after_lower) break;
  }
  std::string out(name.substr(begin));
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

bool says_nothing(std::string_view name) {
  return std::ranges::find(empty_words, last_word(name)) != empty_words.end();
}

TEST(Names, no_file_or_folder_is_called_by_an_empty_word) {
  for (const SourceFile& file : tracked_files()) {
    for (const std::filesystem::path& part : std::filesystem::path(file.path)) {
      EXPECT_FALSE(says_nothing(part.stem().string())) << file.path;
    }
  }
}

TEST(Names, no_identifier_ends_in_an_empty_word) {
  std::vector<std::string> faults;
  for (const SourceFile& file : tracked_files()) {
    if (!is_cpp(file.path)) continue;
    for (const std::string& name : identifiers_of(file.text)) {
      if (says_nothing(name)) faults.push_back(file.path + ": " + name);
    }
  }
  EXPECT_THAT(faults, testing::IsEmpty());
}

// "namespace a::b {" -> "a::b"; nothing for other lines. Unnamed ones are "".
std::optional<std::string> opened_namespace(const std::string& line) {
  static const std::regex pattern(R"(^(?:inline )?namespace ?([\w:]*) ?\{)");
  std::smatch match;
  if (!std::regex_search(line, match, pattern)) return std::nullopt;
  return match[1].str();
}

// Types that a file defines in named namespaces, outside of other types.
std::vector<std::string> types_of(const std::string& text) {
  static const std::regex definition(
      R"(^(?:struct|class|enum|enum class) (\w+)(?: final)?(?: :[^;]*)? ?\{)");
  std::vector<std::string> spaces, out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (const auto space = opened_namespace(line)) {
      spaces.push_back(*space);
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    } else if (std::regex_search(line, match, definition) &&
               std::ranges::find(spaces, "") == spaces.end()) {
      std::string name;
      for (const std::string& space : spaces) name += space + "::";
      out.push_back(name + match[1].str());
    }
  }
  return out;
}

// Two types of one name in one program: the linker takes the functions of either for both.
TEST(Names, no_type_is_defined_twice) {
  std::map<std::string, std::string> home;
  for (const SourceFile& file : tracked_files()) {
    const bool is_ours = file.path.starts_with("framework/") || file.path.starts_with("search/") ||
                         file.path.starts_with("kernels/");
    if (!is_ours || !is_cpp(file.path)) continue;
    for (const std::string& type : types_of(file.text)) {
      const auto [it, is_new] = home.emplace(type, file.path);
      EXPECT_TRUE(is_new || it->second == file.path)
          << type << " is defined in " << it->second << " and in " << file.path;
    }
  }
  EXPECT_GT(home.size(), 300U);
}

// "const double* a, std::size_t n = 3" -> "const double*,std::size_t".
std::string parameter_types(const std::string& text) {
  std::string out, one;
  const auto end_one = [&] {
    one = std::regex_replace(one, std::regex(R"( ?=.*$)"), "");
    const bool has_name = std::regex_search(one, std::regex(R"([\w>&*] \w+$|[&*]\w+$)"));
    if (has_name) one = std::regex_replace(one, std::regex(R"(\w+$)"), "");
    out += (out.empty() ? "" : ",") + std::regex_replace(one, std::regex(" +$"), "");
    one.clear();
  };
  int depth = 0;
  for (const char c : text) {
    if (c == '<' || c == '(') ++depth;
    if (c == '>' || c == ')') --depth;
    if (c == ',' && depth == 0) {
      end_one();
    } else if (!(c == ' ' && (one.empty() || one.back() == ' '))) {
      one += c;
    }
  }
  end_one();
  return out;
}

// Functions that a file defines in named namespaces, outside of types: "a::f(int)". No templates,
// whose constraints tell them apart.
std::vector<std::string> functions_of(const std::string& text) {
  static const std::regex head(R"(^[\w:<>,&*\[\] ]+[ &*](\w[\w:]*)\((.*)\)[^()]*\{$)");
  static const std::regex no_function(
      R"(^(template|struct|class|enum|using|static|extern|friend|namespace|TEST|return)\b.*)");
  std::vector<std::string> spaces, out;
  std::string statement, before;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (const auto space = opened_namespace(line)) {
      spaces.push_back(*space);
    } else if (line.starts_with("}  // namespace") && !spaces.empty()) {
      spaces.pop_back();
    }
    const bool begins = !line.empty() && std::isalpha(static_cast<unsigned char>(line[0])) != 0;
    if (begins && statement.empty()) {
      statement = line;
    } else if (!statement.empty()) {
      statement += ' ' + line;
    }
    const bool ends = line.empty() || line.ends_with('{') || line.ends_with(';') ||
                      line.ends_with('}') || line[0] == '#';
    if (statement.empty() || !ends) continue;
    // A body on the same line counts too.
    std::string shown = statement.substr(0, statement.find('{'));
    if (shown.size() < statement.size()) shown += '{';
    std::smatch match;
    if (!before.starts_with("template") && !std::regex_match(statement, no_function) &&
        std::regex_match(shown, match, head) && std::ranges::find(spaces, "") == spaces.end()) {
      std::string name;
      for (const std::string& space : spaces) name += space + "::";
      out.push_back(name + match[1].str() + '(' + parameter_types(match[2].str()) + ')');
    }
    before = statement;
    statement.clear();
  }
  return out;
}

// The return type is no part of a symbol: of an inline function and another one with these
// parameters the linker keeps one, whatever it returns. Two that are not inline it refuses itself.
TEST(Names, no_function_is_defined_twice) {
  std::map<std::string, std::string> home;
  for (const SourceFile& file : tracked_files()) {
    const bool is_ours = file.path.starts_with("framework/") || file.path.starts_with("search/") ||
                         file.path.starts_with("kernels/");
    const bool is_template = file.path.find("plugin_template") != std::string::npos;
    if (!is_ours || is_template || !is_cpp(file.path)) continue;
    for (const std::string& function : functions_of(file.text)) {
      const auto [it, is_new] = home.emplace(function, file.path);
      const bool is_inline = file.path.ends_with(".hpp") || it->second.ends_with(".hpp");
      EXPECT_TRUE(is_new || it->second == file.path || !is_inline)
          << function << " is defined in " << it->second << " and in " << file.path;
    }
  }
  EXPECT_GT(home.size(), 1000U);
}

TEST(Names, the_rule_for_functions_knows_overloads_and_internal_ones) {
  EXPECT_THAT(functions_of("namespace a {\nint f(const double* x, std::size_t n = 3) {\n}\n"
                           "inline Product f(const double* y,\n"
                           "                 std::map<int, int> m) { return {}; }\n"
                           "int declared(int);\ntemplate <class T>\nvoid t(T x) {\n}\n"
                           "namespace {\nint own() {\n}\n}  // namespace\n"
                           "int C::member(int) const {\n}\n}  // namespace a\n"),
              testing::ElementsAre("a::f(const double*,std::size_t)",
                                   "a::f(const double*,std::map<int, int>)", "a::C::member(int)"));
}

TEST(Names, the_rule_for_types_sees_definitions_only) {
  EXPECT_THAT(types_of("namespace a::b {\nstruct One;\nstruct Two {\n  struct Inner {};\n};\n"
                       "namespace {\nstruct Own {};\n}  // namespace\nclass Three : Two {\n"
                       "}  // namespace a::b\nenum class Four { x };\n"),
              testing::ElementsAre("a::b::Two", "a::b::Three", "Four"));
}

TEST(Names, the_rule_finds_empty_words_in_both_spellings) {
  for (const char* name : {"util", "string_utils", "WorkerManager", "helper_", "TestHelpers",
                           "MISC", "halmark-common"}) {
    EXPECT_TRUE(says_nothing(name)) << name;
  }
  for (const char* name :
       {"utilisation", "CommonStart", "common_start", "Utilisation", "manage", "helperless"}) {
    EXPECT_FALSE(says_nothing(name)) << name;
  }
}

TEST(Names, comments_literals_and_includes_are_no_identifiers) {
  EXPECT_THAT(
      identifiers_of("#include <utility>\n"
                     "int a = 1'000;  // a helper\n"
                     "/* util\n misc */ char c = '\"'; auto s = \"common \\\" manager\";\n"
                     "struct Real {};\n"),
      testing::UnorderedElementsAre("int", "a", "char", "c", "auto", "s", "struct", "Real"));
}

}  // namespace
}  // namespace halmark::architecture
